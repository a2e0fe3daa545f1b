/**
 * SASLprep (RFC 4013) as PostgreSQL uses it for passwords. A password that can not be prepared is
 * taken as it is, because clients do the same.
 */

/** First and last code points. */
type Ranges = readonly (readonly [number, number])[];

/** RFC 3454 C.1.2: become a plain space. */
const spaces: Ranges = [
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200b],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
];

/** RFC 3454 B.1: mean nothing. */
const nothing: Ranges = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x1806, 0x1806],
  [0x180b, 0x180d],
  [0x200c, 0x200d],
  [0x2060, 0x2060],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
];

/** RFC 3454 C.2 to C.9. */
const prohibited: Ranges = [
  [0x0, 0x1f],
  [0x7f, 0x9f],
  [0x340, 0x341],
  [0x6dd, 0x6dd],
  [0x70f, 0x70f],
  [0x180e, 0x180e],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2061, 0x2063],
  [0x206a, 0x206f],
  [0x2ff0, 0x2ffb],
  [0xd800, 0xf8ff],
  [0xfff9, 0xffff],
  [0x1d173, 0x1d17a],
  [0xe0001, 0xe0001],
  [0xe0020, 0xe007f],
  [0xf0000, 0x10ffff],
];

/** The password as both sides compute with it. */
export function saslPrepared(password: string): string {
  let mapped = "";
  for (const character of password) {
    const code = character.codePointAt(0) ?? 0;
    if (within(code, spaces)) mapped += " ";
    else if (!within(code, nothing)) mapped += character;
  }
  const prepared = mapped.normalize("NFKC");
  return prepared === "" || isProhibited(prepared) ? password : prepared;
}

function isProhibited(text: string): boolean {
  for (const character of text) {
    if (within(character.codePointAt(0) ?? 0, prohibited)) return true;
  }
  return false;
}

function within(code: number, ranges: Ranges): boolean {
  return ranges.some(([first, last]) => code >= first && code <= last);
}
