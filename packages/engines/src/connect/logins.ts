/**
 * Logins at a server that may have no place for one more: whoever needs a connection then waits for one that comes to
 * rest, or until a login is taken again.
 *
 * While a server is full there is one login at a time, later and later: everybody's at once would keep it busy with
 * refusing them, and take the places of those that it still answers.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, type Result } from "@gateway/core/result.ts";

/** Why there is no connection. `full`: the server takes nobody more, and may again soon. */
export interface Refused {
  readonly error: GatewayError;
  readonly full: boolean;
}

/** Opens a connection. */
export type Connect<Connection> = () => Promise<Result<Connection, Refused>>;

const firstDelayMs = 50;
const delayMaxMs = 2_000;

export class Logins {
  readonly #clock: Clock;
  readonly #randomBytes: Host["randomBytes"];
  readonly #waitMs: number;
  /** Those that wait, in their order; each with what wakes it. The first one tries. */
  readonly #line: { wake: () => void }[] = [];
  #full = false;
  #delayMs = firstDelayMs;
  /** Before this nobody tries. */
  #nextMs = 0;
  #closed = false;

  /** `waitMs`: how long a connection is waited for at most, from the first refusal. */
  constructor({ clock, randomBytes }: Pick<Host, "clock" | "randomBytes">, waitMs: number) {
    this.#clock = clock;
    this.#randomBytes = randomBytes;
    this.#waitMs = waitMs;
  }

  /** The server's last word was that it is full. */
  get full(): boolean {
    return this.#full;
  }

  /** Somebody waits for a place. */
  get crowded(): boolean {
    return this.#line.length > 0;
  }

  /**
   * Logs in, or waits while the server is full; `resting` is one of the connections that are there already.
   * `query.cancelled` when the signal comes first, the refusal of the last login when the wait is over.
   */
  async make<Connection>(
    connect: Connect<Connection>,
    resting: () => Connection | undefined,
    signal: AbortSignal,
  ): Promise<Result<Connection, GatewayError>> {
    if (this.#full) return await this.#wait(connect, { resting, refused: undefined }, signal);
    const made = await connect();
    if (made.ok) return made;
    if (!made.error.full) return err(made.error.error);
    // Of several that were refused together the first says it.
    if (!this.#full) this.#later();
    return await this.#wait(connect, { resting, refused: made.error.error }, signal);
  }

  /** A connection came to rest, or a place at the server became free: those that wait look at once. */
  freed(): void {
    if (this.#line.length === 0) return;
    this.#nextMs = 0;
    for (const { wake } of this.#line) wake();
  }

  /** Nobody waits any more. */
  close(): void {
    this.#closed = true;
    this.freed();
  }

  async #wait<Connection>(
    connect: Connect<Connection>,
    waiting: {
      readonly resting: () => Connection | undefined;
      readonly refused: GatewayError | undefined;
    },
    signal: AbortSignal,
  ): Promise<Result<Connection, GatewayError>> {
    const endMs = this.#clock.nowMs() + this.#waitMs;
    const turn = { wake: nothing };
    this.#line.push(turn);
    let { refused } = waiting;
    try {
      for (;;) {
        if (signal.aborted) return err(gatewayError("query.cancelled"));
        const rests = waiting.resting();
        if (rests !== undefined) return { ok: true, value: rests };
        const leftMs = endMs - this.#clock.nowMs();
        if (leftMs <= 0 || this.#closed) return err(refused ?? noPlace);
        const first = this.#line[0] === turn;
        const dueMs = this.#nextMs - this.#clock.nowMs();
        if (!first || dueMs > 0) {
          await this.#pause(turn, first ? Math.min(dueMs, leftMs) : leftMs, signal);
          continue;
        }
        const made = await connect();
        if (made.ok) {
          [this.#full, this.#delayMs, this.#nextMs] = [false, firstDelayMs, 0];
          return made;
        }
        refused = made.error.error;
        if (!made.error.full) return err(refused);
        this.#later();
      }
    } finally {
      this.#line.splice(this.#line.indexOf(turn), 1);
      this.#line[0]?.wake();
    }
  }

  /** The next try comes later than the last one did, and not with that of another gateway. */
  #later(): void {
    this.#full = true;
    const share = 0.5 + (this.#randomBytes(1)[0] ?? 0) / 512;
    this.#nextMs = this.#clock.nowMs() + this.#delayMs * share;
    this.#delayMs = Math.min(delayMaxMs, this.#delayMs * 2);
  }

  #pause(turn: { wake: () => void }, delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        timer[Symbol.dispose]();
        signal.removeEventListener("abort", settle);
        turn.wake = nothing;
        resolve();
      };
      const timer = this.#clock.timer(delayMs, settle);
      signal.addEventListener("abort", settle, { once: true });
      turn.wake = settle;
    });
  }
}

const noPlace: GatewayError = gatewayError("cluster.connectFailed", {
  detail: "the server has no place for one more connection",
});

function nothing(): void {}
