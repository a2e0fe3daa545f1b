/**
 * Workers that count alone. Each applies the caps to itself, so several of them load the engines as
 * many times over: worth one line in the log for as long as it lasts.
 */
import type { Log } from "@gateway/core/port/log.ts";

/** A worker that was not heard for this long counts no more. */
const silentMsMax = 60_000;

export class LocalWorkers {
  readonly #log: Log;
  /** Unix milliseconds of the last heartbeat, by instance. */
  readonly #seen = new Map<string, number>();
  #warned = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Notes a heartbeat. A worker older than the field does not send it, and counts as one of the fleet. */
  heard(instanceId: string, mode: "controlPlane" | "local" | undefined, nowMs: number): void {
    if (mode === "local") this.#seen.set(instanceId, nowMs);
    else this.#seen.delete(instanceId);
    for (const [instance, seenMs] of this.#seen) {
      if (nowMs - seenMs > silentMsMax) this.#seen.delete(instance);
    }
    const several = this.#seen.size >= 2;
    if (several && !this.#warned) {
      this.#log.write("warn", "capacity.countedAlone", { workers: this.#seen.size });
    }
    this.#warned = several;
  }
}
