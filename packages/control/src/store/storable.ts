/**
 * What PostgreSQL can hold of what clients send. No text of it holds U+0000 or half of a surrogate
 * pair, and no bigint a fraction; a value with either would fail the whole statement, and a batch of
 * two hundred records with it. U+FFFD stands in their place.
 *
 * Objects of the configuration are not treated this way: nobody's configuration is changed in silence.
 */
import type { QueryRecord } from "@gateway/contract/record.ts";

/** Text that every store can hold. */
export function storableText(text: string): string {
  return isStorable(text) ? text : text.replaceAll("\u0000", "\uFFFD").toWellFormed();
}

/** True for text that every store can hold: PostgreSQL has no U+0000, and UTF-8 has no bytes for half a character. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** JSON text of a value that every store can hold. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  return mayBeUnstorable(text) ? JSON.stringify(storable(value)) : text;
}

/** The record as every store can hold it: the same one where it holds nothing odd. */
export function storableRecord(record: QueryRecord): QueryRecord {
  return holdsOdd(record) ? (storable(record) as QueryRecord) : record;
}

/** A bound of a range over whole milliseconds, which are all that columns hold. */
export function wholeMs(bound: number): number {
  const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number;
  return Number.isNaN(bound) ? max : Math.min(max, Math.max(min, Math.ceil(bound)));
}

/** Cheap, and sometimes yes where it is no: a backslash may be one that the text itself holds. */
function mayBeUnstorable(json: string): boolean {
  return json.includes("\\u") && /\\u(?:0000|d[89a-f])/.test(json);
}

function holdsOdd(value: unknown): boolean {
  if (typeof value === "string") return !isStorable(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsOdd);
  // The keys apart from the members: no list of pairs for each of thousands of records a second.
  return !Object.keys(value).every(isStorable) || Object.values(value).some(holdsOdd);
}

function storable(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storableText(name), storable(member)]),
  );
}
