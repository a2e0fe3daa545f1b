/** Connections to one server: at most so many, in line when all are at work, closed when idle or tainted. */
import { Held } from "../../connect/held.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Member } from "./member.ts";

export interface PoolOptions {
  readonly size: number;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly connect: () => Promise<Result<Member, GatewayError>>;
}

/** A connection that is held until it is disposed. */
export interface Taken extends Disposable {
  readonly member: Member;
}

interface Idle {
  readonly member: Member;
  readonly sinceMs: number;
}

export class Pool {
  readonly #options: PoolOptions;
  /** The last one was given back last, and is the next to be taken. */
  readonly #idle: Idle[] = [];
  /** Closes the first of them in time; one for all, because most of them are taken again at once. */
  #retiring: Disposable | undefined;
  readonly #members = new Set<Member>();
  readonly #line: (() => void)[] = [];
  #taken = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Waits for a connection. Refuses with `query.cancelled` when the signal comes first, and with why none can be made. */
  async take(signal: AbortSignal): Promise<Result<Taken, GatewayError>> {
    const refused = await this.#entered(signal);
    if (refused !== undefined) return refused;
    for (let one = this.#idle.pop(); one !== undefined; one = this.#idle.pop()) {
      if (one.member.open && one.member.quiet) return ok(this.#held(one.member));
      this.#members.delete(one.member);
      one.member.destroy();
    }
    return await this.#made(this.#options.connect);
  }

  /** The same for a connection that is made for its taker and closed when it is given back. It counts as one of the pool's. */
  async takeOwn(
    connect: PoolOptions["connect"],
    signal: AbortSignal,
  ): Promise<Result<Taken, GatewayError>> {
    const refused = await this.#entered(signal);
    if (refused !== undefined) return refused;
    const taken = await this.#made(connect);
    if (taken.ok) taken.value.member.tainted = true;
    return taken;
  }

  /** Waits for a place. */
  async #entered(signal: AbortSignal): Promise<Result<Taken, GatewayError> | undefined> {
    while (!this.#closed && !signal.aborted && this.#taken >= this.#options.size) {
      await this.#turn(signal);
    }
    if (signal.aborted) return this.#refusal("query.cancelled");
    if (this.#closed) return this.#refusal("cluster.connectFailed");
    this.#taken += 1;
    return undefined;
  }

  async #made(connect: PoolOptions["connect"]): Promise<Result<Taken, GatewayError>> {
    const made = await connect();
    if (!made.ok) {
      this.#leave();
      return made;
    }
    this.#members.add(made.value);
    if (this.#closed) made.value.destroy();
    return ok(this.#held(made.value));
  }

  /** Closes all connections; statements on them fail. */
  close(): void {
    this.#closed = true;
    this.#idle.length = 0;
    this.#retiring?.[Symbol.dispose]();
    for (const member of this.#members) member.destroy();
    this.#members.clear();
    for (const go of this.#line.splice(0)) go();
  }

  #refusal(code: "query.cancelled" | "cluster.connectFailed"): Result<Taken, GatewayError> {
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

  #held(member: Member): Taken {
    return new Held(member, this.#release);
  }

  readonly #release = (member: Member): void => {
    this.#giveBack(member);
    this.#leave();
  };

  #giveBack(member: Member): void {
    if (member.tainted || !member.open || this.#closed) {
      this.#members.delete(member);
      member.destroy();
      return;
    }
    const { clock, idleMs } = this.#options;
    this.#idle.push({ member, sinceMs: clock.nowMs() });
    this.#retiring ??= clock.timer(idleMs, () => this.#retire());
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
      this.#members.delete(first.member);
      first.member.destroy();
    }
  }

  #leave(): void {
    this.#taken -= 1;
    this.#line.shift()?.();
  }
}
