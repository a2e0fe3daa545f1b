/**
 * Cursors: results of prepared statements whose rows the client fetches piece by piece.
 *
 * The engine's stream waits between two fetches, so a cursor holds a slot until its last row, its
 * close, or `parkedMsMax`. A server of MySQL's has a cursor of its own behind it, and is asked for as many rows as the
 * client asks for. A transaction's connection runs one statement at a time: before another one
 * the rows that are left are read and held here, up to a limit. A MySQL server holds all of them.
 */
import { onDispose } from "@gateway/core/tool/onDispose.ts";
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { ColumnsEvent, ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { MysqlCursor } from "@gateway/core/query/mysqlCall.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { serverStatus } from "@gateway/wire/mysql/protocol.ts";
import type { Responder } from "./responder.ts";
import { putColumnsEvent, putEvent, putRowsEnd } from "../encode.ts";
import { errorReply } from "../errors.ts";
import { flushBytes } from "../limits.ts";
import { relayPackets } from "../value/relay.ts";
import { nativeTypes } from "../value/nativeRows.ts";
import type { RowEncoder } from "../value/rows.ts";
import { encoderOf } from "../value/encoders.ts";
import { nativeRows } from "./resultSet.ts";
import type { EngineStatement } from "./statement.ts";

/** A cursor that nobody fetches from for this long is ended: it holds a slot and an engine's query. */
const parkedMsMax = 300_000;

/** Rows that are taken off a server at once to be held here. */
const heldRows = 10_000;

/** Rows as packets, read up to `at`. */
interface HeldRows {
  readonly bytes: Uint8Array;
  at: number;
}

interface BatchRows {
  readonly encoder: RowEncoder;
  readonly rows: number;
  next: number;
}

export class Cursor implements AsyncDisposable {
  readonly #responder: Responder;
  readonly #statement: EngineStatement;
  readonly #query: Query;
  readonly #controller = new AbortController();
  readonly #events: ResultStream;
  readonly #held: HeldRows[] = [];
  readonly #wants: MysqlCursor;
  #batch: BatchRows | undefined;
  /** MySQL's types of the columns, where rows come as its packets. */
  #types: readonly number[] = [];
  /** Rows that `sql_select_limit` still allows. */
  #left: number;
  #over = false;
  #failure: GatewayError | undefined;
  #parked: Disposable | undefined;

  /** Begins nothing before `open`. */
  constructor(responder: Responder, statement: EngineStatement) {
    this.#responder = responder;
    this.#statement = statement;
    this.#left = statement.rowLimit ?? Infinity;
    this.#wants = statement.relayed?.execution?.cursor ?? { wanted: 0 };
    this.#query = responder.open(statement, nativeRows);
    this.#events = responder.door.run(this.#query, this.#controller.signal);
  }

  /** Runs up to the columns and tells them. False: there is nothing to fetch and the whole answer is written. */
  async open(): Promise<boolean> {
    using _step = this.#step();
    let event = await this.#next();
    if (event.kind === "columns" && event.columns.length > 0) {
      this.#announce(event);
      this.#park();
      return true;
    }
    // Some engines describe a statement without a result by an empty list.
    if (event.kind === "columns") event = await this.#next();
    await this[Symbol.asyncDispose]();
    if (event.kind === "failed") {
      this.#responder.putError(errorReply(event.error, this.#query.id));
      return false;
    }
    const context = this.#responder.context(false, this.#query.id);
    if (event.kind === "done") putEvent(this.#responder.out, event, false, context);
    this.#responder.told();
    return false;
  }

  /** Writes up to `count` rows and their end. False: the cursor is over. */
  async fetch(count: number): Promise<boolean> {
    this.#parked?.[Symbol.dispose]();
    using _step = this.#step();
    const held = await this.#putHeld(count);
    let sent = held;
    while (sent < count && !this.#over) {
      this.#wants.wanted = count - sent;
      if (this.#batch === undefined) await this.#advance();
      sent += await this.#putBatch(count - sent);
    }
    const { out } = this.#responder;
    if (this.#failure !== undefined) {
      this.#responder.putError(errorReply(this.#failure, this.#query.id));
      return await this.#end();
    }
    // Of held rows a server would not know yet that these were the last.
    const last = this.#over && this.#held.length === 0 && held < count;
    const context = this.#responder.context(false, this.#query.id);
    const flag = last ? serverStatus.lastRowSent : serverStatus.cursorExists;
    putRowsEnd(out, { ...context, warnings: 0, status: context.status | flag });
    if (last) return await this.#end();
    this.#park();
    return true;
  }

  /** Takes what is left off the engine, up to `bytesMax`, so that another statement may run. */
  async hold(bytesMax: number): Promise<void> {
    this.#parked?.[Symbol.dispose]();
    let bytes = this.#held.reduce((sum, held) => sum + held.bytes.length, 0);
    using _step = this.#step();
    this.#wants.wanted = heldRows;
    while (!this.#over && bytes < bytesMax) {
      if (this.#batch === undefined) await this.#advance();
      const piece = this.#encodeBatch();
      if (piece === undefined) continue;
      this.#held.push({ bytes: piece, at: 0 });
      bytes += piece.length;
    }
    this.#park();
  }

  /** Ends the engine's work. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    this.#batch = undefined;
    this.#held.length = 0;
    this.#parked?.[Symbol.dispose]();
    if (!this.#controller.signal.aborted) this.#controller.abort(gatewayError("query.cancelled"));
    await this.#events.return();
  }

  async #end(): Promise<false> {
    await this[Symbol.asyncDispose]();
    return false;
  }

  #announce(event: ColumnsEvent): void {
    this.#types = event.native === undefined ? [] : nativeTypes(event.native.bytes);
    const context = this.#responder.context(false, this.#query.id);
    const status = context.status | serverStatus.cursorExists;
    putColumnsEvent(this.#responder.out, event, { ...context, status }, true);
    this.#responder.told();
  }

  /** While a step runs, KILL QUERY ends it. */
  #step(): Disposable {
    const { host } = this.#responder;
    const running = this.#responder.interruptible(this.#query.sql, this.#controller);
    this.#responder.queryId = this.#query.id;
    const { timeMs } = this.#statement;
    const limit =
      timeMs === undefined
        ? undefined
        : host.clock.timer(timeMs, () => this.#controller.abort(gatewayError("query.timeout")));
    return onDispose(() => {
      limit?.[Symbol.dispose]();
      running[Symbol.dispose]();
    });
  }

  #park(): void {
    const { host } = this.#responder;
    this.#parked = host.clock.timer(parkedMsMax, () => {
      this.#failure = gatewayError("query.abandoned");
      this[Symbol.asyncDispose]().catch((bug: unknown) => host.log.bug(bug));
    });
  }

  /** The next event about the result. The session takes over what others change. */
  async #next(): Promise<Extract<ResultEvent, { kind: "columns" | "batch" | "done" | "failed" }>> {
    for (;;) {
      const step = await this.#events.next();
      // A stream without a last event must not look like a complete result.
      if (step.done === true) return { kind: "failed", error: gatewayError("engine.broken") };
      const event = step.value;
      this.#responder.remember(event);
      if (event.kind === "failed") return { kind: "failed", error: this.#reasonOf(event.error) };
      if (event.kind === "columns" || event.kind === "batch" || event.kind === "done") return event;
    }
  }

  #reasonOf(error: GatewayError): GatewayError {
    const { signal } = this.#controller;
    return signal.aborted && error.code === "query.cancelled" ? abortError(signal) : error;
  }

  /** Goes on to the next rows, or to the end. */
  async #advance(): Promise<void> {
    const event = await this.#next();
    if (event.kind === "batch" && event.batch.form === "native" && event.batch.next !== undefined) {
      this.#fail(gatewayError("query.unsupported", { message: "several results have no cursor" }));
      return;
    }
    if (event.kind === "batch") {
      const { config } = this.#responder.connection;
      const format = { kind: "binary", zone: this.#responder.client.zone, flushBytes } as const;
      const { batch } = event;
      const limits = { ...format, rowBytesMax: config.maxMessageBytes };
      this.#batch = {
        encoder: encoderOf(batch, this.#types, limits),
        rows: Math.min(batch.rows, this.#left),
        next: 0,
      };
      this.#left -= this.#batch.rows;
    }
    if (event.kind === "failed") this.#failure = event.error;
    if (event.kind === "batch") return;
    this.#over = true;
    await this.#events.return();
  }

  async #putHeld(count: number): Promise<number> {
    let sent = 0;
    while (sent < count) {
      const [held] = this.#held;
      if (held === undefined) break;
      const relayed = relayPackets(this.#responder.out, held.bytes, {
        from: held.at,
        rowsMax: count - sent,
        bytesMax: flushBytes,
      });
      sent += relayed.rows;
      held.at = relayed.at;
      if (held.at >= held.bytes.length) this.#held.shift();
      await this.#responder.flushFull();
    }
    return sent;
  }

  /** Writes rows of the batch at hand and returns how many. */
  async #putBatch(most: number): Promise<number> {
    const batch = this.#batch;
    if (batch === undefined) return 0;
    const from = batch.next;
    const end = Math.min(batch.rows, from + most);
    while (batch.next < end) {
      const written = batch.encoder.write(batch.next, end, this.#responder.out);
      if (!written.ok) {
        this.#fail(written.error);
        return 0;
      }
      batch.next = written.value;
      await this.#responder.flushFull();
    }
    this.#finishBatch(batch);
    return end - from;
  }

  /** The next rows of the batch at hand as packets; undefined when there are none. */
  #encodeBatch(): Uint8Array | undefined {
    const batch = this.#batch;
    if (batch === undefined) return undefined;
    const out = new PacketWriter();
    const written = batch.encoder.write(batch.next, batch.rows, out);
    if (written.ok) batch.next = written.value;
    else this.#fail(written.error);
    this.#finishBatch(batch);
    return out.at === 0 ? undefined : out.release();
  }

  #finishBatch(batch: BatchRows): void {
    if (batch.next < batch.rows) return;
    this.#batch = undefined;
    if (this.#left <= 0) this.#over = true;
  }

  #fail(error: GatewayError): void {
    this.#failure = error;
    this.#over = true;
    this.#batch = undefined;
  }
}

/** The open cursors of one connection, by the id of their statement. */
export class Cursors {
  readonly #open = new Map<number, Cursor>();

  get size(): number {
    return this.#open.size;
  }

  get(id: number): Cursor | undefined {
    return this.#open.get(id);
  }

  put(id: number, cursor: Cursor): void {
    this.#open.set(id, cursor);
  }

  /** Ends one. Undefined when there is none, so that the caller has nothing to wait for. */
  close(id: number): Promise<void> | undefined {
    const cursor = this.#open.get(id);
    if (cursor === undefined) return undefined;
    this.#open.delete(id);
    return cursor[Symbol.asyncDispose]();
  }

  /** Makes room for another statement in the same transaction. */
  async hold(bytesMax: number): Promise<void> {
    for (const cursor of this.#open.values()) await cursor.hold(bytesMax);
  }

  async clear(): Promise<void> {
    for (const id of this.#open.keys()) await this.close(id);
  }
}
