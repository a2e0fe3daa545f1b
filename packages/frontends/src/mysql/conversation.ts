/**
 * One client's side of the talk while a command runs: its session, the output buffer, and the engine's
 * stream turned into packets.
 *
 * The engine is asked for the next event only when the socket took what was written, so a slow client
 * slows the engine. It reads nothing from the client and decides no command.
 */
import { setImmediate } from "node:timers/promises";
import type { Door } from "@gateway/core/door.ts";
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { DoneEvent, FailedEvent, ResultEvent } from "@gateway/core/query/event.ts";
import type { Query, QueryId } from "@gateway/core/query/query.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { batchOf } from "@gateway/core/type/build.ts";
import type { Column, Parameter, Value } from "@gateway/core/type/type.ts";
import type { Batch, NativeBatch, NativeFormat } from "@gateway/core/type/vector.ts";
import { utc } from "@gateway/core/type/zone.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { FollowedConnection } from "../listener/connection.ts";
import type { Channel } from "./channel.ts";
import { statusOf, withChange, withWarning, type ClientSession } from "./clientSession.ts";
import {
  putColumns,
  putErrorPacket,
  putEvent,
  putOkPacket,
  putRowsEnd,
  type AnswerContext,
} from "./encode.ts";
import { errorReply } from "./errors.ts";
import { flushBytes } from "./limits.ts";
import { relayPackets } from "./relay.ts";
import { rowEncoder } from "./rows.ts";
import { textRowEncoder } from "./textRows.ts";

/** How one statement of a command is answered. */
export interface AnswerForm {
  readonly rows: "text" | "binary";
  /** Another statement's answer follows. */
  readonly moreFollow: boolean;
}

/** What the engine is asked. */
export interface EngineStatement {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  /** A result ends after so many rows, as if it had no more; undefined means all. */
  readonly rowLimit: number | undefined;
  /** Milliseconds after which it fails; undefined means as long as the group allows. */
  readonly timeMs: number | undefined;
  /** The same question for an engine that has no such tables; nothing was answered when it is asked. */
  readonly otherwise?: string | undefined;
}

/** Buffer kept between commands: an idle connection should cost little. */
const idleBufferBytes = 1024;
/** The number MySQL gives to a note without one of its own. */
const noteErrno = 1105;

/** What a conversation is made of. */
export interface ConversationParts {
  readonly door: Door;
  readonly host: Host;
  readonly connection: FollowedConnection;
  readonly channel: Channel;
}

/** Writes that were taken at once before other connections get a turn: about two megabytes. */
const writesPerTurn = 16;

export class Conversation {
  readonly door: Door;
  readonly host: Host;
  readonly connection: FollowedConnection;
  readonly out = new PacketWriter();
  readonly #channel: Channel;
  client: ClientSession;
  #controller: AbortController | undefined;
  #writes = 0;
  /** Text of the statement that runs. */
  running: string | undefined;
  /** Its query; undefined for what is none. */
  queryId: QueryId | undefined;
  /** When it began, or when the last command ended. */
  sinceMs: number;

  constructor(parts: ConversationParts, client: ClientSession) {
    this.door = parts.door;
    this.host = parts.host;
    this.connection = parts.connection;
    this.#channel = parts.channel;
    this.client = client;
    this.sinceMs = parts.host.clock.nowMs();
  }

  /** Ends what runs; its answer is an error with the reason. Nothing happens when nothing runs. */
  cancel(reason: GatewayError): void {
    this.#controller?.abort(reason);
  }

  /** Writes an OK and forgets the changes it told. */
  putOk(moreFollow = false, affectedRows = 0): void {
    putOkPacket(this.out, this.context(moreFollow), affectedRows);
    this.told();
  }

  /** The changes of the session were in the last OK. */
  told(): void {
    if (this.client.tracked.length > 0) this.client = { ...this.client, tracked: [] };
  }

  /** Writes an error and keeps it for SHOW WARNINGS. */
  putError(reply: ErrorReply): false {
    putErrorPacket(this.out, reply);
    const warning = { level: "Error", errno: reply.errno, text: reply.message } as const;
    this.client = { ...this.client, warnings: [warning], rowCount: -1 };
    return false;
  }

