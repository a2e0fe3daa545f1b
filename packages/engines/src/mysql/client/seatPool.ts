/**
 * The seats of a cluster: at most so many, in line when all are taken, each with what its client's login asked for.
 * A seat on which something may be left is cleaned before the next one has it.
 *
 * Who waits in line holds a slot, and a session that keeps its seat needs one for its next statement. So the line has
 * to move: one place is never kept where there are two, and where all are, nobody waits for long.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Session } from "@gateway/core/query/query.ts";
import type { Connect, Logins } from "../../connect/logins.ts";
import type { Seat } from "./seat.ts";

export interface SeatPoolOptions {
  readonly size: number;
  /** Sessions that may keep a seat at once. */
  readonly keptMax: number;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly logins: Logins;
}

interface Idle {
  readonly seat: Seat;
  readonly sinceMs: number;
}

/** How long a statement waits for a place while sessions keep them all. */
const allKeptMs = 5_000;

const tooManyKept = gatewayError("capacity.queueFull", {
  message: "sessions keep as many of the cluster's connections as may be kept",
});

export class SeatPool {
  readonly #options: SeatPoolOptions;
  /** The last one was given back last, and is the next to be taken. */
  readonly #idle: Idle[] = [];
  readonly #seats = new Set<Seat>();
  readonly #line: (() => void)[] = [];
  #retiring: Disposable | undefined;
  /** Places that are taken: of seats at work, and of those being made or cleaned. */
  #taken = 0;
  /** Those of them that sessions keep. */
  #kept = 0;
  #closed = false;

  constructor(options: SeatPoolOptions) {
    this.#options = options;
  }

  /** Waits for a seat of this key. `query.cancelled` when the signal comes first; otherwise why none can be made. */
  async take(
    key: string | undefined,
    make: Connect<Seat>,
    signal: AbortSignal,
  ): Promise<Result<Seat, GatewayError>> {
    while (!this.#closed && !signal.aborted && this.#taken >= this.#options.size)
      if (!(await this.#turn(signal))) return this.#refusal(tooManyKept);
    if (signal.aborted) return this.#refusal(gatewayError("query.cancelled"));
    if (this.#closed) return this.#refusal(gatewayError("cluster.connectFailed"));
    this.#taken += 1;
    const found = key === undefined ? undefined : this.#idleOf(key);
    if (found !== undefined) return ok(found);
    this.#makeRoom();
    const resting = () => (key === undefined ? undefined : this.#idleOf(key)) ?? this.#giveWay();
    const made = await this.#options.logins.make(make, resting, signal);
    if (!made.ok) {
      this.#leave();
      return made;
    }
    this.#seats.add(made.value);
    if (this.#closed) made.value.member.destroy();
    return made;
  }

  /** The seat of this key that was given back last, if there is a place, it stands there and nothing has to be waited for. */
  takenNow(key: string, session: Session, database: string | undefined): Seat | undefined {
    if (this.#closed || this.#taken >= this.#options.size) return undefined;
    const seat = this.#idle[this.#idle.length - 1]?.seat;
    if (seat?.key !== key || !seat.member.open || !seat.member.quiet) return undefined;
    if (!seat.stands(session, database)) return undefined;
    this.#idle.pop();
    this.#taken += 1;
    return seat;
  }

  /** True while who asks would have to wait in line. */
  get full(): boolean {
    return this.#taken >= this.#options.size;
  }

  /** Leaves a seat to its session until it is given back. The error where no more may be kept. */
  keep(seat: Seat): GatewayError | undefined {
    if (seat.kept) return undefined;
    if (this.#kept >= this.#options.keptMax) return tooManyKept;
    this.#kept += 1;
    seat.kept = true;
    return undefined;
  }

  /** Takes a seat back, cleaned where it has to be. Its place is free when that is done: at once where it is clean. */
  giveBack(seat: Seat): Promise<void> | undefined {
    if (seat.kept) this.#kept -= 1;
    seat.kept = false;
    const rests = !seat.busy && seat.waiting === 0;
    const usable = !this.#closed && seat.key !== undefined && rests && seat.member.open;
    if (!usable || seat.clean) {
      this.#givenBack(seat, usable);
      return undefined;
    }
    return seat.cleaned(this.#options.clock).then((fit) => this.#givenBack(seat, fit));
  }

  #givenBack(seat: Seat, fit: boolean): void {
    const { clock, idleMs } = this.#options;
    if (!fit || this.#closed) {
      this.#drop(seat);
    } else {
      this.#idle.push({ seat, sinceMs: clock.nowMs() });
      this.#retiring ??= clock.timer(idleMs, () => this.#retire());
      this.#options.logins.freed();
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

  /** The server is full: one at rest that can not be used here has its place there. */
  #giveWay(): undefined {
    const first = this.#idle.shift();
    if (first !== undefined) this.#drop(first.seat);
  }

  #drop(seat: Seat): void {
    this.#seats.delete(seat);
    seat.member.destroy();
    this.#options.logins.freed();
  }

  #refusal(error: GatewayError): Result<Seat, GatewayError> {
    // Whoever is next in line was woken for nothing.
    this.#line.shift()?.();
    return err(error);
  }

  /** Waits in line. False when sessions keep all places, and did for as long as may be waited. */
  #turn(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      let keptBefore = this.#allKept;
      let limit: Disposable | undefined;
      const settle = (moved: boolean): void => {
        signal.removeEventListener("abort", go);
        limit?.[Symbol.dispose]();
        const at = this.#line.indexOf(go);
        if (at >= 0) this.#line.splice(at, 1);
        resolve(moved);
      };
      const go = (): void => settle(true);
      const look = (): void => {
        if (keptBefore && this.#allKept) return settle(false);
        keptBefore = this.#allKept;
        limit = clock.timer(allKeptMs, look);
      };
      limit = clock.timer(allKeptMs, look);
      signal.addEventListener("abort", go, { once: true });
      this.#line.push(go);
    });
  }

  get #allKept(): boolean {
    return this.#kept >= this.#options.size;
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
