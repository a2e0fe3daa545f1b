/**
 * Ends requests whose bytes stop coming. One timer serves all requests to a server, because a timer for each
 * would cost more than the rest of its bookkeeping.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import { Members, type Membership } from "@gateway/core/tool/members.ts";

/** How often the timer looks in the time that makes silence a stall. */
const looks = 4;

/** A request that is watched. */
export interface Watched {
  /** Bytes that came so far. */
  readonly bytes: number;
  /** Called when none came for the whole time. */
  stalled(): void;
}

interface Silence {
  readonly one: Watched;
  bytes: number;
  looks: number;
}

/** What is watched, for whoever ends it. */
export type Watching = Membership<Silence>;

export class StallWatch {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #watched = new Members<Silence>();
  #timer: Disposable | undefined;

  /** Silence of `stallMs` is a stall; it is told a quarter of that later at most. */
  constructor(clock: Clock, stallMs: number) {
    this.#clock = clock;
    this.#everyMs = stallMs / looks;
  }

  add(one: Watched): Watching {
    this.#timer ??= this.#clock.timer(this.#everyMs, this.#look);
    return this.#watched.add({ one, bytes: one.bytes, looks: 0 });
  }

  remove(watching: Watching): void {
    this.#watched.remove(watching);
  }

  /** Stops watching. */
  close(): void {
    this.#timer?.[Symbol.dispose]();
  }

  /** Sets the timer again while anything is watched. */
  readonly #look = (): void => {
    const stalled: Watched[] = [];
    for (const silence of this.#watched.values()) {
      const { one } = silence;
      silence.looks = one.bytes === silence.bytes ? silence.looks + 1 : 0;
      silence.bytes = one.bytes;
      // The first look may come right behind the last byte.
      if (silence.looks > looks) stalled.push(one);
    }
    for (const one of stalled) one.stalled();
    const more = this.#watched.size > 0;
    this.#timer = more ? this.#clock.timer(this.#everyMs, this.#look) : undefined;
  };
}