  /** What the next packet of an answer says about the session. */
  context(moreFollow: boolean, queryId?: string): AnswerContext {
    const { client } = this;
    return {
      capabilities: client.capabilities,
      status: statusOf(client, moreFollow),
      warnings: client.warnings.length,
      tracked: client.tracked,
      queryId,
    };
  }

  /** Sends what is written and waits until it has left. */
  async flush(): Promise<void> {
    const bytes = this.out.written();
    if (bytes.length === 0) return;
    const leaving = this.#channel.send(bytes);
    if (leaving !== undefined) await leaving;
    this.out.reset(flushBytes * 2);
  }

  /** The same once enough is written, with a turn for other connections now and then: a fast engine and a fast client would never give one. */
  async flushFull(): Promise<void> {
    if (this.out.at < flushBytes) return;
    await this.flush();
    this.#writes += 1;
    if (this.#writes % writesPerTurn === 0) await setImmediate();
  }

  /** Sends the rest of a command's answer and lets a large buffer go. */
  async finish(): Promise<void> {
    await this.flush();
    this.out.reset(idleBufferBytes);
    this.sinceMs = this.host.clock.nowMs();
  }

  /** Answers with rows the frontend made itself. */
  async putRows(
    columns: readonly Column[],
    rows: readonly (readonly Value[])[],
    form: AnswerForm,
  ): Promise<true> {
    putColumns(this.out, columns, this.context(form.moreFollow));
    await this.#putBatch(batchOf(columns, rows), form, rows.length);
    // Warnings are those of the last statement that used tables; asking about the server leaves them.
    putRowsEnd(this.out, { ...this.context(form.moreFollow), warnings: 0 });
    this.client = { ...this.client, rowCount: -1, foundRows: rows.length };
    return true;
  }

  /** Runs a statement on the engine and writes its whole answer. False when it failed. */
  async answer(statement: EngineStatement, form: AnswerForm): Promise<boolean> {
    const query = this.open(statement, this.#takes(form));
    const { rowLimit, timeMs } = statement;
    let columns = false;
    let rows = 0;
    let over = false;
    for await (const event of this.events(query, timeMs)) {
      this.remember(event);
      if (event.kind === "columns" && event.columns.length > 0) columns = true;
      if (event.kind === "batch") {
        const wanted = Math.min(event.batch.rows, (rowLimit ?? Infinity) - rows);
        const failed = await this.#putBatch(event.batch, form, wanted);
        if (failed !== undefined) return this.putError(errorReply(failed, query.id));
        rows += wanted;
        if (rows === rowLimit) break;
        continue;
      }
      if (event.kind === "failed" && mayAskOtherwise(statement, event.error, columns)) {
        return await this.answer(
          { ...statement, sql: statement.otherwise, otherwise: undefined },
          form,
        );
      }
      if (event.kind === "failed") return this.putError(errorReply(event.error, query.id));
      if (event.kind === "done") {
        over = true;
        this.#counted(event, columns, rows);
      }
      // A statement without columns is an OK here, however the engine describes it.
      if (event.kind !== "columns" || columns) {
        putEvent(this.out, event, columns, this.context(form.moreFollow, query.id));
      }
    }
    if (!over) {
      this.client = { ...this.client, rowCount: -1, foundRows: rows };
      putRowsEnd(this.out, this.context(form.moreFollow, query.id));
    }
    this.told();
    return true;
  }

  /** Text rows of an engine that speaks MySQL itself are what the client reads, unless times are shown in another zone. */
  #takes(form: AnswerForm): readonly NativeFormat[] {
    return form.rows === "text" && this.client.zone === utc ? nativeRows : noFormats;
  }

  /** Runs a statement whose answer the client did not ask for. The error when it failed. */
  async runQuietly(sql: string): Promise<GatewayError | undefined> {
    const query = this.open({ sql, parameters: [] });
    for await (const event of this.events(query)) {
      this.remember(event);
      if (event.kind === "failed") return event.error;
    }
    return undefined;
  }

  /** A signal that lives until the returned value is disposed, for calls that are not streams. */
  interruptible(
    text: string,
    controller = new AbortController(),
  ): { readonly signal: AbortSignal } & Disposable {
    this.#controller = controller;
    this.running = text.slice(0, shownTextMax);
    this.sinceMs = this.host.clock.nowMs();
    if (this.connection.over) controller.abort(gatewayError("query.cancelled"));
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        this.#controller = undefined;
        this.running = undefined;
        this.queryId = undefined;
        this.sinceMs = this.host.clock.nowMs();
      },
    };
  }

  /** The query of a statement; warnings of the last one are gone. */
  open({ sql, parameters }: Pick<EngineStatement, "sql" | "parameters">, takes = noFormats): Query {
    if (this.client.warnings.length > 0) this.client = { ...this.client, warnings: [] };
    return this.door.query(sql, parameters, this.client.session, takes);
  }

  /** The events of a query, the last one with our own reason when it was ended here. */
  async *events(query: Query, timeMs?: number): AsyncGenerator<ResultEvent, void, void> {
    using running = this.interruptible(query.sql);
    this.queryId = query.id;
    using _limit =
      timeMs === undefined
        ? undefined
        : this.host.clock.timer(timeMs, () => this.cancel(gatewayError("query.timeout")));
    const { signal } = running;
    for await (const event of this.door.run(query, signal)) {
      const ours = event.kind === "failed" && signal.aborted && isCancelled(event);
      yield ours ? { kind: "failed", error: abortError(signal) } : event;
      if (event.kind === "done" || event.kind === "failed") return;
    }
    // A stream without a last event must not look like a complete result.
    yield { kind: "failed", error: gatewayError("engine.broken") };
  }

  /** Takes over what an event changes in the session. */
  remember(event: ResultEvent): void {
    if (event.kind === "session") this.client = withChange(this.client, event.change);
    if (event.kind === "notice") {
      const warning = { level: "Note", errno: noteErrno, text: event.text } as const;
      this.client = withWarning(this.client, warning);
    }
  }

  #counted(event: DoneEvent, columns: boolean, rows: number): void {
    const rowCount = columns ? -1 : (event.updateCount ?? 0);
    this.client = { ...this.client, rowCount, foundRows: columns ? rows : this.client.foundRows };
  }

  async #putBatch(
    batch: Batch,
    form: AnswerForm,
    count: number,
  ): Promise<GatewayError | undefined> {
    if (batch.form === "native") return await this.#relayBatch(batch, count);
    const format = {
      kind: form.rows,
      zone: this.client.zone,
      rowBytesMax: this.connection.config.maxMessageBytes,
      flushBytes,
    };
    const asText = batch.form === "text" ? textRowEncoder(batch, format) : undefined;
    const encoder = asText ?? rowEncoder(columnarOf(batch), format);
    let row = 0;
    while (row < count) {
      const written = encoder.write(row, count, this.out);
      if (!written.ok) return written.error;
      row = written.value;
      await this.flushFull();
      // Nobody is there to read the rest; the stream is ended by the caller's next step.
      if (this.connection.over) return undefined;
    }
    return undefined;
  }

  async #relayBatch(batch: NativeBatch, count: number): Promise<undefined> {
    let rows = 0;
    let at = 0;
    while (rows < count && !this.connection.over) {
      const limits = { from: at, rowsMax: count - rows, bytesMax: flushBytes };
      const relayed = relayPackets(this.out, batch.bytes, limits);
      rows += relayed.rows;
      at = relayed.at;
      await this.flushFull();
    }
  }
}

/** Refused before it ran, because of names the engine does not have. */
function mayAskOtherwise(
  statement: EngineStatement,
  error: GatewayError,
  begun: boolean,
): statement is EngineStatement & { readonly otherwise: string } {
  return statement.otherwise !== undefined && !begun && error.code === "query.unknownObject";
}

const noFormats: readonly NativeFormat[] = [];
const nativeRows: readonly NativeFormat[] = ["mysqlRows"];

/** Characters of a statement that SHOW PROCESSLIST keeps. */
const shownTextMax = 1024;

function isCancelled({ error }: FailedEvent): boolean {
  return error.code === "query.cancelled";
}
