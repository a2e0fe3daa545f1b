/**
 * One client's side of the talk while a command runs: its session, the output buffer, and the engine's
 * stream turned into packets.
 *
 * The engine is asked for the next event only when the socket took what was written, so a slow client
 * slows the engine. It reads nothing from the client and decides no command.
 */
import { setImmediate } from "node:timers/promises";
import type { Door } from "@gateway/core/port/door.ts";
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import type { DoneEvent, FailedEvent, ResultEvent } from "@gateway/core/query/event.ts";
import type { Query, QueryId } from "@gateway/core/query/query.ts";
import { batchOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import type { Batch, NativeFormat } from "@gateway/core/type/vector.ts";
import { utc } from "@gateway/core/type/zone.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { FollowedConnection } from "../../listener/connection.ts";
import { batchEncoder } from "../value/batchRows.ts";
import type { Channel } from "../channel.ts";
import { statusOf, withChange, withWarning, type ClientSession } from "../session/clientSession.ts";
import {
  putColumns,
  putErrorPacket,
  putEvent,
  putOkPacket,
  putRowsEnd,
  type AnswerContext,
} from "../encode.ts";
import { errorReply } from "../errors.ts";
import { flushBytes } from "../limits.ts";
import { forwardedStatement } from "../read/reading.ts";
import type { RowEncoder } from "../value/rows.ts";
import type { EngineStatement } from "./statement.ts";

/** How one statement of a command is answered. */
export interface AnswerForm {
  readonly rows: "text" | "binary";
  /** Another statement's answer follows. */
  readonly moreFollow: boolean;
}

/** An answer while its events come. */
interface Answer {
  readonly query: Query;
  readonly statement: EngineStatement;
  readonly form: AnswerForm;
  hasColumns: boolean;
  rows: number;
}

/** How it ended: as the engine said, at the session's limit of rows, or with an error. */
type Ended = "done" | "limited" | GatewayError;

/** Buffer kept between commands: an idle connection should cost little. */
const idleBufferBytes = 1024;
/** The number MySQL gives to a note without one of its own. */
const noteErrno = 1105;

/** What ends a query: the platform's where an engine is asked directly, the door's own where the door runs it. */
type Controller = AbortController | Canceller;

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
  #controller: Controller | undefined;
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
  putOk(moreFollow = false, affectedRows = 0): undefined {
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

  /** Sends what is written. A promise only where it has not left at once. */
  flush(): Promise<void> | undefined {
    const bytes = this.out.written();
    if (bytes.length === 0) return undefined;
    const leaving = this.#channel.send(bytes);
    if (leaving !== undefined) return leaving.then(() => this.out.reset(flushBytes * 2));
    this.out.reset(flushBytes * 2);
    return undefined;
  }

  /** The same once enough is written. */
  flushFull(): Promise<void> | undefined {
    return this.out.at < flushBytes ? undefined : this.#flushAndRest();
  }

  /** Gives other connections a turn now and then: a fast engine and a fast client would never give one. */
  async #flushAndRest(): Promise<void> {
    await this.flush();
    this.#writes += 1;
    if (this.#writes % writesPerTurn === 0) await setImmediate();
  }

  /** Sends the rest of a command's answer and lets a large buffer go. */
  finish(): Promise<void> | undefined {
    const leaving = this.flush();
    return leaving === undefined ? this.#atRest() : leaving.then(() => this.#atRest());
  }

  #atRest(): undefined {
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
    const answer: Answer = { query, statement, form, hasColumns: false, rows: 0 };
    const { signal } = this.#begin(query.sql, new Canceller());
    this.queryId = query.id;
    const limit = this.#timeLimit(statement.timeMs);
    // A stream without a last event must not look like a complete result.
    let ended: Ended = gatewayError("engine.broken");
    try {
      for await (const event of this.door.run(query, signal)) {
        const step =
          event.kind === "batch" ? this.#rows(event.batch, answer) : this.#tell(event, answer);
        const over = step instanceof Promise ? await step : step;
        if (over === undefined) continue;
        ended = over;
        break;
      }
    } finally {
      limit?.[Symbol.dispose]();
      this.#ended();
    }
    return await this.#close(ended, answer);
  }

  /** Writes rows as far as they are wanted. */
  #rows(batch: Batch, answer: Answer): Promise<Ended | undefined> | Ended | undefined {
    const { rowLimit = Infinity } = answer.statement;
    const wanted = Math.min(batch.rows, rowLimit - answer.rows);
    const failed = this.#putBatch(batch, answer.form, wanted);
    const over = (error: GatewayError | undefined): Ended | undefined => {
      answer.rows += wanted;
      return error ?? (answer.rows === rowLimit ? "limited" : undefined);
    };
    return failed instanceof Promise ? failed.then(over) : over(failed);
  }

  /** Writes what an event has to say, and tells whether it was the last one. */
  #tell(event: Exclude<ResultEvent, { kind: "batch" }>, answer: Answer): Ended | undefined {
    this.remember(event);
    if (event.kind === "failed") return this.#reasonOf(event);
    if (event.kind === "columns" && event.columns.length > 0) answer.hasColumns = true;
    if (event.kind === "done") this.#counted(event, answer);
    // A statement without columns is an OK here, however the engine describes it.
    if (event.kind === "done" || (event.kind === "columns" && answer.hasColumns)) {
      const context = this.context(answer.form.moreFollow, answer.query.id);
      putEvent(this.out, event, answer.hasColumns, context);
    }
    return event.kind === "done" ? "done" : undefined;
  }

  /** Ends the answer, or asks the other question. False when it failed. */
  async #close(
    ended: Ended,
    { query, statement, form, hasColumns, rows }: Answer,
  ): Promise<boolean> {
    if (typeof ended === "object") {
      const answered = hasColumns ? undefined : await statement.orElse?.(ended);
      if (answered !== undefined) return answered;
      if (!mayAskOtherwise(statement, ended, hasColumns)) {
        return this.putError(errorReply(ended, query.id));
      }
      return await this.answer(
        { ...statement, sql: statement.otherwise, otherwise: undefined },
        form,
      );
    }
    if (ended === "limited") {
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
    controller: Controller = new AbortController(),
  ): { readonly signal: AbortSignal } & Disposable {
    const { signal } = this.#begin(text, controller);
    return { signal, [Symbol.dispose]: () => this.#ended() };
  }

  /** From here on the controller's work is what runs. */
  #begin(text: string, controller: Controller): Controller {
    this.#controller = controller;
    this.running = text.length > shownTextMax ? text.slice(0, shownTextMax) : text;
    this.sinceMs = this.host.clock.nowMs();
    if (this.connection.over) controller.abort(gatewayError("query.cancelled"));
    return controller;
  }

  #ended(): void {
    this.#controller = undefined;
    this.running = undefined;
    this.queryId = undefined;
    this.sinceMs = this.host.clock.nowMs();
  }

  #timeLimit(timeMs: number | undefined): Disposable | undefined {
    if (timeMs === undefined) return undefined;
    return this.host.clock.timer(timeMs, () => this.cancel(gatewayError("query.timeout")));
  }

  /** The query of a statement; warnings of the last one are gone. */
  open({ sql, parameters }: Pick<EngineStatement, "sql" | "parameters">, takes = noFormats): Query {
    if (this.client.warnings.length > 0) this.client = { ...this.client, warnings: [] };
    return this.door.query(forwardedStatement(sql), parameters, this.client.session, takes);
  }

  /** The events of a query, the last one with our own reason when it was ended here. */
  async *events(query: Query): AsyncGenerator<ResultEvent, void, void> {
    using running = this.interruptible(query.sql, new Canceller());
    this.queryId = query.id;
    for await (const event of this.door.run(query, running.signal)) {
      yield event.kind === "failed" ? { kind: "failed", error: this.#reasonOf(event) } : event;
      if (event.kind === "done" || event.kind === "failed") return;
    }
    // A stream without a last event must not look like a complete result.
    yield { kind: "failed", error: gatewayError("engine.broken") };
  }

  /** What was ended here has our reason, whatever the engine made of it. Asked while it still runs. */
  #reasonOf({ error }: FailedEvent): GatewayError {
    const signal = this.#controller?.signal;
    const ours = signal?.aborted === true && error.code === "query.cancelled";
    return ours ? abortError(signal) : error;
  }

  /** Takes over what an event changes in the session. */
  remember(event: ResultEvent): void {
    if (event.kind === "session") this.client = withChange(this.client, event.change);
    if (event.kind === "notice") {
      const warning = { level: "Note", errno: noteErrno, text: event.text } as const;
      this.client = withWarning(this.client, warning);
    }
  }

  #counted(event: DoneEvent, { hasColumns, rows }: Answer): void {
    const rowCount = hasColumns ? -1 : (event.updateCount ?? 0);
    const foundRows = hasColumns ? rows : this.client.foundRows;
    // The same statement again and again finds the same, and a copy of the session is not for nothing.
    if (rowCount === this.client.rowCount && foundRows === this.client.foundRows) return;
    this.client = { ...this.client, rowCount, foundRows };
  }

  /** A promise only where the client has to take something first. */
  #putBatch(
    batch: Batch,
    form: AnswerForm,
    count: number,
  ): Promise<GatewayError | undefined> | GatewayError | undefined {
    const encoder = batchEncoder(batch, {
      kind: form.rows,
      zone: this.client.zone,
      rowBytesMax: this.connection.config.maxMessageBytes,
      flushBytes,
    });
    const written = encoder.write(0, count, this.out);
    if (!written.ok) return written.error;
    const leaving = this.flushFull();
    return leaving && this.#putRest(leaving, written.value, count, encoder);
  }

  async #putRest(
    leaving: Promise<void>,
    from: number,
    count: number,
    encoder: RowEncoder,
  ): Promise<GatewayError | undefined> {
    await leaving;
    let row = from;
    // Without anybody there to read the rest the stream is ended by the caller's next step.
    while (row < count && !this.connection.over) {
      const written = encoder.write(row, count, this.out);
      if (!written.ok) return written.error;
      row = written.value;
      await this.flushFull();
    }
    return undefined;
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
