/**
 * Whether the control plane can be reached. It counts as away only after some seconds of silence: one lost
 * message is no reason to start counting slots here.
 */
import type { Host } from "../../port/host.ts";
import type { LeaseFailure } from "./leases.ts";
import { awayAfterMs, retryMs } from "./leaseLimits.ts";
import { pause } from "../../tool/pause.ts";
import type { Stopper } from "../../tool/stopper.ts";

export interface LeaseReachParts {
  readonly host: Pick<Host, "clock" | "log" | "random">;
  /** Ends with the process. */
  readonly stopper: Stopper;
  /** Asks; the answer comes through `reached` or `failed`. */
  readonly ask: () => Promise<unknown>;
  /** It became away, or came back. */
  readonly changed: () => void;
}

export class LeaseReach {
  readonly #parts: LeaseReachParts;
  #silentSinceMs: number | undefined;
  #away = false;
  #waiting: (() => void)[] = [];

  constructor(parts: LeaseReachParts) {
    this.#parts = parts;
  }

  get away(): boolean {
    return this.#away;
  }

  /** Something was answered. */
  reached(): void {
    this.#silentSinceMs = undefined;
    if (!this.#away) return;
    this.#away = false;
    this.#parts.host.log.write("info", "capacity.controlPlaneBack");
    this.#parts.changed();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** The call sent at `sentAtMs` failed. A refusal counts as an answer. */
  failed(failure: LeaseFailure, sentAtMs: number): void {
    if (failure === "refused") return;
    this.#silentSinceMs ??= sentAtMs;
    const { host, changed, stopper } = this.#parts;
    if (this.#away || host.clock.nowMs() - this.#silentSinceMs < awayAfterMs) return;
    this.#away = true;
    host.log.write("warn", "capacity.controlPlaneAway");
    changed();
    if (!stopper.stopped) void this.#askUntilBack();
  }

  /** After a failure: waits a moment, and if the control plane is away until it is back. */
  async again(signal: AbortSignal): Promise<void> {
    await this.#rest(signal);
    if (!this.#away || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.push(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  async #askUntilBack(): Promise<void> {
    const { stopper, ask } = this.#parts;
    using stopping = stopper.wait();
    while (this.#away && !stopper.stopped) {
      await this.#rest(stopping.signal);
      if (this.#away && !stopper.stopped) await ask();
    }
  }

  #rest(signal: AbortSignal): Promise<void> {
    const { host } = this.#parts;
    return pause(host.clock, retryMs * (0.5 + host.random() / 2), signal);
  }
}
