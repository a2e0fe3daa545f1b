/**
 * Whose turn it is at one mirror, which answers one statement at a time. Users are served in turn, so that one
 * user's many statements do not stand before another's single one.
 *
 * A statement that is ended at its time limit costs all others that time and the start of a new thread. For a
 * while its user comes after all users who sent none, and may have only few statements that wait.
 */
import { FairQueue, type Ticket } from "@gateway/core/capacity/queue/fairQueue.ts";
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";

/**
 * Places in the line, and how many of them one user takes at most. A user's further statements wait behind its
 * own and take no place: nobody else is refused for them, however many connection pools start at once.
 */
const placesMax = 64;
const placesOfUserMax = 2;
/** Statements of one user that may wait, with a place or behind their own. */
const waitingOfUserMax = 64;
/** The same for a user whose statement was ended lately. */
const waitingOfLateMax = 2;
/** For how long a user is late after a statement was ended. */
const lateMs = 30_000;

/** The right to ask the mirror, until `end`. `late`: the statement hit its time limit, and its thread was ended. */
export interface Turn {
  end(late: boolean): void;
}

/** Undefined once no more turns are given. */
export type Taken = Result<Turn | undefined, GatewayError>;

interface Waiter {
  readonly user: string;
  readonly answer: (taken: Taken) => void;
}

export class Turns {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #queue = new FairQueue<Waiter>();
  /** Oldest first. */
  readonly #waiting = new Set<Ticket<Waiter>>();
  /** Until when a user is late. */
  readonly #late = new Map<string, number>();
  #taken = false;
  #closed: (() => void)[] | undefined;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Statements that have their turn or wait for it. */
  get busy(): number {
    return this.#waiting.size + (this.#taken ? 1 : 0);
  }

  /** Waits for a turn. Refused where too many wait, and with the signal's reason when it is aborted. */
  take(user: string, signal: AbortSignal): Promise<Taken> {
    if (signal.aborted) return Promise.resolve(err(abortError(signal)));
    if (this.#closed !== undefined) return Promise.resolve(ok(undefined));
    if (!this.#taken) return Promise.resolve(ok(this.#begin(user)));
    const users = [...this.#waiting].map(({ item }) => item.user);
    const refusal = waitingRefusal(users, user, this.#isLate(user));
    if (refusal !== undefined) return Promise.resolve(err(refusal));
    return new Promise((resolve) => {
      const leave = (): void => this.#answer(ticket, err(abortError(signal)));
      const answer = (taken: Taken): void => {
        signal.removeEventListener("abort", leave);
        resolve(taken);
      };
      const ticket = this.#queue.add({ user, answer }, traitsOf(user));
      this.#waiting.add(ticket);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Gives no more turns, and tells those who wait. Resolves when the last turn has ended. */
  close(): Promise<void> {
    const closed = (this.#closed ??= []);
    for (const ticket of this.#waiting) this.#answer(ticket, ok(undefined));
    if (!this.#taken) return Promise.resolve();
    return new Promise((resolve) => closed.push(resolve));
  }

  #begin(user: string): Turn {
    this.#taken = true;
    let ended = false;
    return {
      end: (late) => {
        if (ended) return;
        ended = true;
        this.#taken = false;
        if (late) this.#wasLate(user);
        for (const resolve of this.#closed ?? []) resolve();
        this.#giveNext();
      },
    };
  }

  #giveNext(): void {
    for (const ticket of this.#waiting) {
      this.#queue.move(ticket, this.#isLate(ticket.item.user) ? "late" : "quick");
    }
    const next =
      this.#queue.next(0, ({ subqueue }) => subqueue === "quick") ??
      this.#queue.next(0, () => true);
    if (next === undefined) return;
    this.#queue.grant(next);
    this.#answer(next, ok(this.#begin(next.item.user)));
  }

  #answer(ticket: Ticket<Waiter>, taken: Taken): void {
    this.#queue.remove(ticket);
    this.#waiting.delete(ticket);
    ticket.item.answer(taken);
  }

  #wasLate(user: string): void {
    const nowMs = this.#clock.nowMs();
    for (const [one, untilMs] of this.#late) if (untilMs <= nowMs) this.#late.delete(one);
    this.#late.set(user, nowMs + lateMs);
    const tooMany = this.#ownOf(user).slice(waitingOfLateMax);
    for (const ticket of tooMany) this.#answer(ticket, err(ownRefusal(waitingOfLateMax)));
  }

  #isLate(user: string): boolean {
    return (this.#late.get(user) ?? Number.NEGATIVE_INFINITY) > this.#clock.nowMs();
  }

  #ownOf(user: string): readonly Ticket<Waiter>[] {
    return [...this.#waiting].filter(({ item }) => item.user === user);
  }
}

/** Why one more statement of `user` may not wait; `waiting` names the user of each that does. */
export function waitingRefusal(
  waiting: readonly string[],
  user: string,
  late = false,
): GatewayError | undefined {
  const counts = new Map<string, number>();
  for (const one of waiting) counts.set(one, (counts.get(one) ?? 0) + 1);
  const own = counts.get(user) ?? 0;
  const ownMax = late ? waitingOfLateMax : waitingOfUserMax;
  if (own >= ownMax) return ownRefusal(ownMax);
  let places = 0;
  for (const count of counts.values()) places += Math.min(count, placesOfUserMax);
  if (own >= placesOfUserMax || places < placesMax) return undefined;
  const message = "too many catalog statements wait for their turn";
  return gatewayError("capacity.queueFull", { message });
}

function ownRefusal(most: number): GatewayError {
  const message = `too many catalog statements of this user wait for their turn: at most ${most} may`;
  const hint =
    most === waitingOfLateMax
      ? "A statement of this user over the catalogs was ended at its time limit; more may wait half a minute later."
      : "Send fewer at once.";
  return gatewayError("capacity.queueFull", { message, hint });
}

function traitsOf(user: string) {
  return { subqueue: "quick", group: "", weight: 1, user, urgentAtMs: Number.POSITIVE_INFINITY };
}
