/**
 * Takes a client's values out of a message that an engine or a rule wrote about its SQL.
 *
 * Masks whatever stands in quotes, numbers, what engines echo of the statement, and every value of the
 * statement or piece of one. When in doubt it masks too much: the message is only a hint, its code says
 * what happened.
 */
import { folded, type Values } from "./values.ts";

/** A masked message is cut here: every character of it is looked at several times. */
export const maskedCharsMax = 2_048;
/** Different words that are looked up in one message. */
const wordsMax = 256;
/** Shorter words must be a whole word of a value, because as a piece they are in nearly every text. */
const pieceLengthMin = 4;

/** The message with each masked run as `?`. */
export function maskText(message: string, values: Values): string {
  const text = message.slice(0, maskedCharsMax);
  const hidden = new Uint8Array(text.length);
  hideEcho(text, hidden);
  for (const quote of ["'", '"', "`", "\u2018", "\u201c", "\u00ab"])
    hideQuoted(text, quote, hidden);
  for (const number of text.matchAll(numbers)) hide(hidden, number.index, number[0].length);
  hideValues(folded(text), values, hidden);
  return rendered(text, hidden);
}

/** A number and what hangs on it: `2024-01-31`, `1e5`, `0x1f`. Digits inside a name are no number. */
const numbers = /(?<![\p{L}\p{N}_])\p{N}(?:[\p{L}\p{N}_.,:+-]*[\p{L}\p{N}_])?/gu;

/** DuckDB shows the line with the error and a marker; MySQL quotes the rest of the statement without escaping it. */
function hideEcho(text: string, hidden: Uint8Array): void {
  const line = /^\s*LINE \d+:/m.exec(text);
  if (line !== null) hide(hidden, line.index, text.length - line.index);
  const near = /\b(?:near|before|after|at) ['"`]/i.exec(text);
  if (near === null) return;
  const begin = near.index + near[0].length - 1;
  const last = text.lastIndexOf(text.charAt(begin));
  hide(hidden, begin, last > begin ? last + 1 - begin : text.length - begin);
}

const closing: Readonly<Record<string, string>> = {
  "\u2018": "\u2019",
  "\u201c": "\u201d",
  "\u00ab": "\u00bb",
};

/** Each pair of quotes; where the pairs are not certain, everything from the first quote to the last, or to the end. */
function hideQuoted(text: string, open: string, hidden: Uint8Array): void {
  const close = closing[open];
  if (close !== undefined) {
    const begin = text.indexOf(open);
    if (begin < 0) return;
    const last = text.lastIndexOf(close);
    return hide(hidden, begin, last > begin ? last + 1 - begin : text.length - begin);
  }
  const places = placesOf(text, open);
  const [first] = places;
  if (first === undefined) return;
  if (places.length % 2 === 1) return hide(hidden, first, text.length - first);
  const last = places.at(-1) ?? first;
  if (text.includes(`\\${open}`) || text.includes(open + open)) {
    return hide(hidden, first, last + 1 - first);
  }
  for (let pair = 0; pair < places.length; pair += 2) {
    const begin = places[pair] ?? 0;
    hide(hidden, begin, (places[pair + 1] ?? begin) + 1 - begin);
  }
}

/** Where the quotes stand; the apostrophe of "can't" is not one. */
function placesOf(text: string, quote: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) {
    const around = text.slice(Math.max(at - 3, 0), at + 3);
    if (quote !== "'" || !/^[a-z]{2}n't(?:\s|$)/.test(around)) places.push(at);
  }
  return places;
}

function hideValues(text: string, values: Values, hidden: Uint8Array): void {
  for (const part of values.parts) {
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
      hide(hidden, at, part.length);
    }
  }
  const known = new Map<string, boolean>();
  for (const match of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const [word] = match;
    let isValue = known.get(word);
    if (isValue === undefined) {
      isValue = known.size >= wordsMax || fromValues(word, values);
      known.set(word, isValue);
    }
    if (isValue) hide(hidden, match.index, word.length);
  }
}

function fromValues(word: string, { kind, words, haystack }: Values): boolean {
  if (kind === "anything" || words.has(word)) return true;
  return (kind === "text" || word.length >= pieceLengthMin) && haystack.includes(word);
}

function hide(hidden: Uint8Array, begin: number, length: number): void {
  hidden.fill(1, begin, begin + length);
}

function rendered(text: string, hidden: Uint8Array): string {
  let shown = "";
  let from = 0;
  while (from < text.length) {
    const state = hidden[from];
    let end = from + 1;
    while (end < text.length && hidden[end] === state) end += 1;
    shown += state === 1 ? "?" : text.slice(from, end);
    from = end;
  }
  return shown;
}
