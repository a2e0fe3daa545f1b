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
import type { Format, FormatLook, ResultWriter } from "../encode.ts";
import { pieceBytes } from "../limits.ts";
import { Output } from "../value/output.ts";
import type { Answer } from "./answer.ts";

export interface Execution {
  readonly answer: Answer;
  readonly events: Events;
  readonly canceller: Canceller;
  /** Undefined where only a ClickHouse server writes the format that was asked for. */
  readonly format: Format | undefined;
  readonly look: FormatLook;
  /** The statement changed its session. */
  readonly changed: (change: SessionChange) => void;
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
  const { answer, changed } = execution;
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
      changed(event.change);
      return undefined;
    case "queued":
    case "progress":
    case "notice":
      return undefined;
  }
}

/** Ends what nobody reads. A refusal of rows is told before the engine says that it was cancelled. */
function leave({ answer, canceller }: Execution, refusal: GatewayError | undefined): void {
  if (refusal !== undefined) answer.fail(refusal, false);
  if (answer.over) canceller.abort(refusal ?? gatewayError("query.cancelled"));
}

class Rows {
  readonly #answer: Answer;
  readonly #format: Format | undefined;
  readonly #look: FormatLook;
  readonly #out = new Output();
  #writer: ResultWriter | undefined;
  #count = 0;
  /** The engine's own bytes pass. */
  relayed = false;

  constructor({ answer, format, look }: Execution) {
    this.#answer = answer;
    this.#format = format;
    this.#look = look;
  }

  begin({ columns, native }: ColumnsEvent): void {
    if (native?.format === "clickHouseBody") {
      this.relayed = true;
      this.#answer.relays(native.headers ?? {});
      return;
    }
    if (this.#format === undefined) return;
    this.#answer.describes(this.#format.name, this.#format.contentType);
    this.#writer = this.#format.writer(columns, this.#look);
    this.#writer.head(this.#out);
  }

  /** The refusal of rows that can not be written. A promise only where that is not known yet, or the client does not take them. */
  write(batch: Batch): Promise<GatewayError | undefined> | undefined {
    this.#count += batch.rows;
    if (batch.form !== "native") return this.#written(batch);
    return this.#answer.rows(batch.bytes)?.then(nothing);
  }

  end({ stats, updateCount }: DoneEvent): Promise<void> | undefined {
    const work = {
      resultRows: this.#count,
      writtenRows: updateCount ?? 0,
      elapsedMs: stats.executionMs,
    };
    if (this.#writer === undefined) return this.#answer.end(work);
    this.#writer.tail(this.#out, stats);
    const due = this.#answer.rows(this.#out.take());
    return due === undefined ? this.#answer.end(work) : due.then(() => this.#answer.end(work));
  }

  async #written(batch: Exclude<Batch, { readonly form: "native" }>) {
    const writer = this.#writer;
    if (writer === undefined) return unknownFormat();
    const columns = columnarOf(batch);
    const refusal = writer.refuses(columns);
    if (refusal !== undefined) return refusal;
    for (let row = 0; row < columns.rows && !this.#answer.over;) {
      row = writer.rows(columns, row, this.#out, pieceBytes);
      await this.#answer.rows(this.#out.take());
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
