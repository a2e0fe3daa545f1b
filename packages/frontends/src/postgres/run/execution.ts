/**
 * One statement while it runs: asks for its events, writes them, and can stop after a number of rows
 * and go on later.
 *
 * The engine is asked for the next piece only when the last one was taken by the socket. Ending it
 * early ends the engine's work.
 */
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import type { DoneEvent, LastEvent, ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import { unreachable } from "@gateway/core/result.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import type { ClientSession } from "../session/clientSession.ts";
import type { CopyForm } from "../read/copyForm.ts";
import { copyProblem, copyWriter, writeCopyHead, writeCopyTail } from "./copyRows.ts";
import { changedResult, formatCountError, sameShape, widthError } from "./described.ts";
import { encodeEvent } from "../encode.ts";
import { flushBytes, type Outbox } from "../outbox.ts";
import { formatsFor, rowFields, rowWriter, type RowShape, type RowWriter } from "../value/rows.ts";
import { milliseconds } from "../session/settings.ts";
import { RowsAside, type AsideRoom } from "./rowsAside.ts";
import { commandTag } from "../tag.ts";
import { textRowWriter } from "../value/textRows.ts";

/** What is to run, and how its result is wanted. */
export interface Plan {
  readonly sql: string;
  /** Shown to the client; undefined for what the frontend answers itself. */
  readonly queryId: string | undefined;
  readonly formats: readonly Format[];
  /** What the client was told the result will be; undefined when it was not told. */
  readonly promised: readonly Column[] | undefined;
  /** Rows go out as those of a COPY; undefined for an ordinary result. */
  readonly copy: CopyForm | undefined;
  start(signal: AbortSignal): ResultStream;
}

/** Whether the result is described before its first row, and whether its absence is told too. */
export type Announce = "no" | "rows" | "rowsOrNone";

/** How far one step goes, and what happens with its rows. */
export interface Step {
  /** 0: all that are left. */
  readonly maxRows: number;
  readonly announce: Announce;
  /** As in a Bind message, where they are not those of the plan. */
  readonly formats?: readonly Format[];
  /** Rows are passed over. */
  readonly silent?: boolean;
  /** Stops as soon as the columns are known. */
  readonly columnsOnly?: boolean;
}

/** Why a step ended. The command tag is the caller's to send, and its rows are those of the step. */
export type Stop =
  | { readonly kind: "complete"; readonly rows: number; readonly tag: string }
  | { readonly kind: "suspended"; readonly rows: number }
  | { readonly kind: "failed"; readonly error: GatewayError };

export type ExecutionState = "fresh" | "parked" | "complete" | "failed" | "abandoned";

/** A portal that nobody fetches from for this long is ended: it holds a slot and an engine's query. */
const parkedMsMax = 300_000;
/** Below it a batch fits the buffer as it is. */
const manyRows = 256;

export interface ExecutionParts {
  readonly session: ClientSession;
  readonly out: Outbox;
  readonly host: Host;
  readonly asideRoom: AsideRoom;
}

export class Execution implements AsyncDisposable {
  readonly plan: Plan;
  readonly #parts: ExecutionParts;
  readonly #controller = new Canceller();
  #events: ResultStream | undefined;
  /** The batch that is written, with its writer and the next row. */
  #batch: Batch | undefined;
  #rows: RowWriter | undefined;
  #row = 0;
  /** A batch with rows came. */
  #begun = false;
  #formats: readonly Format[] = [];
  #columns: readonly Column[] | undefined;
  #state: ExecutionState = "fresh";
  #parked: Disposable | undefined;
  /** Rows that were taken out of the engine before they were asked for, and how it ended. */
  #aside: RowsAside | undefined;
  #last: LastEvent | undefined;

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

  /** Writes rows and tells why it stopped. After `complete` or `failed` nothing is left. */
  step(wish: Step): Promise<Stop> {
    return this.#timed(() => this.#run(wish));
  }

  /**
   * Takes what is left of a parked result out of the engine, which is then free for another statement.
   * Answers why that failed; the result is then over.
   */
  async setAside(): Promise<GatewayError | undefined> {
    const stop = await this.#timed(() => this.#drain());
    return stop.kind === "failed" ? stop.error : undefined;
  }

  /** Never called while a step runs: that one is cancelled first and ends by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "parked") this.#state = "failed";
    this.#batch = undefined;
    this.#rows = undefined;
    this.#last = undefined;
    this.#parked?.[Symbol.dispose]();
    const [events, aside] = [this.#events, this.#aside];
    this.#events = undefined;
    this.#aside = undefined;
    aside?.[Symbol.dispose]();
    await events?.return();
  }

  /** Under the client's own time limit; what does not stay parked gives everything back. */
  async #timed(run: () => Promise<Stop>): Promise<Stop> {
    this.#parked?.[Symbol.dispose]();
    const { host, session } = this.#parts;
    const limit = session.setting("statement_timeout");
    const limitMs = limit === "0" ? 0 : (milliseconds(limit) ?? 0);
    using _limit =
      limitMs === 0 ? undefined : host.clock.timer(limitMs, () => this.cancel(timeoutError()));
    let stop: Stop | undefined;
    try {
      stop = await run();
    } finally {
      // Also after a bug: what the engine holds is given back.
      if (stop?.kind !== "suspended") await this[Symbol.asyncDispose]();
    }
    if (stop.kind === "suspended") this.#park();
    else this.#state = stop.kind;
    return stop;
  }

  #park(): void {
    this.#state = "parked";
    this.#parked = this.#parts.host.clock.timer(parkedMsMax, () => {
      this.#state = "abandoned";
      this[Symbol.asyncDispose]().catch((bug: unknown) => this.#parts.host.log.bug(bug));
    });
  }

  async #run(wish: Step): Promise<Stop> {
    const most = wish.maxRows === 0 ? Number.POSITIVE_INFINITY : wish.maxRows;
    const refused = this.#reshape(wish.formats);
    if (refused !== undefined) return this.#failed(refused);
    let sent = 0;
    for (;;) {
      const waits = this.#rows !== undefined || this.#aside !== undefined;
      const written = waits ? await this.#writeRows(most - sent, wish.silent === true) : 0;
      if (written === undefined) return this.#failed(abortError(this.#controller.signal));
      sent += written;
      if (sent >= most) return { kind: "suspended", rows: sent };
      const event = await this.#next();
      // A stream that ends without a last event would look like a complete result.
      if (event === undefined) return this.#failed(gatewayError("engine.broken"));
      const stop = this.#take(event, sent, wish.announce);
      if (stop !== undefined) return stop;
      const known = wish.columnsOnly === true && this.#columns !== undefined;
      if (known) return { kind: "suspended", rows: sent };
    }
  }

  async #next(): Promise<ResultEvent | undefined> {
    if (this.#last !== undefined) return this.#last;
    const events = (this.#events ??= this.plan.start(this.#controller.signal));
    const next = await events.next();
    return next.done === true ? undefined : next.value;
  }

  /** Rows that wait, at most `most`; answers how many, or undefined when it was cut short. */
  async #writeRows(most: number, silent: boolean): Promise<number | undefined> {
    let written = 0;
    while (this.#aside !== undefined && written < most && this.#aside.ready()) {
      if (this.#controller.signal.aborted) return undefined;
      const { out } = this.#parts;
      written += this.#aside.take(most - written, silent ? undefined : out.writer);
      if (out.full) await out.pass(this.#controller.signal);
    }
    if (this.#rows === undefined) return written;
    if (silent) return written + this.#passOver(this.#rows, most - written);
    const more = await this.#writeBatch(this.#rows, most - written);
    return more === undefined ? undefined : written + more;
  }

  #passOver(rows: RowWriter, most: number): number {
    const first = this.#row;
    this.#row = Math.min(rows.rows, first + most);
    if (this.#row >= rows.rows) this.#endBatch();
    return this.#row - first;
  }

  async #writeBatch(rows: RowWriter, most: number): Promise<number | undefined> {
    const { out } = this.#parts;
    const first = this.#row;
    const end = Math.min(rows.rows, first + most);
    while (this.#row < end) {
      if (this.#controller.signal.aborted) return undefined;
      if (end - this.#row > manyRows) out.expectMuch();
      this.#row = rows.write(out.writer, this.#row, { end, bytesMax: flushBytes });
      if (out.full) await out.pass(this.#controller.signal);
    }
    if (this.#row >= rows.rows) this.#endBatch();
    return end - first;
  }

  #endBatch(): void {
    this.#batch = undefined;
    this.#rows = undefined;
  }

  /** Everything that is left, set aside. */
  async #drain(): Promise<Stop> {
    const { asideRoom, session } = this.#parts;
    const aside = (this.#aside ??= new RowsAside(asideRoom, session.value.identity.user));
    const kept: Stop = { kind: "suspended", rows: 0 };
    while (this.#last === undefined) {
      while (this.#rows !== undefined) {
        if (this.#controller.signal.aborted) {
          return this.#failed(abortError(this.#controller.signal));
        }
        const piece = new ByteWriter();
        const { rows } = this.#rows;
        this.#row = this.#rows.write(piece, this.#row, { end: rows, bytesMax: flushBytes });
        const refused = aside.add(piece.take());
        if (refused !== undefined) return this.#failed(refused);
        if (this.#row >= rows) this.#endBatch();
      }
      const event = await this.#next();
      if (event === undefined) return this.#failed(gatewayError("engine.broken"));
      if (event.kind === "done" || event.kind === "failed") this.#last = event;
      else this.#take(event, 0, "no");
    }
    await this.#events?.return();
    this.#events = undefined;
    return kept;
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
        this.#batch = event.batch;
        this.#row = 0;
        this.#chooseWriter();
        return undefined;
      case "done":
        return this.#finish(event, sent, announce);
      case "failed":
        return this.#failed(this.#reasonOf(event.error));
      default:
        return unreachable(event);
    }
  }

  #takeColumns(columns: readonly Column[], announce: Announce): Stop | undefined {
    const { promised, copy } = this.plan;
    if (promised !== undefined && !sameShape(promised, columns)) {
      return this.#failed(changedResult());
    }
    const wide = widthError(columns);
    if (wide !== undefined) return this.#failed(wide);
    this.#columns = columns;
    if (copy !== undefined) return this.#startCopy(copy, columns);
    const formats = formatsFor(this.plan.formats, columns);
    if (formats === undefined) {
      return this.#failed(formatCountError(this.plan.formats.length, columns.length));
    }
    this.#formats = formats;
    if (announce !== "no") {
      this.#parts.out.put({ kind: "rowDescription", fields: rowFields(columns, formats) });
    }
    return undefined;
  }

  #startCopy(form: CopyForm, columns: readonly Column[]): Stop | undefined {
    const { out, session } = this.#parts;
    const wrong = copyProblem(form, columns);
    if (wrong !== undefined) return this.#failed(wrong);
    out.put({ kind: "copyOut", format: form.kind === "binary" ? 1 : 0, columns: columns.length });
    writeCopyHead(out.writer, { form, columns, zone: session.zone });
    return undefined;
  }

  #chooseWriter(): void {
    const { zone } = this.#parts.session;
    const { copy: form } = this.plan;
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#rows =
      form === undefined
        ? plainWriter(batch, { formats: this.#formats, zone })
        : copyWriter(columnarOf(batch), { form, columns: this.#columns ?? [], zone }, !this.#begun);
    this.#begun ||= batch.rows > 0;
  }

  /** A cursor may be fetched from in another format than before. */
  #reshape(asked: readonly Format[] | undefined): GatewayError | undefined {
    if (asked === undefined || this.#columns === undefined) return undefined;
    const formats = formatsFor(asked, this.#columns);
    if (formats === undefined) return formatCountError(asked.length, this.#columns.length);
    if (formats.every((format, index) => format === this.#formats[index])) return undefined;
    if (this.#aside !== undefined) {
      const message = "a cursor can not change its format once its rows were set aside";
      return gatewayError("query.unsupported", { message });
    }
    this.#formats = formats;
    this.#chooseWriter();
    return undefined;
  }

  #finish(event: DoneEvent, sent: number, announce: Announce): Stop {
    const { out } = this.#parts;
    const { copy, sql } = this.plan;
    const hasRows = this.#columns !== undefined;
    if (!hasRows && announce === "rowsOrNone") out.put({ kind: "noData" });
    if (copy === undefined) {
      return {
        kind: "complete",
        rows: sent,
        tag: commandTag(event, hasRows ? sent : undefined, sql),
      };
    }
    if (hasRows) {
      writeCopyTail(out.writer, copy, this.#begun);
      out.put({ kind: "copyDone" });
    }
    return { kind: "complete", rows: sent, tag: `COPY ${sent}` };
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

/** Text of the source passed on where it is PostgreSQL's own, else through columns. */
function plainWriter(batch: Batch, shape: RowShape): RowWriter {
  const asText = batch.form === "text" ? textRowWriter(batch, shape) : undefined;
  return asText ?? rowWriter(columnarOf(batch), shape);
}

function timeoutError(): GatewayError {
  return gatewayError("query.timeout", { message: "canceling statement due to statement timeout" });
}
