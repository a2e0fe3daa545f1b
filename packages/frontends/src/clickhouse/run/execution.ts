/** Runs one statement and writes what comes of it into its answer. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Answer as Events } from "@gateway/core/query/course.ts";
import type {
  ColumnsEvent,
  DoneEvent,
  ResultEvent,
  SessionChange,
} from "@gateway/core/query/event.ts";
import type { Canceller } from "@gateway/core/tool/canceller.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { formatOf, type ResultWriter } from "../encode.ts";
import { pieceBytes } from "../limits.ts";
import { Output } from "../value/output.ts";
import { lookOf } from "../session/settings.ts";
import type { HeldSession } from "../session/sessions.ts";
import type { Answer } from "./answer.ts";

export interface Execution {
  readonly answer: Answer;
  readonly events: Events;
  readonly canceller: Canceller;
  /** The format that was asked for; a ClickHouse server may know more of them than are written here. */
  readonly format: string;
  readonly settings: ReadonlyMap<string, string>;
  /** What a statement may change that changes its session. */
  readonly session: Pick<HeldSession, "catalog" | "database"> | undefined;
}

/** Over when the answer is and the engine is done. A promise only where one of them is waited for. */
export function execute(execution: Execution): Promise<void> | undefined {
  const { events } = execution;
  const rows = new Rows(execution);
  if (Symbol.asyncIterator in events) return tellAll(events, rows, execution);
  // What is all here goes out as one, with its length.
  if (events.at(-1)?.kind === "done") execution.answer.holdAll();
  for (let at = 0; at < events.length; at += 1) {
    const event = events[at];
    const due = event && tell(event, rows, execution);
    if (due !== undefined) return due.then(() => tellAll(events.slice(at + 1), rows, execution));
  }
  return undefined;
}

async function tellAll(events: Events, rows: Rows, execution: Execution): Promise<void> {
  for await (const event of events) {
    const due = tell(event, rows, execution);
    if (due !== undefined) await due;
  }
}

/** A promise only while the client does not take it. */
function tell(event: ResultEvent, rows: Rows, execution: Execution): Promise<void> | undefined {
  const { answer } = execution;
  switch (event.kind) {
    case "columns":
      rows.begin(event);
      return undefined;
    case "batch": {
      const written = rows.write(event.batch);
      if (written !== undefined) return written.then((refusal) => leave(execution, refusal));
      leave(execution, undefined);
      return undefined;
    }
    case "done":
      return rows.end(event);
    case "failed":
      answer.fail(event.error, rows.relayed && event.error.vendor?.of === "clickHouse");
      return undefined;
    case "session":
      change(execution, event.change);
      return undefined;
    case "queued":
    case "progress":
    case "notice":
      return undefined;
  }
}

function change({ session }: Execution, asked: SessionChange): void {
  if (asked.kind !== "catalog" || session === undefined) return;
  session.catalog = asked.catalog;
  session.database = asked.schema;
}

/** Ends what nobody reads. A refusal of rows is told before the engine says that it was cancelled. */
function leave({ answer, canceller }: Execution, refusal: GatewayError | undefined): void {
  if (refusal !== undefined) answer.fail(refusal, false);
  if (answer.over) canceller.abort(refusal ?? gatewayError("query.cancelled"));
}

class Rows {
  readonly #answer: Answer;
  readonly #asked: Pick<Execution, "format" | "settings">;
  /** Where they are written here. */
  #written: { readonly out: Output; readonly writer: ResultWriter } | undefined;
  #count = 0;
  /** The engine's own bytes pass. */
  relayed = false;

  constructor(execution: Execution) {
    this.#answer = execution.answer;
    this.#asked = execution;
  }

  begin({ columns, native }: ColumnsEvent): void {
    if (native?.format === "clickHouseBody") {
      this.relayed = true;
      this.#answer.relays(native.headers ?? {});
      return;
    }
    const format = formatOf(this.#asked.format);
    if (format === undefined) return;
    this.#answer.describes(format.name, format.contentType);
    const look = lookOf(this.#asked.settings);
    const written = { out: new Output(), writer: format.writer(columns, look) };
    this.#written = written;
    written.writer.head(written.out);
  }

  /** The refusal of rows that can not be written. A promise only where that is not known yet, or the client does not take them. */
  write(batch: Batch): Promise<GatewayError | undefined> | undefined {
    this.#count += batch.rows;
    if (batch.form !== "native") return this.#write(batch);
    return this.#answer.rows(batch.bytes)?.then(nothing);
  }

  end({ stats, updateCount }: DoneEvent): Promise<void> | undefined {
    const work = {
      resultRows: this.#count,
      writtenRows: updateCount ?? 0,
      elapsedMs: stats.executionMs,
    };
    if (this.#written === undefined) return this.#answer.end(work);
    const { out, writer } = this.#written;
    writer.tail(out, stats);
    const due = this.#answer.rows(out.take());
    return due === undefined ? this.#answer.end(work) : due.then(() => this.#answer.end(work));
  }

  async #write(batch: Exclude<Batch, { readonly form: "native" }>) {
    if (this.#written === undefined) return unknownFormat();
    const { out, writer } = this.#written;
    const columns = columnarOf(batch);
    const refusal = writer.refuses(columns);
    if (refusal !== undefined) return refusal;
    for (let row = 0; row < columns.rows && !this.#answer.over;) {
      row = writer.rows(columns, row, out, pieceBytes);
      await this.#answer.rows(out.take());
    }
    return undefined;
  }
}

function nothing(): undefined {}

/** A group with a limit of rows has them counted, and so written here. */
function unknownFormat(): GatewayError {
  const message =
    "this format is written by a ClickHouse server only, and the group counts its rows";
  return gatewayError("query.unsupported", { message });
}
