/**
 * Workers that count alone. Each applies the caps to itself, so with several of them the engines get as
 * many times the load: worth a line in the log, once for as long as it lasts.
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

  /** Takes note of a heartbeat. A worker of before the field says nothing and counts as one of the fleet. */
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
