/**
 * One statement while it runs: asks for its events, writes them, and can stop after a number of rows
 * and go on later.
 *
 * The engine is asked for the next piece only when the last one was taken by the socket. Ending it
 * early ends the engine's work.
 */
import { setImmediate } from "node:timers/promises";
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { DoneEvent, ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import { unreachable } from "@gateway/core/result.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import type { ClientSession } from "./clientSession.ts";
import { encodeEvent } from "./encode.ts";
import { flushBytes, type Outbox } from "./outbox.ts";
import { formatsFor, rowFields, rowWriter, type RowWriter } from "./rows.ts";
import { milliseconds } from "./settings.ts";
import { commandTag } from "./tag.ts";
import { columnShape } from "./types.ts";

/** What is to run, and how its result is wanted. */
export interface Plan {
  readonly sql: string;
  /** Shown to the client; undefined for what the frontend answers itself. */
  readonly queryId: string | undefined;
  readonly formats: readonly Format[];
  /** What the client was told the result will be; undefined when it was not told. */
  readonly promised: readonly Column[] | undefined;
  start(signal: AbortSignal): ResultStream;
}

/** Whether the result is described before its first row, and whether its absence is told too. */
export type Announce = "no" | "rows" | "rowsOrNone";

export type Stop =
  | { readonly kind: "complete" }
  | { readonly kind: "suspended" }
  | { readonly kind: "failed"; readonly error: GatewayError };

export type ExecutionState = "fresh" | "parked" | "complete" | "failed" | "abandoned";

const complete: Stop = { kind: "complete" };
const suspended: Stop = { kind: "suspended" };

/** A portal that nobody fetches from for this long is ended: it holds a slot and an engine's query. */
const parkedMsMax = 300_000;
/** Writes that were taken at once before other connections get a turn: about a megabyte. */
const writesPerTurn = 16;
/** Below it a batch fits the buffer as it is. */
const manyRows = 256;

export interface ExecutionParts {
  readonly session: ClientSession;
  readonly out: Outbox;
  readonly host: Host;
}

export class Execution implements AsyncDisposable {
  readonly plan: Plan;
  readonly #parts: ExecutionParts;
  readonly #controller = new AbortController();
  #events: ResultStream | undefined;
  #rows: RowWriter | undefined;
  #row = 0;
  #writes = 0;
  #formats: readonly Format[] = [];
  #columns: readonly Column[] | undefined;
  #state: ExecutionState = "fresh";
  #parked: Disposable | undefined;

  constructor(plan: Plan, parts: ExecutionParts) {
    this.plan = plan;
    this.#parts = parts;
  }

  /** Columns of the result, once they are known. */
  get columns(): readonly Column[] | undefined {
    return this.#columns;
  }

  /** How far it is. `fresh` and `parked` can be stepped; the others have nothing left. */
  get state(): ExecutionState {
    return this.#state;
  }

  /** Ends the engine's work; the step that runs now fails with `reason`. */
  cancel(reason: GatewayError): void {
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }

  /** Writes up to `maxRows` rows (0: all) and tells why it stopped. After `complete` or `failed` nothing is left. */
  async step(maxRows: number, announce: Announce): Promise<Stop> {
    this.#parked?.[Symbol.dispose]();
    const { host, session } = this.#parts;
    const limitMs = milliseconds(session.setting("statement_timeout")) ?? 0;
    using _limit =
      limitMs === 0 ? undefined : host.clock.timer(limitMs, () => this.cancel(timeoutError()));
    let stop: Stop | undefined;
    try {
      stop = await this.#run(maxRows, announce);
    } finally {
      // Also after a bug: what the engine holds is given back.
      if (stop?.kind !== "suspended") await this[Symbol.asyncDispose]();
    }
    if (stop.kind === "suspended") this.#park();
    else this.#state = stop.kind;
    return stop;
  }

  /** Never called while a step runs: that one is cancelled first and ends by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "parked") this.#state = "failed";
    this.#rows = undefined;
    this.#parked?.[Symbol.dispose]();
    const events = this.#events;
    this.#events = undefined;
    await events?.return();
  }

  #park(): void {
    this.#state = "parked";
    this.#parked = this.#parts.host.clock.timer(parkedMsMax, () => {
      this.#state = "abandoned";
      this[Symbol.asyncDispose]().catch((bug: unknown) => this.#parts.host.log.bug(bug));
    });
  }

  async #run(maxRows: number, announce: Announce): Promise<Stop> {
    const events = (this.#events ??= this.plan.start(this.#controller.signal));
    let sent = 0;
    for (;;) {
      if (this.#rows !== undefined) {
        const most = maxRows === 0 ? this.#rows.rows : maxRows - sent;
        const written = await this.#writeRows(this.#rows, most);
        if (written === undefined) return this.#failed(abortError(this.#controller.signal));
        sent += written;
      }
      if (maxRows !== 0 && sent >= maxRows) return suspended;
      const next = await events.next();
      // A stream that ends without a last event would look like a complete result.
      if (next.done === true) return this.#failed(gatewayError("engine.broken"));
      const stop = this.#take(next.value, sent, announce);
      if (stop !== undefined) return stop;
    }
  }

  /** Writes what is left of the batch, at most `most` rows; answers how many, or undefined when it was cut short. */
  async #writeRows(rows: RowWriter, most: number): Promise<number | undefined> {
    const { out } = this.#parts;
    const first = this.#row;
    const end = Math.min(rows.rows, first + most);
    while (this.#row < end) {
      if (this.#controller.signal.aborted) return undefined;
      if (end - this.#row > manyRows) out.expectMuch();
      this.#row = rows.write(out.writer, this.#row, { end, bytesMax: flushBytes });
      if (out.full) await this.#taken(out.flush());
    }
    if (this.#row >= rows.rows) this.#rows = undefined;
    return end - first;
  }

  /** Waits for a slow client, but no longer than the query lives: its slot is not the client's to hold. */
  async #taken(sent: Promise<void> | undefined): Promise<void> {
    const { signal } = this.#controller;
    if (signal.aborted) return;
    if (sent === undefined) return await this.#breathe();
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        signal.removeEventListener("abort", settle);
        resolve();
      };
      signal.addEventListener("abort", settle);
      void sent.then(settle);
    });
  }

  /** A fast engine and a fast client would otherwise never let anything else of the process happen. */
  async #breathe(): Promise<void> {
    this.#writes += 1;
    if (this.#writes % writesPerTurn === 0) await setImmediate();
  }

  #take(event: ResultEvent, sent: number, announce: Announce): Stop | undefined {
    const { session, out } = this.#parts;
    switch (event.kind) {
      case "queued":
      case "progress":
        return undefined;
      case "session":
        session.apply(event.change);
        return undefined;
      case "notice":
        encodeEvent(event, session, out);
        return undefined;
      case "columns":
        return this.#takeColumns(event.columns, announce);
      case "batch":
        this.#rows = rowWriter(columnarOf(event.batch), { formats: this.#formats, zone: session.zone });
        this.#row = 0;
        return undefined;
      case "done":
        this.#finish(event, sent, announce);
        return complete;
      case "failed":
        return this.#failed(this.#reasonOf(event.error));
      default:
        return unreachable(event);
    }
  }

  #takeColumns(columns: readonly Column[], announce: Announce): Stop | undefined {
    const { promised } = this.plan;
    if (promised !== undefined && !sameShape(promised, columns)) {
      return this.#failed(changedResult());
    }
    const formats = formatsFor(this.plan.formats, columns);
    if (formats === undefined) {
      return this.#failed(formatCountError(this.plan.formats.length, columns.length));
    }
    this.#columns = columns;
    this.#formats = formats;
    if (announce !== "no") {
      this.#parts.out.put({ kind: "rowDescription", fields: rowFields(columns, formats) });
    }
    return undefined;
  }

  #finish(event: DoneEvent, sent: number, announce: Announce): void {
    const { out, session } = this.#parts;
    const hasRows = this.#columns !== undefined;
    if (!hasRows && announce === "rowsOrNone") out.put({ kind: "noData" });
    // The door unpins before the last event, so the end of a transaction is told by its name.
    if (event.updateType === "COMMIT") session.endTransaction(true);
    if (event.updateType === "ROLLBACK") session.endTransaction(false);
    const tag = commandTag(event, hasRows ? sent : undefined, this.plan.sql);
    out.put({ kind: "commandComplete", tag });
  }

  #failed(error: GatewayError): Stop {
    const { session } = this.#parts;
    // A transaction that is gone without a word of its own was rolled back.
    if (session.pin === undefined) session.endTransaction(false);
    return { kind: "failed", error };
  }

  /** What we ended ourselves has our reason, whatever the engine made of it. */
  #reasonOf(error: GatewayError): GatewayError {
    const { signal } = this.#controller;
    return signal.aborted && error.code === "query.cancelled" ? abortError(signal) : error;
  }
}

/** What the client was told must stay true, because it reads the bytes by it. */
function sameShape(promised: readonly Column[], columns: readonly Column[]): boolean {
  return (
    promised.length === columns.length &&
    promised.every(({ type }, index) => {
      const column = columns[index];
      return column !== undefined && columnShape(type).oid === columnShape(column.type).oid;
    })
  );
}

function timeoutError(): GatewayError {
  return gatewayError("query.timeout", { message: "canceling statement due to statement timeout" });
}

function changedResult(): GatewayError {
  const message = "cached plan must not change result type";
  return gatewayError("query.invalid", { sqlState: "0A000", message });
}

/** The answer to a Bind whose formats do not fit the result. */
export function formatCountError(formats: number, columns: number): GatewayError {
  const message = `bind message has ${formats} result formats but query has ${columns} columns`;
  return gatewayError("query.parameters", { sqlState: "08P01", message });
}
