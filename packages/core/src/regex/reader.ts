/** The position in a pattern that is being read, shared by the parser and the reader of classes. */
import type { RegexError } from "./syntax.ts";

/** Mutable while one pattern is parsed; never kept afterwards. */
export interface PatternReader {
  readonly pattern: string;
  /** Offset of the next character, in UTF-16 units. */
  at: number;
  /** The first problem found. Every reading function answers `undefined` once this is set. */
  error: RegexError | undefined;
}

/** Records the first problem; later ones would only be its echo. */
export function fail(reader: PatternReader, at: number, reason: string): undefined {
  reader.error ??= { at, reason };
  return undefined;
}

/** The UTF-16 unit at an offset from here, as text; empty past the end. */
export function peek(reader: PatternReader, ahead = 0): string {
  return reader.pattern.charAt(reader.at + ahead);
}

/** Whether the given text comes next. */
export function looksAt(reader: PatternReader, text: string): boolean {
  return reader.pattern.startsWith(text, reader.at);
}

/** Takes the given text when it comes next. */
export function take(reader: PatternReader, text: string): boolean {
  if (!looksAt(reader, text)) return false;
  reader.at += text.length;
  return true;
}

/** Takes one whole code point; the caller knows that one is left. */
export function takeCodePoint(reader: PatternReader): number {
  const codePoint = reader.pattern.codePointAt(reader.at) ?? 0;
  reader.at += codePoint > 0xffff ? 2 : 1;
  return codePoint;
}

/** Takes decimal digits and answers their value, or undefined (nothing taken) when there are none. */
export function takeNumber(reader: PatternReader): number | undefined {
  const start = reader.at;
  while (isDigit(peek(reader))) reader.at += 1;
  if (reader.at === start) return undefined;
  return Number(reader.pattern.slice(start, reader.at));
}

/** Whether the text is one ASCII digit. */
export function isDigit(char: string): boolean {
  return char >= "0" && char <= "9" && char.length === 1;
}
