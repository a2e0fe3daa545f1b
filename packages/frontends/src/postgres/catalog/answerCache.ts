/**
 * Answers that a mirror gave and would give again, for as long as what it holds stays the same.
 *
 * Tools ask the same questions for each connection they open, and planning one over twenty catalogs
 * costs PGlite tens of milliseconds. A statement whose answer may depend on more than the mirror's
 * contents and what is in the key is never kept.
 */
import type { Asked, Outcome } from "./link.ts";
import type { MirrorValue } from "./message.ts";

const entriesMax = 512;
/** Of all keys and answers together. */
const bytesMax = 16 * 1024 * 1024;
/** An answer larger than this is worth more than one of its kind. */
const entryBytesMax = 2 * 1024 * 1024;
/** What a described column or a value costs beside its bytes. */
const itemBytes = 64;

/**
 * Words of whatever changes by itself: clocks, chance, transactions, statistics, locks; and of functions
 * that run a text, in which such a word may be put together.
 */
const changing =
  /\bnow\b|time|(?<!up)date|\b(?:to|yester)day\b|tomorrow|\bage\b|random|uuid|txid|xact|snapshot|stat_|\bts_(?:stat|rewrite)\b|lock|wal|(?:\b|_)lsn|backend|cursor|prepared|xml/i;
/** Words of what is told of the connection itself. */
const ofConnection = /pid|setting/i;

interface Entry {
  readonly outcome: Outcome;
  readonly bytes: number;
}

export class AnswerCache {
  /** The one used last stands last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** Bytes of keys and answers that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What this was answered with before; undefined when nobody asked, or it may be different now. */
  find(asked: Asked): Outcome | undefined {
    const key = keyOf(asked);
    const found = key === undefined ? undefined : this.#entries.get(key);
    if (key === undefined || found === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found.outcome;
  }

  /** Keeps an answer, if it is one that will be given again; the oldest ones make room. */
  put(asked: Asked, outcome: Outcome): void {
    const key = keyOf(asked);
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

/** Everything a statement can see; undefined for one that may see more. */
function keyOf(asked: Asked): string | undefined {
  if (asked.kind === "fill" || changing.test(asked.sql)) return undefined;
  const { kind, sql, types, session } = asked;
  const { process, ...seen } = session;
  const values = asked.kind === "run" ? asked.values.map(valueKey) : [];
  const formats = asked.kind === "run" ? asked.formats : [];
  // A value may hold the word that the text builds something from.
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

/** Undefined for what is no answer. */
function bytesOf(outcome: Outcome): number | undefined {
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
