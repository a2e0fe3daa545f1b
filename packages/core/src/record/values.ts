/**
 * The values that a client wrote into its SQL, as they may come back in an error message or a trace.
 *
 * Where they are not known for certain (the text can not be lexed, or holds too many), the whole text stands
 * for them: every word of a message that the text also has then counts as a value. The same holds for a long
 * text that nobody read ahead, as when a statement was refused before it had a slot: lexing a megabyte for
 * its record would hold up everybody.
 */
import type { Dialect } from "../sql/dialect.ts";
import { literalReading, valuesMax } from "../sql/mask/literals.ts";
import { longTextUnits } from "../sql/reading/reading.ts";

/** Most characters in which a word of a message is searched; beyond them every word may be a value. */
const haystackCharsMax = 2 * 1024 * 1024;
/** Shorter values and words are matched as whole words only; otherwise they would shred a message. */
const partLengthMin = 4;

export interface Values {
  /** `text`: the values are not known, and `haystack` is the whole SQL. `anything`: the SQL is too long to search. */
  readonly kind: "literals" | "text" | "anything";
  /** Folded values and their words that are masked anywhere in a message. */
  readonly parts: readonly string[];
  /** Folded words of the values. */
  readonly words: ReadonlySet<string>;
  /** Folded text that a word of a message may be a piece of. */
  readonly haystack: string;
}

/** A text and how it was read. */
export interface Reading {
  readonly sql: string;
  readonly dialect: Dialect;
}

/** The values of everything that was read of one statement. */
export function valuesOf(readings: readonly Reading[]): Values {
  const found = new Set<string>();
  for (const { sql, dialect } of readings) {
    const literalsOf = literalReading(dialect);
    if (sql.length > longTextUnits && !literalsOf.knows(sql)) return unknownOf(readings);
    const literals = literalsOf(sql);
    if (literals === undefined) return unknownOf(readings);
    for (const literal of literals) found.add(literal);
    if (found.size > valuesMax) return unknownOf(readings);
  }
  const values = [...found].map(folded);
  const words = new Set(values.flatMap((value) => value.match(/[\p{L}\p{N}_]+/gu) ?? []));
  return {
    kind: "literals",
    parts: [...new Set([...values, ...words])].filter((part) => part.length >= partLengthMin),
    words,
    haystack: values.join("\n"),
  };
}

/** Lower case without a change of length, so that places in both texts agree. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from({ length: text.length }, (_, at) => {
    const unit = text.charAt(at);
    const small = unit.toLowerCase();
    return small.length === 1 ? small : unit;
  }).join("");
}

function unknownOf(readings: readonly Reading[]): Values {
  const texts = [...new Set(readings.map(({ sql }) => sql))];
  const chars = texts.reduce((sum, { length }) => sum + length, 0);
  const none = { parts: [], words: new Set<string>() };
  if (chars > haystackCharsMax) return { ...none, kind: "anything", haystack: "" };
  return { ...none, kind: "text", haystack: texts.join("\n").toLowerCase() };
}
