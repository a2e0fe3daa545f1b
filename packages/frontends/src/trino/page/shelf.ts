/**
 * Statements by id, and the limit on the rows they keep for clients that may ask again.
 *
 * A statement keeps its last answer, because a client that lost it repeats the poll, and one answer built
 * ahead. Over the limit, finished statements go first, the oldest before the others, and nothing more is
 * built ahead. That leaves one answer for each unfinished statement, and each of those holds a slot. Whose
 * a statement is, and how long its query lives, is the door's business.
 */
import { Aged } from "@gateway/core/tool/aged.ts";
import type { QueryId } from "@gateway/core/query/query.ts";

/** What is asked of a statement. */
export interface Shelved {
  readonly id: QueryId;
  readonly retainedBytes: number;
  /** Only a repeated poll can still ask for what it keeps. */
  readonly over: boolean;
}

export interface ShelfLimits {
  readonly bytesMax: number;
  readonly overCountMax: number;
  /** A finished statement leaves after this long. */
  readonly overMs: number;
  /** An answer that was lost is asked for again within this time by most clients. */
  readonly repeatMs: number;
  /** What finished statements may keep whose clients had longer than that. */
  readonly lateBytesMax: number;
  /** The door forgot an unfinished one that nobody polled for this long, and so does the shelf. */
  readonly forgottenMs: number;
}

export const shelfLimits: ShelfLimits = {
  bytesMax: 256 * 1024 * 1024,
  overCountMax: 5_000,
  overMs: 60_000,
  repeatMs: 10_000,
  lateBytesMax: 4 * 1024 * 1024,
  forgottenMs: 480_000,
};

interface Entry<S> {
  readonly statement: S;
  bytes: number;
  readonly atMs: number;
  readonly over: boolean;
}

/** Unfinished and finished statements, each the one polled longest ago first. */
export class Shelf<S extends Shelved> {
  readonly #limits: ShelfLimits;
  readonly #open = new Aged<QueryId, Entry<S>>();
  readonly #over = new Aged<QueryId, Entry<S>>();
  #bytes = 0;
  #overBytes = 0;
  #onIdle: (() => void)[] = [];

  constructor(limits: ShelfLimits = shelfLimits) {
    this.#limits = limits;
  }

  /** Bytes of rows kept by all of them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether another answer may be built ahead. */
  get hasRoom(): boolean {
    return this.#bytes < this.#limits.bytesMax;
  }

  /** Statements whose last answer was not given. */
  unfinished(): readonly S[] {
    return this.#open.values().map(({ statement }) => statement);
  }

  /** All that are known. */
  all(): readonly S[] {
    return [...this.#open.values(), ...this.#over.values()].map(({ statement }) => statement);
  }

  /** Unfinished ones that nobody asked since then. */
  askedBefore(ms: number): readonly S[] {
    const open = this.#open.values();
    return open.filter(({ atMs }) => atMs < ms).map((entry) => entry.statement);
  }

  get(id: QueryId): S | undefined {
    return (this.#open.get(id) ?? this.#over.get(id))?.statement;
  }

  /** Called whenever a client asks a statement: counts what it keeps now, and drops what is too old or too much. */
  put(statement: S, nowMs: number): void {
    this.#take(statement.id);
    const bytes = statement.retainedBytes;
    const { over } = statement;
    const entries = over ? this.#over : this.#open;
    entries.put(statement.id, { statement, bytes, atMs: nowMs, over });
    this.#bytes += bytes;
    if (over) this.#overBytes += bytes;
    this.#trim(nowMs);
    this.#tellIdle();
  }

  /** Counts what it keeps now; nobody asked it. */
  weigh(statement: S): void {
    const entry = this.#open.get(statement.id);
    if (entry?.statement !== statement) return;
    this.#bytes += statement.retainedBytes - entry.bytes;
    entry.bytes = statement.retainedBytes;
    this.#trim(entry.atMs);
  }

  /** Forgets a statement that nobody can ask for again. */
  remove(id: QueryId): void {
    this.#take(id);
    this.#tellIdle();
  }

  #take(id: QueryId): void {
    const entry = this.#open.get(id) ?? this.#over.get(id);
    if (entry === undefined) return;
    this.#open.delete(id);
    this.#over.delete(id);
    this.#bytes -= entry.bytes;
    if (entry.over) this.#overBytes -= entry.bytes;
  }

  /** Resolves when no statement is unfinished, or when `signal` is aborted. */
  idle(signal: AbortSignal): Promise<void> {
    if (this.#open.size === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #tellIdle(): void {
    if (this.#open.size > 0 || this.#onIdle.length === 0) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }

  #trim(nowMs: number): void {
    const { overMs, forgottenMs, overCountMax, bytesMax, repeatMs, lateBytesMax } = this.#limits;
    this.#dropWhile(this.#over, ({ atMs }) => {
      const tooMany = this.#over.size > overCountMax || this.#bytes > bytesMax;
      const late = this.#overBytes > lateBytesMax && atMs <= nowMs - repeatMs;
      return tooMany || late || atMs <= nowMs - overMs;
    });
    this.#dropWhile(this.#open, (entry) => entry.atMs <= nowMs - forgottenMs);
  }

  #dropWhile(entries: Aged<QueryId, Entry<S>>, isToGo: (entry: Entry<S>) => boolean): void {
    for (let { oldest } = entries; oldest !== undefined; { oldest } = entries) {
      const [id, entry] = oldest;
      if (!isToGo(entry)) return;
      this.#take(id);
    }
  }
}
