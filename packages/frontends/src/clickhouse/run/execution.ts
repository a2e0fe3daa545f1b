/** Runs one statement and writes what comes of it into its answer. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type {
  ColumnsEvent,
  DoneEvent,
  ResultStream,
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
  readonly events: ResultStream;
  readonly canceller: Canceller;
  /** Undefined where only a ClickHouse server writes the format that was asked for. */
  readonly format: Format | undefined;
  readonly look: FormatLook;
  /** The statement changed its session. */
  readonly changed: (change: SessionChange) => void;
}

/** Resolves when the answer is over and the engine is done. */
export async function execute(execution: Execution): Promise<void> {
  const { answer, events, canceller, changed } = execution;
  const rows = new Rows(execution);
  for await (const event of events) {
    switch (event.kind) {
      case "columns":
        rows.begin(event);
        break;
      case "batch": {
        const refusal = await rows.write(event.batch);
        // Told before the engine says that it was cancelled.
        if (refusal !== undefined) answer.fail(refusal, false);
        // Nobody reads the rest.
        if (answer.over) canceller.abort(refusal ?? gatewayError("query.cancelled"));
        break;
      }
      case "done":
        await rows.end(event);
        break;
      case "failed":
        answer.fail(event.error, rows.relayed && event.error.vendor?.of === "clickHouse");
        break;
      case "session":
        changed(event.change);
        break;
      case "queued":
      case "progress":
      case "notice":
        break;
    }
  }
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
      this.#answer.relays(headersIn(native.bytes));
      return;
    }
    if (this.#format === undefined) return;
    this.#answer.describes(this.#format.name, this.#format.contentType);
    this.#writer = this.#format.writer(columns, this.#look);
    this.#writer.head(this.#out);
  }

  /** The refusal of rows that can not be written. */
  async write(batch: Batch): Promise<GatewayError | undefined> {
    this.#count += batch.rows;
    if (batch.form === "native") {
      await this.#answer.rows(batch.bytes);
      return undefined;
    }
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

  async end({ stats, updateCount }: DoneEvent): Promise<void> {
    this.#writer?.tail(this.#out, stats);
    await this.#answer.rows(this.#out.take());
    await this.#answer.end({
      resultRows: this.#count,
      writtenRows: updateCount ?? 0,
      elapsedMs: stats.executionMs,
    });
  }
}

/** Written by the engine's adapter. */
function headersIn(bytes: Uint8Array): Readonly<Record<string, string>> {
  return JSON.parse(Buffer.from(bytes).toString()) as Record<string, string>;
}

/** A group with a limit of rows has them counted, and so written here. */
function unknownFormat(): GatewayError {
  const message =
    "this format is written by a ClickHouse server only, and the group counts its rows";
  return gatewayError("query.unsupported", { message });
}
