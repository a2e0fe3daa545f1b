/**
 * The seats of a cluster: at most so many, in line when all are taken, each with what its client's login asked for.
 * A seat on which something may be left is cleaned before the next one has it.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Seat } from "./seat.ts";

export interface SeatPoolOptions {
  readonly size: number;
  readonly idleMs: number;
  readonly clock: Clock;
}

interface Idle {
  readonly seat: Seat;
  readonly sinceMs: number;
}

export class SeatPool {
  readonly #options: SeatPoolOptions;
  /** The last one was given back last, and is the next to be taken. */
  readonly #idle: Idle[] = [];
  readonly #seats = new Set<Seat>();
  readonly #line: (() => void)[] = [];
  #retiring: Disposable | undefined;
  /** Places that are taken: of seats at work, and of those being made or cleaned. */
  #taken = 0;
  #closed = false;

  constructor(options: SeatPoolOptions) {
    this.#options = options;
  }

  /** Waits for a seat of this key. `query.cancelled` when the signal comes first; otherwise why none can be made. */
  async take(
    key: string | undefined,
    make: () => Promise<Result<Seat, GatewayError>>,
    signal: AbortSignal,
  ): Promise<Result<Seat, GatewayError>> {
    while (!this.#closed && !signal.aborted && this.#taken >= this.#options.size)
      await this.#turn(signal);
    if (signal.aborted) return this.#refusal("query.cancelled");
    if (this.#closed) return this.#refusal("cluster.connectFailed");
    this.#taken += 1;
    const found = key === undefined ? undefined : this.#idleOf(key);
    if (found !== undefined) return ok(found);
    this.#makeRoom();
    const made = await make();
    if (!made.ok) {
      this.#leave();
      return made;
    }
    this.#seats.add(made.value);
    if (this.#closed) made.value.member.destroy();
    return made;
  }

  /** Takes a seat back, cleaned where it has to be. Its place is free when that is done. */
  async giveBack(seat: Seat): Promise<void> {
    const { clock, idleMs } = this.#options;
    seat.kept = false;
    const usable = !this.#closed && seat.key !== undefined && !seat.busy && seat.member.open;
    const fit = usable && (seat.clean || (await seat.cleaned(clock)));
    if (!fit || this.#closed) {
      this.#drop(seat);
    } else {
      this.#idle.push({ seat, sinceMs: clock.nowMs() });
      this.#retiring ??= clock.timer(idleMs, () => this.#retire());
    }
    this.#leave();
  }

  /** Closes all of them; statements on them fail. */
  close(): void {
    this.#closed = true;
    this.#idle.length = 0;
    this.#retiring?.[Symbol.dispose]();
    for (const seat of this.#seats) seat.member.destroy();
    this.#seats.clear();
    for (const go of this.#line.splice(0)) go();
  }

  #idleOf(key: string): Seat | undefined {
    for (let at = this.#idle.length - 1; at >= 0; at -= 1) {
      const seat = this.#idle[at]?.seat;
      if (seat?.key !== key) continue;
      this.#idle.splice(at, 1);
      if (seat.member.open && seat.member.quiet) return seat;
      this.#drop(seat);
    }
    return undefined;
  }

  /** A connection at rest of another key makes room: the server counts them all. */
  #makeRoom(): void {
    while (this.#idle.length > 0 && this.#idle.length + this.#taken > this.#options.size) {
      const first = this.#idle.shift();
      if (first !== undefined) this.#drop(first.seat);
    }
  }

  #drop(seat: Seat): void {
    this.#seats.delete(seat);
    seat.member.destroy();
  }

  #refusal(code: "query.cancelled" | "cluster.connectFailed"): Result<Seat, GatewayError> {
    // Whoever is next in line was woken for nothing.
    this.#line.shift()?.();
    return err(gatewayError(code));
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        signal.removeEventListener("abort", go);
        const at = this.#line.indexOf(go);
        if (at >= 0) this.#line.splice(at, 1);
        resolve();
      };
      signal.addEventListener("abort", go, { once: true });
      this.#line.push(go);
    });
  }

  /** Closes those that were idle for long enough. */
  #retire(): void {
    this.#retiring = undefined;
    const { clock, idleMs } = this.#options;
    const nowMs = clock.nowMs();
    for (let [first] = this.#idle; first !== undefined; [first] = this.#idle) {
      const leftMs = first.sinceMs + idleMs - nowMs;
      if (leftMs > 0) {
        this.#retiring = clock.timer(leftMs, () => this.#retire());
        return;
      }
      this.#idle.shift();
      this.#drop(first.seat);
    }
  }

  #leave(): void {
    this.#taken -= 1;
    this.#line.shift()?.();
  }
}
