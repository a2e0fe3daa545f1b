/**
 * Who goes down the line to an engine: a query with its record (lifecycle.ts), or a question about one, which
 * takes a slot like a query and leaves no record.
 */
import type { RoutingStep } from "@gateway/contract/record.ts";
import { abortError, gatewayError, type GatewayError } from "../../error.ts";
import type { Clock } from "../../port/clock.ts";
import type { AdmitRequest, Capacity } from "../../port/capacity.ts";
import type { Queued } from "../../query/event.ts";
import type { Identified, Query, QueryLimits, Routed } from "../../query/query.ts";
import type { Slot } from "../../query/slot.ts";
import type { PolicyLog } from "../../guard/told.ts";
import { err, ok, type Result } from "../../result.ts";
import type { Generation } from "../../snapshot/generation.ts";
import { abortedWith, Canceller } from "../../tool/canceller.ts";
import type { DataPlane } from "./plane.ts";

/** What a question needs of the data plane. */
type Asked = Pick<DataPlane, "behind" | "capacity" | "host">;

export type Admission = AsyncGenerator<Queued, Result<Slot, GatewayError>, void>;

/** What each step of the line tells it and asks of it. */
export interface Underway extends PolicyLog {
  readonly query: Query;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly trace: RoutingStep[];
  cancel(reason: GatewayError): void;
  /** The generation it is judged by. */
  holds(revision: string): void;
  routed(query: Routed): void;
  /** A slot, when one is free; undefined otherwise. */
  slotNow(request: AdmitRequest): Result<Slot, GatewayError> | undefined;
  slotLater(request: AdmitRequest): Admission;
  /** Counts it as running on the cluster, until disposed. */
  running(cluster: string, generation: Generation, limits: QueryLimits): Disposable;
  /** What the engine is given, and as whom. */
  identified(query: Identified): void;
  /** The client has been told the end, but the engine still runs it until `ended` resolves. */
  remains(ended: Promise<void>): void;
}

/**
 * A question about a query: its parameters and columns, or the tables of the group where it would go. An engine
 * plans for the answer as it does for a query, so the group's time limit holds once there is a slot.
 */
export class Unrecorded implements Underway, Disposable {
  readonly query: Query;
  readonly trace: RoutingStep[] = [];
  readonly #behind: Asked["behind"];
  readonly #capacity: Capacity;
  readonly #clock: Clock;
  readonly #canceller = new Canceller();
  readonly #client: Disposable;
  #limit: Disposable | undefined;

  constructor(query: Query, { behind, capacity, host }: Asked, client: AbortSignal) {
    this.query = query;
    this.#behind = behind;
    this.#capacity = capacity;
    this.#clock = host.clock;
    this.#client = abortedWith(client, this.#canceller);
  }

  get signal(): AbortSignal {
    return this.#canceller.signal;
  }

  cancel(reason: GatewayError): void {
    this.#canceller.abort(reason);
  }

  holds(): void {}

  routed(): void {}

  acted(): void {}

  slotNow(request: AdmitRequest): Result<Slot, GatewayError> | undefined {
    if (this.signal.aborted) return err(abortError(this.signal));
    // As a query does.
    this.#behind?.run();
    const slot = this.#capacity.admitNow(request);
    return slot === undefined ? undefined : ok(slot);
  }

  slotLater(request: AdmitRequest): Admission {
    return this.#capacity.admit(request, this.signal);
  }

  /** Called again by a second attempt, which shares the first one's limit. */
  running(_cluster: string, _generation: Generation, { maxExecutionMs }: QueryLimits): Disposable {
    if (maxExecutionMs !== undefined) {
      this.#limit ??= this.#clock.timer(maxExecutionMs, () =>
        this.cancel(gatewayError("query.timeout")),
      );
    }
    return unlisted;
  }

  identified(): void {}

  remains(): void {}

  [Symbol.dispose](): void {
    this.#limit?.[Symbol.dispose]();
    this.#client[Symbol.dispose]();
  }
}

const unlisted: Disposable = { [Symbol.dispose]: () => {} };
