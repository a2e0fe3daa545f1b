/** Connections to one cluster: at most so many, in line when all are at work, cleaned behind a session, closed when idle. */
import { Held } from "../../connect/held.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Connect, Logins } from "../../connect/logins.ts";
import { ask } from "./ask.ts";
import type { Member } from "./member.ts";

export interface PoolOptions {
  readonly size: number;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly connect: Connect<Member>;
  /** Those of all pools at these servers. */
  readonly logins: Logins;
  /** Those that come first: what rests here gives its place at the server up when one of them waits for one. */
  readonly before?: Logins;
}

/** A connection that is held until it is disposed. */
export interface Taken extends Disposable {
  readonly member: Member;
  /** Gives it back, as its disposal does. */
  leave(): void;
}

interface Idle {
  readonly member: Member;
  readonly sinceMs: number;
}

/** How long a cleaning may take. */
const cleaningMs = 5_000;

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

  /**
   * Waits for a connection; for one that keeps nothing of another user's prepared, where one is at rest. Refuses with `query.cancelled` when the signal comes first, and with why none
   * can be made.
   */
  async take(signal: AbortSignal, user?: string): Promise<Result<Taken, GatewayError>> {
    const refused = await this.#entered(signal);
    if (refused !== undefined) return refused;
    const member = this.#resting(user);
    if (member !== undefined) return ok(this.#held(member));
    return await this.#made(this.#options.connect, () => this.#resting(user), signal);
  }

  /** The same where one is at rest and nobody has to wait; undefined otherwise. */
  takeNow(signal: AbortSignal, user?: string): Taken | undefined {
    if (this.#closed || signal.aborted || this.#taken >= this.#options.size) return undefined;
    const member = this.#resting(user);
    if (member === undefined) return undefined;
    this.#taken += 1;
    return this.#held(member);
  }

  #resting(user: string | undefined): Member | undefined {
    for (let one = this.#next(user); one !== undefined; one = this.#next(user)) {
      const { member } = one;
      if (member.open && member.quiet) return member;
      this.#members.delete(member);
      member.destroy();
    }
    return undefined;
  }

  #next(user: string | undefined): Idle | undefined {
    const last = this.#idle.at(-1)?.member.prepared.user;
    if (last === undefined || last === user) return this.#idle.pop();
    const at = this.#idle.findLastIndex(
      ({ member: { prepared } }) => prepared.user === undefined || prepared.user === user,
    );
    return at < 0 ? this.#idle.pop() : this.#idle.splice(at, 1)[0];
  }

  /** The same for a connection that is made for its taker and closed when it is given back. It counts as one of the pool's. */
  async takeOwn(
    connect: PoolOptions["connect"],
    signal: AbortSignal,
  ): Promise<Result<Taken, GatewayError>> {
    const refused = await this.#entered(signal);
    if (refused !== undefined) return refused;
    const taken = await this.#made(connect, () => undefined, signal);
    if (taken.ok) taken.value.member.tainted = true;
    return taken;
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

  async #made(
    connect: PoolOptions["connect"],
    resting: () => Member | undefined,
    signal: AbortSignal,
  ): Promise<Result<Taken, GatewayError>> {
    const made = await this.#options.logins.make(connect, resting, signal);
    if (!made.ok) {
      this.#leave();
      return made;
    }
    this.#members.add(made.value);
    if (this.#closed) made.value.destroy();
    return ok(this.#held(made.value));
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
  };

  /** The next taker waits for a cleaning, not the client whose statement is done. */
  #giveBack(member: Member): void {
    if (member.used && this.#isSound(member)) {
      void this.#clean(member).then(() => this.#givenBack(member));
    } else this.#givenBack(member);
  }

  #givenBack(member: Member): void {
    const others = this.#options.before;
    if (this.#isSound(member) && others?.crowded !== true) this.#rest(member);
    else {
      this.#members.delete(member);
      member.destroy();
    }
    this.#options.logins.freed();
    others?.freed();
    this.#leave();
  }

  #isSound(member: Member): boolean {
    return !member.tainted && member.open && !this.#closed && member.status === "I" && member.quiet;
  }

  /** Nothing of a session is left behind it: settings, temporary tables, locks, prepared statements, notifications. */
  async #clean(member: Member): Promise<void> {
    const limit = new AbortController();
    using _timer = this.#options.clock.timer(cleaningMs, () => limit.abort());
    const done = await ask(member, "DISCARD ALL", limit.signal);
    if (!done.ok) member.tainted = true;
    member.used = false;
    member.settings.clear();
    member.limitMs = undefined;
    member.settled = false;
    member.prepared.clear();
    member.sequences = { own: false, others: false };
  }

  #rest(member: Member): void {
    const { own, others } = member.sequences;
    if (own) member.sequences = { own: false, others: own || others };
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
