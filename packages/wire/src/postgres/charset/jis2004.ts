/**
 * EUC_JIS_2004 and SHIFT_JIS_2004, as PostgreSQL reads them: the two planes of JIS X 0213, with characters beyond the first
 * plane of Unicode, and some of two code points, which are one character of the set wherever both come together.
 */
import { combined, firstPlane, secondPlane } from "./jisCharacters.ts";
import type { Texts } from "./charset.ts";

/** How places in the planes are written. */
interface Form {
  /** The place, and how many bytes say it in the high byte; the place is -1 for none. */
  readonly placeAt: (bytes: Uint8Array, at: number) => number;
  readonly bytesOf: (place: number) => readonly number[];
  readonly katakana: readonly number[];
  /** Characters that this form has in the place of the other's. */
  readonly otherwise: ReadonlyMap<number, string>;
}

const cells = 94;
const rows = 94;
const planeCells = rows * cells;
const noCharacter = 0xfffd;
const question = 0x3f;
/** Behind Unicode: the number of a text of two code points. */
const combinedFrom = 0x11_0000;
const [katakanaFirst, katakanaLast] = [0xff61, 0xff9f] as const;
/** The distance of halfwidth katakana from their bytes. */
const katakanaAway = katakanaFirst - 0xa1;
const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });

/** `none` of so many bytes. */
const noPlace = 0xff_ffff;

const isEuc = (byte: number): boolean => byte >= 0xa1 && byte <= 0xfe;

const euc: Form = {
  placeAt: (bytes, at) => {
    const isSecond = bytes[at] === 0x8f;
    const from = isSecond ? at + 1 : at;
    const [row = 0, cell = 0] = [bytes[from], bytes[from + 1]];
    if (!isEuc(row) || !isEuc(cell)) return noPlace;
    const place = (isSecond ? planeCells : 0) + (row - 0xa1) * cells + cell - 0xa1;
    return ((isSecond ? 3 : 2) << 24) | place;
  },
  bytesOf: (place) => {
    const within = place % planeCells;
    const pair = [0xa1 + Math.floor(within / cells), 0xa1 + (within % cells)];
    return place < planeCells ? pair : [0x8f, ...pair];
  },
  katakana: [0x8e],
  otherwise: new Map(),
};

/** Rows of the second plane in the order of their bytes; no others have characters. */
const secondRows: readonly number[] = [1, 8, 3, 4, 5, 12, 13, 14, 15].concat(
  Array.from({ length: 17 }, (_, at) => 78 + at),
);

const shiftJis: Form = {
  placeAt: (bytes, at) => {
    const [lead = 0, trail = 0] = [bytes[at], bytes[at + 1]];
    if (lead < 0x81 || (lead > 0x9f && lead < 0xe0) || lead > 0xfc) return noPlace;
    if (trail < 0x40 || trail === 0x7f || trail > 0xfc) return noPlace;
    const isLower = trail >= 0x9f;
    const cell = isLower ? trail - 0x9f : trail - (trail > 0x7f ? 0x41 : 0x40);
    const half = isLower ? 1 : 0;
    if (lead < 0xf0)
      return (2 << 24) | (((lead - (lead > 0x9f ? 0xc1 : 0x81)) * 2 + half) * cells + cell);
    const row = secondRows[(lead - 0xf0) * 2 + half] ?? 1;
    return (2 << 24) | (planeCells + (row - 1) * cells + cell);
  },
  bytesOf: (place) => {
    const within = place % planeCells;
    const row = Math.floor(within / cells);
    const cell = within % cells;
    const isFirst = place < planeCells;
    const order = isFirst ? row : secondRows.indexOf(row + 1);
    const lead = (isFirst ? 0x81 : 0xf0) + (order >> 1);
    const trail = order % 2 === 1 ? 0x9f + cell : cell + (cell > 0x3e ? 0x41 : 0x40);
    return [isFirst && lead > 0x9f ? lead + 0x40 : lead, trail];
  },
  katakana: [],
  // What it reads as a backslash and as a tilde is none: neither is written so.
  otherwise: new Map([
    [0xa1b1, "￣"],
    [0xa1c0, "\ufffd"],
    [0xa1ef, "￥"],
    [0xa2b2, "\ufffd"],
  ]),
};

const forms = { EUC_JIS_2004: euc, SHIFT_JIS_2004: shiftJis } as const;

export type JisName = keyof typeof forms;

export const jisNames: readonly string[] = Object.keys(forms);

export function isJis(name: string): name is JisName {
  return Object.hasOwn(forms, name);
}

