/**
 * How far the wall clock ran ahead of the monotonic one since a request was sent. The monotonic clock of
 * Linux and macOS stands still while a machine is suspended, so a worker that slept for an hour would
 * believe in leases of an hour ago. It does not say what happened: a clock that was set looks the same.
 *
 * A machine whose wall clock is behind as well when it wakes, until somebody sets it, can not be told by
 * any clock of its own.
 */
import type { Clock } from "../../port/clock.ts";
import { leaseMarginMs } from "./leaseLimits.ts";

/** The wall clock minus the monotonic one at this moment; only differences mean something. */
export function leadOf(clock: Pick<Clock, "nowMs" | "unixMs">): number {
  return clock.unixMs() - clock.nowMs();
}

export class ClockLead {
  readonly #clock: Pick<Clock, "nowMs" | "unixMs">;
  /** Least lead since any request was sent that held leases rest on: a clock that is set back makes no lease longer. */
  #leastMs = Number.POSITIVE_INFINITY;
  /** The same, without the requests before the last question about all of them. */
  #sinceAskedMs = Number.POSITIVE_INFINITY;
  /** A doubt is told of once, until something is known. */
  #told = false;

  constructor(clock: Pick<Clock, "nowMs" | "unixMs">) {
    this.#clock = clock;
  }

  /** No lease is held any more, so earlier requests no longer count. */
  forget(): void {
    this.#leastMs = Number.POSITIVE_INFINITY;
    this.#sinceAskedMs = Number.POSITIVE_INFINITY;
    this.#told = false;
  }

  /** A lease is held whose request was sent with `leadMs`. */
  held(leadMs: number): void {
    this.#leastMs = Math.min(this.#leastMs, leadMs);
    this.#sinceAskedMs = Math.min(this.#sinceAskedMs, leadMs);
  }

  /** A question about all leases is sent. Answers what to say with its answer. */
  asking(): number {
    this.#sinceAskedMs = Number.POSITIVE_INFINITY;
    return leadOf(this.#clock);
  }

  /** The question that was sent with `leadMs` was answered. */
  answered(leadMs: number): void {
    this.#leastMs = Math.min(leadMs, this.#sinceAskedMs);
    this.#told = false;
  }

  /** True when more time may have passed than the monotonic clock says, by more than the margin. */
  get inDoubt(): boolean {
    return leadOf(this.#clock) - this.#leastMs > leaseMarginMs;
  }

  /**
   * True once for each doubt, and when the clock was set back, which may hide a pause. To be asked often, so
   * that it hides no later one.
   */
  noticed(): boolean {
    const leadMs = leadOf(this.#clock);
    const wasSetBack = this.#leastMs - leadMs > leaseMarginMs;
    this.held(leadMs);
    if (!wasSetBack && (!this.inDoubt || this.#told)) return false;
    this.#told = true;
    return true;
  }
}
