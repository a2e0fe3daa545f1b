/**
 * The book of a process that has a store: the id of each query from before an engine sees it until its
 * record is kept or declared lost. Whoever starts after a kill reads it, asks the store which of these
 * records it has, and so knows exactly which are missing.
 *
 * A small file, written in place without a sync: it lives through a kill of the process at once, not
 * through every loss of power. A query costs two writes of a few microseconds, the second one when
 * nobody waits. A file that can not be written fails no query; it is said once.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import type { Log } from "@gateway/core/port/log.ts";
import {
  entriesOf,
  headOf,
  putHead,
  putSlot,
  slotBytes,
  stateAt,
  stateEnded,
  type BookEntry,
  type BookHead,
  type LastWord,
} from "./bookSlots.ts";

/** What an earlier process left. */
export interface BookFound {
  /** Queries without an end, oldest first. Their records may still have been kept: only the store knows. */
  readonly open: readonly BookEntry[];
  /** Records declared lost before. */
  readonly dropped: number;
  /** Undefined in a new file. */
  readonly word: LastWord | undefined;
}

export interface QueryBook extends Disposable {
  readonly found: BookFound;
  /** A query begins. Takes microseconds; never throws. */
  begin(queryId: string): void;
  /** Its record was made and is on its way. */
  ended(queryId: string): void;
  /** The records of these are kept. */
  kept(queryIds: readonly string[]): void;
  /** The records of these are lost, and counted. */
  lost(queryIds: readonly string[]): void;
  /** What the book was found with is judged: so many of those are lost. */
  judged(lost: number): void;
  /** A bug ends the process now; the next one will say so. */
  crashed(): void;
}

/** Queries beyond this number get no slot. A history that holds 50,000 records is full long before. */
const slotsMax = 1_000_000;

/** Opens the file, made when absent. Throws the system's error when it can not be. */
export function openQueryBook(path: string, log: Log): QueryBook {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const bytes = Buffer.alloc(Math.min(fstatSync(file).size, slotBytes * (slotsMax + 1)));
  readSync(file, bytes, 0, bytes.length, 0);
  const head = headOf(bytes);
  if (bytes.length > 0 && head === undefined) log.write("error", "history.countDamaged");
  const known = head ?? { dropped: 0, doneBelow: 0, done: 0, word: "open" as const };
  const found = { open: entriesOf(bytes, known), dropped: known.dropped, word: head?.word };
  return new Book(file, { found, slots: slotsOf(bytes), head: known }, log);
}

function slotsOf(bytes: Buffer): number {
  return Math.max(0, Math.ceil(bytes.length / slotBytes) - 1);
}

interface BookStart {
  readonly found: BookFound;
  /** Slots of the file, all taken by what was found. */
  readonly slots: number;
  readonly head: BookHead;
}

class Book implements QueryBook {
  readonly found: BookFound;
  readonly #log: Log;
  readonly #file: number;
  readonly #buffer = Buffer.alloc(slotBytes);
  /** Of queries without an end. */
  readonly #slots = new Map<string, { readonly slot: number; readonly number: number }>();
  /** Free slots; the one that was freed first is used first, so that neighbours stay neighbours. */
  readonly #free: number[] = [];
  #freeHead = 0;
  /** Slots of the file. */
  #used: number;
  #number: number;
  #head: BookHead;
  #judged = false;
  #closed = false;
  #failed = false;

  constructor(file: number, { found, slots, head }: BookStart, log: Log) {
    this.found = found;
    this.#file = file;
    this.#log = log;
    this.#used = slots;
    this.#number = Math.max(head.doneBelow, head.done, found.open.at(-1)?.number ?? 0);
    this.#head = head;
    this.#putHead({ word: "open" });
  }

  begin(queryId: string): void {
    if (this.#closed) return;
    const slot = this.#freeSlot();
    if (slot === undefined) return;
    this.#number += 1;
    this.#slots.set(queryId, { slot, number: this.#number });
    putSlot(this.#buffer, this.#number, queryId);
    this.#write(this.#buffer, slotBytes * (slot + 1));
  }

  ended(queryId: string): void {
    const held = this.#slots.get(queryId);
    if (held !== undefined) this.#write(endedByte, slotBytes * (held.slot + 1) + stateAt);
  }

  kept(queryIds: readonly string[]): void {
    const slots: number[] = [];
    for (const queryId of queryIds) {
      const held = this.#slots.get(queryId);
      if (held === undefined) continue;
      this.#slots.delete(queryId);
      slots.push(held.slot);
    }
    this.#clear(slots.toSorted((a, b) => a - b));
  }

  lost(queryIds: readonly string[]): void {
    for (const queryId of queryIds) {
      // One write counts the query and names it: after a kill before the slot is cleared, it is not
      // counted again.
      const done = this.#slots.get(queryId)?.number ?? this.#head.done;
      this.#putHead({ dropped: this.#head.dropped + 1, done });
      this.kept([queryId]);
    }
  }

  judged(lost: number): void {
    if (this.#judged) return;
    this.#judged = true;
    const doneBelow = (this.found.open.at(-1)?.number ?? this.#head.doneBelow - 1) + 1;
    this.#putHead({ dropped: this.#head.dropped + lost, doneBelow });
    // All these queries now have an end, so their slots are free.
    const own = new Set(Array.from(this.#slots.values(), ({ slot }) => slot));
    const free = new Set(this.#free.slice(this.#freeHead));
    for (let slot = 0; slot < this.#used; slot += 1) {
      if (!own.has(slot) && !free.has(slot)) this.#free.push(slot);
    }
  }

  crashed(): void {
    this.#putHead({ word: "crashed" });
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    // The next process judges what this one could not.
    this.#putHead({ word: "closed" });
    this.#closed = true;
    closeSync(this.#file);
  }

  #freeSlot(): number | undefined {
    if (this.#freeHead < this.#free.length) {
      const slot = this.#free[this.#freeHead];
      this.#freeHead += 1;
      // Moved only when half is gone, so that an entry is moved once on average.
      if (this.#freeHead * 2 > this.#free.length + slotBytes) {
        this.#free.splice(0, this.#freeHead);
        this.#freeHead = 0;
      }
      return slot;
    }
    if (this.#used >= slotsMax) return undefined;
    this.#used += 1;
    return this.#used - 1;
  }

  /** `slots` in order; neighbours in one write. */
  #clear(slots: readonly number[]): void {
    let [from, count] = [slots[0] ?? 0, 0];
    for (const slot of slots) {
      if (slot !== from + count) {
        this.#empty(from, count);
        [from, count] = [slot, 0];
      }
      count += 1;
    }
    this.#empty(from, count);
    for (const slot of slots) this.#free.push(slot);
  }

  #empty(from: number, count: number): void {
    if (count > 0) this.#write(Buffer.alloc(slotBytes * count), slotBytes * (from + 1));
  }

  #putHead(change: Partial<BookHead>): void {
    this.#head = { ...this.#head, ...change };
    putHead(this.#buffer, this.#head);
    this.#write(this.#buffer, 0);
  }

  #write(bytes: Buffer, at: number): void {
    if (this.#closed) return;
    let reason: string | undefined;
    try {
      if (writeSync(this.#file, bytes, 0, bytes.length, at) !== bytes.length) reason = "EIO";
    } catch (error) {
      reason = error instanceof Error && "code" in error ? String(error.code) : "failed";
    }
    if (reason !== undefined && !this.#failed) {
      this.#log.write("error", "history.countFailed", { reason });
    }
    this.#failed = reason !== undefined;
  }
}

const endedByte = Buffer.from([stateEnded]);
