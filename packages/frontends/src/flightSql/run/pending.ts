/**
 * A statement whose client polls until its columns are known, and then reads its rows as of any other. Unlike a client
 * that waits for an answer, one that polls may leave: what it does not ask for in time is ended by its ticket.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { ArrowField } from "@gateway/wire/flight/arrowType.ts";
import type { Sink, Source } from "./source.ts";
import {
  EventReader,
  sourceAt,
  type StatementParts,
  type StatementSource,
} from "./statementSource.ts";

/** How long a reader of rows waits at a time for the columns. */
const waitMs = 60_000;

type Polled = Result<StatementSource | undefined, GatewayError>;

export class PendingStatement implements Source {
  readonly transaction: string | undefined;
  readonly #parts: StatementParts;
  readonly #reader: EventReader;
  /** Never aborted: a poll whose client hangs up is repeated. */
  readonly #patient = new AbortController().signal;
  #known: Result<StatementSource, GatewayError> | undefined;
  /** The query is asked once at a time, however many ask for it. */
  #asking: Promise<Polled> | undefined;

  constructor(parts: StatementParts) {
    this.transaction = parts.transaction;
    this.#parts = parts;
    this.#reader = new EventReader(parts);
  }

  /** None before they are known. */
  get fields(): readonly ArrowField[] {
    return this.#known?.ok === true ? this.#known.value.fields : [];
  }

  /** How much of its work is done, 0 to 100, where the engine says so. */
  get percent(): number | undefined {
    return this.#reader.percent;
  }

  cancel(reason: GatewayError): void {
    this.#parts.polled.cancel(reason);
  }

  /** Waits for the columns, for `ms` at most: the source of the rows, undefined where it takes longer, or how the query failed. */
  poll(ms: number): Promise<Polled> {
    this.#asking ??= this.#ask(ms);
    return this.#asking;
  }

  async #ask(ms: number): Promise<Polled> {
    try {
      this.#known ??= sourceAt(
        await this.#reader.next(ms, this.#patient),
        this.#parts,
        this.#reader,
      );
      return this.#known ?? ok(undefined);
    } finally {
      this.#asking = undefined;
    }
  }

  /** A reader that leaves ends the query, also one that came before the columns. */
  async send(sink: Sink): Promise<Result<void, GatewayError>> {
    const leave = (): void => this.cancel(gatewayError("query.cancelled"));
    sink.signal.addEventListener("abort", leave, { once: true });
    try {
      for (;;) {
        if (sink.signal.aborted) return this.#reader.left();
        const polled = await this.poll(waitMs);
        if (!polled.ok) return polled;
        if (polled.value !== undefined) return await polled.value.send(sink);
      }
    } finally {
      sink.signal.removeEventListener("abort", leave);
    }
  }
}
