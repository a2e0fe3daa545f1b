/**
 * A statement that runs, from the moment on when its columns are known.
 *
 * The engine is asked for the next batch only when gRPC took the last message but one, so a slow reader stops it,
 * and one that leaves ends it.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { PolledQuery } from "@gateway/core/port/door.ts";
import type { ResultEvent, SessionChange } from "@gateway/core/query/event.ts";
import { err, ok, unreachable, type Result } from "@gateway/core/result.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { ArrowField } from "@gateway/wire/flight/arrowType.ts";
import { Packer } from "../../arrow/packer.ts";
import { fieldOf } from "../value/types.ts";
import { flush, sendBatch, sendSchema, type Sink, type Source } from "./source.ts";

/** How long one wait for an event takes at most; then follows the next one. */
const waitMs = 60_000;
/** How long columns may take that were described before. */
const promptMs = 300;
/** Few rows wait so long for more of them. */
const lingerMs = 5;

export interface StatementParts {
  readonly polled: PolledQuery;
  readonly transaction: string | undefined;
  readonly onChange: (change: SessionChange) => void;
}

/**
 * Waits for the columns of a query. One that fails before, or whose client leaves, is over.
 *
 * An engine may name no columns before it has computed all rows. Where a description said them already, the wait
 * ends after a moment: a client that has an answer can cancel, and some can not before.
 */
export async function statementSource(
  parts: StatementParts,
  signal: AbortSignal,
  described?: readonly Column[],
): Promise<Result<StatementSource, GatewayError>> {
  const reader = new EventReader(parts);
  for (;;) {
    const event = await reader.next(described === undefined ? waitMs : promptMs, signal);
    if (signal.aborted) return reader.left();
    const known = sourceAt(event, parts, reader);
    if (known !== undefined) return known;
    if (event === undefined && described !== undefined) {
      return ok(new StatementSource(parts, described, reader, "described"));
    }
  }
}

/** What the first event of a result makes known: its columns, or how it failed. Undefined as long as there is none. */
export function sourceAt(
  event: RowEvent | undefined,
  parts: StatementParts,
  reader: EventReader,
): Result<StatementSource, GatewayError> | undefined {
  if (event?.kind === "failed") return reader.over(err(event.error));
  if (event?.kind === "columns") return ok(new StatementSource(parts, event.columns, reader));
  if (event?.kind !== "done") return undefined;
  reader.over(ok(undefined));
  return ok(new StatementSource(parts, [], undefined));
}

export class StatementSource implements Source {
  readonly fields: readonly ArrowField[];
  readonly transaction: string | undefined;
  readonly #polled: PolledQuery;
  /** Undefined when the query is over already. */
  readonly #reader: EventReader | undefined;
  /** `described`: the engine itself has not named the columns yet. */
  readonly #columns: "known" | "described";

  constructor(
    { polled, transaction }: StatementParts,
    columns: readonly Column[],
    reader: EventReader | undefined,
    state: "known" | "described" = "known",
  ) {
    this.fields = columns.map(fieldOf);
    this.transaction = transaction;
    this.#polled = polled;
    this.#reader = reader;
    this.#columns = state;
  }

  cancel(reason: GatewayError): void {
    this.#polled.cancel(reason);
  }

  async send(sink: Sink): Promise<Result<void, GatewayError>> {
    const packer = new Packer();
    const reader = this.#reader;
    if (this.#columns === "known") await sendSchema(sink, this.fields);
    if (reader === undefined) return ok(undefined);
    for (;;) {
      if (sink.signal.aborted) return reader.left();
      const event = await reader.next(packer.waits ? lingerMs : waitMs, sink.signal);
      if (sink.signal.aborted) return reader.left();
      switch (event?.kind) {
        case undefined:
          await flush(sink, packer);
          break;
        case "columns":
          await sendSchema(sink, event.columns.map(fieldOf));
          break;
        case "batch":
          await sendBatch(sink, packer, columnarOf(event.batch));
          break;
        case "done":
          await flush(sink, packer);
          return reader.over(ok(undefined));
        case "failed":
          await flush(sink, packer);
          return reader.over(err(event.error));
        default:
          return unreachable(event);
      }
    }
  }
}

/** The events that a result is made of. */
type RowEvent = Extract<ResultEvent, { kind: "columns" | "batch" | "done" | "failed" }>;

/** Reads the events of a query that are its result, and passes on what changes the session. */
export class EventReader {
  readonly #parts: StatementParts;
  #percent: number | undefined;

  constructor(parts: StatementParts) {
    this.#parts = parts;
  }

  /** How much of its work the engine has done, 0 to 100; undefined where it does not say so. */
  get percent(): number | undefined {
    return this.#percent;
  }

  /** Undefined when none came in time, and when the client left. */
  async next(ms: number, signal: AbortSignal): Promise<RowEvent | undefined> {
    const event = await this.#parts.polled.next(ms, signal, (seen) => this.#absorb(seen));
    if (event === undefined) return undefined;
    switch (event.kind) {
      case "columns":
      case "batch":
      case "done":
      case "failed":
        return event;
      case "session":
      case "queued":
      case "progress":
      case "notice":
        this.#absorb(event);
        return undefined;
      default:
        return unreachable(event);
    }
  }

  /** The client is gone. */
  left(): Result<never, GatewayError> {
    const error = gatewayError("query.cancelled");
    this.#parts.polled.cancel(error);
    return this.over(err(error));
  }

  /** The client got no handle to ask again with. */
  over<Value>(answer: Value): Value {
    this.#parts.polled.forget?.();
    return answer;
  }

  #absorb(event: ResultEvent): boolean {
    if (event.kind === "session") this.#parts.onChange(event.change);
    if (event.kind === "progress") this.#percent = event.stats.work?.percent ?? this.#percent;
    return (
      event.kind === "session" ||
      event.kind === "queued" ||
      event.kind === "progress" ||
      event.kind === "notice"
    );
  }
}
