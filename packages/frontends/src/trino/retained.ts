/**
 * Bounds the rows that are kept for clients that may ask again.
 *
 * A statement keeps its last answer, because a client that lost it repeats the poll, and one built
 * ahead. What finished statements keep is given up first and oldest first; building ahead stops while
 * the limit is reached, which leaves one answer per unfinished statement, and those hold slots.
 */

/** What is asked of a statement. */
export interface Retaining {
  readonly retainedBytes: number;
  /** Only repeated polls would ask for what it keeps. */
  readonly over: boolean;
  release(): void;
}

export interface RetainedLimits {
  readonly bytesMax: number;
  /** A finished statement gives its rows up after this long. */
  readonly overMs: number;
  /** A statement that was not polled for this long is forgotten by the parking place, and here. */
  readonly forgottenMs: number;
}

export const retainedLimits: RetainedLimits = {
  bytesMax: 256 * 1024 * 1024,
  overMs: 60_000,
  forgottenMs: 480_000,
};

/** Smaller answers are not worth the bookkeeping. */
const worthCountingBytes = 4 * 1024;

interface Entry {
  readonly bytes: number;
  readonly atMs: number;
}

/** Every statement that keeps rows worth counting, the one polled longest ago first. */
export class Retained {
  readonly #limits: RetainedLimits;
  readonly #entries = new Map<Retaining, Entry>();
  #bytes = 0;

  constructor(limits: RetainedLimits = retainedLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether another answer may be built ahead. */
  get hasRoom(): boolean {
    return this.#bytes < this.#limits.bytesMax;
  }

  /** Called after each answer: counts what the statement keeps now, and gives up what is too old or too much. */
  polled(statement: Retaining, nowMs: number): void {
    this.#drop(statement);
    const bytes = statement.retainedBytes;
    if (bytes > worthCountingBytes) {
      this.#entries.set(statement, { bytes, atMs: nowMs });
      this.#bytes += bytes;
    }
    this.#dropOld(nowMs);
    if (this.#bytes > this.#limits.bytesMax) this.#dropOver();
  }

  #drop(statement: Retaining): void {
    const entry = this.#entries.get(statement);
    if (entry === undefined) return;
    this.#entries.delete(statement);
    this.#bytes -= entry.bytes;
  }

  #giveUp(statement: Retaining): void {
    statement.release();
    this.#drop(statement);
  }

  /** Entries are in the order of their polls, so the first young one ends the search for forgotten ones. */
  #dropOld(nowMs: number): void {
    for (const [statement, { atMs }] of this.#entries) {
      const ageMs = nowMs - atMs;
      if (ageMs < this.#limits.overMs) return;
      if (statement.over || ageMs >= this.#limits.forgottenMs) this.#giveUp(statement);
    }
  }

  #dropOver(): void {
    for (const statement of this.#entries.keys()) {
      if (this.#bytes <= this.#limits.bytesMax) return;
      if (statement.over) this.#giveUp(statement);
    }
  }
}
