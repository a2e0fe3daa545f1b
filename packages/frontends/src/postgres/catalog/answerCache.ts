/**
 * Answers that a mirror gave and would give again, as long as its tables stay the same.
 *
 * Tools ask the same questions with each connection they open, and PGlite takes tens of milliseconds to plan one
 * over twenty catalogs. An answer that may depend on more than the mirror's tables and the key is never cached.
 */
import type { MirrorOutcome } from "./link.ts";
import type { MirrorCommand, MirrorValue } from "./message.ts";

const entriesMax = 512;
/** Of all keys and answers together. */
const bytesMax = 16 * 1024 * 1024;
/** A larger answer is not cached: it would push out too many others. */
const entryBytesMax = 2 * 1024 * 1024;
/** What a described column or a value costs beside its bytes. */
const itemBytes = 64;

/**
 * Words of things that change by themselves: clocks, chance, transactions, statistics, locks. Also words of
 * functions that run a text, which may put such a word together.
 */
const changing =
  /\bnow\b|time|(?<!up)date|\b(?:to|yester)day\b|tomorrow|\bage\b|random|uuid|txid|xact|snapshot|stat_|\bts_(?:stat|rewrite)\b|lock|wal|(?:\b|_)lsn|backend|cursor|prepared|xml/i;
/** Words that ask about the connection itself. */
const ofConnection = /pid|setting/i;

interface Entry {
  readonly outcome: MirrorOutcome;
  readonly bytes: number;
}

export class AnswerCache {
  /** The entry used last stands last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** Bytes of keys and answers that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The answer given before; undefined when nobody asked, or when it may be another one now. */
  find(command: MirrorCommand): MirrorOutcome | undefined {
    const key = keyOf(command);
    const found = key === undefined ? undefined : this.#entries.get(key);
    if (key === undefined || found === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found.outcome;
  }

  /** Remembers an answer that would be given again; those used longest ago make room for it. */
  put(command: MirrorCommand, outcome: MirrorOutcome): void {
    const key = keyOf(command);
    const answerBytes = bytesOf(outcome);
    if (key === undefined || answerBytes === undefined) return;
    const bytes = answerBytes + 2 * key.length;
    if (bytes > entryBytesMax) return;
    this.#drop(key);
    this.#entries.set(key, { outcome, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= entriesMax && this.#bytes <= bytesMax) break;
      this.#drop(oldest);
    }
  }

  /** The mirror holds something else. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

/** Everything the answer depends on; undefined for a statement that depends on more. */
function keyOf(command: MirrorCommand): string | undefined {
  if (command.kind === "fill" || changing.test(command.sql)) return undefined;
  const { kind, sql, types, session } = command;
  const { process, ...seen } = session;
  const values = command.kind === "run" ? command.values.map(valueKey) : [];
  const formats = command.kind === "run" ? command.formats : [];
  // The statement may build such a word from a value.
  if (values.some((value) => changing.test(value ?? ""))) return undefined;
  const known = ofConnection.test(sql) || values.some((value) => ofConnection.test(value ?? ""));
  return JSON.stringify([kind, sql, types, seen, known ? process : 0, values, formats]);
}

/** Text and bytes of the same content are not the same value. */
function valueKey(value: MirrorValue): string | null {
  if (value === null) return null;
  if (typeof value === "string") return `'${value}`;
  return `x${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Bytes of an answer; undefined for an outcome that is none. */
function bytesOf(outcome: MirrorOutcome): number | undefined {
  if (outcome.kind === "described") {
    const { types, columns } = outcome.description;
    return itemBytes * (types.length + columns.length);
  }
  if (outcome.kind !== "rows") return undefined;
  const { columns, vectors } = outcome.result;
  return vectors.reduce(
    (sum, { values, offsets, validity }) =>
      sum + values.byteLength + offsets.byteLength + (validity?.byteLength ?? 0),
    itemBytes * columns.length,
  );
}