export function jisSet(name: JisName): Texts {
  const form = forms[name];
  let characters: Uint32Array | undefined;
  let places: ReadonlyMap<string, number> | undefined;
  const read = (): Uint32Array => (characters ??= charactersOf(form));
  return {
    decode: (bytes) => decoded(form, read(), bytes, false),
    shown: (bytes) => decoded(form, read(), bytes, true) ?? "",
    encode: (text) => encoded(form, (places ??= placesOf(read())), text),
  };
}

/** By their places; zero for none. */
function charactersOf({ otherwise }: Form): Uint32Array {
  const characters = new Uint32Array(2 * planeCells);
  const decoder = new TextDecoder("euc-jp", { ignoreBOM: true });
  for (let place = 0; place < planeCells; place += 1) {
    const text = decoder.decode(Uint8Array.from(euc.bytesOf(place)));
    const unit = text.charCodeAt(0);
    if (text.length === 1 && unit !== noCharacter) characters[place] = unit;
  }
  putLines(characters, firstPlane, 0);
  putLines(characters, secondPlane, planeCells);
  for (const [index, [code]] of combined.entries())
    characters[placeOf(code)] = combinedFrom + index;
  for (const [code, text] of otherwise) characters[placeOf(code)] = numberOf(text);
  return characters;
}

function putLines(characters: Uint32Array, lines: string, plane: number): void {
  for (const line of lines.trim().split("\n")) {
    let place = plane + placeOf(Number.parseInt(line.slice(0, 4), 16));
    for (const character of line.slice(5)) {
      characters[place] = numberOf(character);
      place += 1;
    }
  }
}

/** Of two bytes of EUC in the first plane. */
function placeOf(code: number): number {
  return ((code >> 8) - 0xa1) * cells + (code & 0xff) - 0xa1;
}

function numberOf(character: string): number {
  const number = character.codePointAt(0) ?? 0;
  return number === noCharacter ? 0 : number;
}

/** `all`: with a question mark for what is no character. */
function decoded(form: Form, characters: Uint32Array, bytes: Uint8Array, all: boolean) {
  const units = new Uint16Array(bytes.length);
  let length = 0;
  const put = (unit: number): void => {
    units[length] = unit;
    length += 1;
  };
  for (let at = 0; at < bytes.length;) {
    const found = characterAt(form, characters, bytes, at);
    const number = found & noPlace;
    at += found >>> 24 || 1;
    if (number === noPlace && !all) return undefined;
    if (number === noPlace) put(question);
    else if (number >= combinedFrom) {
      const text = combined[number - combinedFrom]?.[1] ?? "";
      put(text.charCodeAt(0));
      put(text.charCodeAt(1));
    } else if (number > 0xffff) {
      put(0xd7c0 + (number >> 10));
      put(0xdc00 | (number & 0x3ff));
    } else put(number);
  }
  return utf16.decode(units.subarray(0, length));
}

/** Its number, and how many bytes say it in the high byte. */
function characterAt(form: Form, characters: Uint32Array, bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0;
  if (byte < 0x80) return (1 << 24) | byte;
  const [before] = form.katakana;
  if (before === undefined || byte === before) {
    const kana = before === undefined ? byte : (bytes[at + 1] ?? 0);
    const isKatakana = kana >= 0xa1 && kana <= 0xdf;
    if (isKatakana) return ((1 + form.katakana.length) << 24) | (kana + katakanaAway);
  }
  const place = form.placeAt(bytes, at);
  if (place === noPlace) return noPlace;
  const number = characters[place & noPlace] ?? 0;
  return (place & ~noPlace) | (number === 0 ? noPlace : number);
}

/** By the text that is said. */
function placesOf(characters: Uint32Array): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [place, number] of characters.entries()) {
    if (number === 0) continue;
    const text = combined[number - combinedFrom]?.[1] ?? String.fromCodePoint(number);
    if (!places.has(text)) places.set(text, place);
  }
  return places;
}

function encoded(form: Form, places: ReadonlyMap<string, number>, text: string) {
  const bytes: number[] = [];
  for (let at = 0; at < text.length;) {
    const number = text.codePointAt(at) ?? 0;
    const both = text.slice(at, at + 2);
    const one = number > 0xffff ? both : both.slice(0, 1);
    // A character and a sign that goes with it are one where the set has them so.
    const said = number >= 0x80 && places.has(both) ? both : one;
    at += said.length;
    if (number >= katakanaFirst && number <= katakanaLast)
      bytes.push(...form.katakana, number - katakanaAway);
    else if (number < 0x80) bytes.push(number);
    else {
      const place = places.get(said);
      if (place === undefined) return undefined;
      bytes.push(...form.bytesOf(place));
    }
  }
  return Uint8Array.from(bytes);
}
