/**
 * How far the wall clock ran ahead of the monotonic one since a request was sent. On Linux and macOS the
 * monotonic clock stops while a machine is suspended, so a worker that slept for an hour would trust leases
 * from before. The lead does not say what happened: a clock that somebody set looks the same.
 *
 * When a machine wakes with its wall clock behind as well, no clock of its own shows the pause until somebody
 * sets that one.
 */
import type { Clock } from "../../port/clock.ts";
import { leaseMarginMs } from "./leaseLimits.ts";

/** The wall clock minus the monotonic one at this moment; only differences mean something. */
export function leadOf(clock: Pick<Clock, "nowMs" | "unixMs">): number {
  return clock.unixMs() - clock.nowMs();
}

export class ClockLead {
  readonly #clock: Pick<Clock, "nowMs" | "unixMs">;
  /** The least lead since the requests that brought the held leases: a clock that is set back makes no lease longer. */
  #leastMs = Number.POSITIVE_INFINITY;
  /** The same, counting only requests since the last question about all leases. */
  #sinceAskedMs = Number.POSITIVE_INFINITY;
  /** Each doubt is reported once, until it is resolved. */
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

  /** A question about all leases is sent. Returns the lead to hand to `answered`. */
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
   * True once for each doubt, and when the clock was set back, which may hide a pause. Call it often, so that
   * one doubt does not hide the next.
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
