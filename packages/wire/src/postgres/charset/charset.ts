/**
 * Character sets that a client of PostgreSQL may have besides UTF-8, and their texts. Only those whose every character
 * the server reads as it is read here; a character that the two would read in different ways is none here, so that no
 * text says one thing to whoever looks at it and another to the server.
 */
import { isJis, jisNames, jisSet } from "./jis2004.ts";
import { isSeveralBytes, severalBytesNames, severalBytesSet } from "./severalBytes.ts";
import { singleByteNames, singleByteSet } from "./singleByte.ts";

/** A set's directions. */
export interface Texts {
  /** Undefined for bytes that are no text of it. */
  readonly decode: (bytes: Uint8Array) => string | undefined;
  /** With a question mark for bytes that are no character of it: a server writes a few more than it reads. */
  readonly shown: (bytes: Uint8Array) => string;
  /** Undefined for a text with a character that it does not have. */
  readonly encode: (text: string) => Uint8Array | undefined;
}

/** A character set. Its bytes below 128 are ASCII wherever they do not end a character of several. */
export interface Charset extends Texts {
  /** As PostgreSQL spells it. */
  readonly name: string;
}

/** All of them, as PostgreSQL spells them. */
export const charsetNames: readonly string[] = [
  ...singleByteNames,
  ...severalBytesNames,
  ...jisNames,
];

/** Other names that PostgreSQL knows, without what is no letter or digit. */
const aliases: Readonly<Record<string, string>> = {
  ABC: "WIN1258",
  ALT: "WIN866",
  ISO88591: "LATIN1",
  ISO88592: "LATIN2",
  ISO88593: "LATIN3",
  ISO88594: "LATIN4",
  ISO88599: "LATIN5",
  ISO885910: "LATIN6",
  ISO885913: "LATIN7",
  ISO885914: "LATIN8",
  ISO885915: "LATIN9",
  ISO885916: "LATIN10",
  KOI8: "KOI8R",
  MSKANJI: "SJIS",
  SHIFTJIS: "SJIS",
  TCVN: "WIN1258",
  TCVN5712: "WIN1258",
  VSCII: "WIN1258",
  WIN: "WIN1251",
  WIN932: "SJIS",
  WIN936: "GBK",
  WIN949: "UHC",
  WIN950: "BIG5",
  WINDOWS866: "WIN866",
  WINDOWS874: "WIN874",
  WINDOWS932: "SJIS",
  WINDOWS936: "GBK",
  WINDOWS949: "UHC",
  WINDOWS950: "BIG5",
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [`WINDOWS125${at}`, `WIN125${at}`] as const),
  ),
};

/** By the name without what is no letter or digit, which is how PostgreSQL compares names. */
const spellings: ReadonlyMap<string, string> = new Map([
  ...charsetNames.map((name) => [plain(name), name] as const),
  ...Object.entries(aliases),
]);

/** PostgreSQL's own spelling of a character set that is known here. UTF-8 is none of them. */
export function charsetName(name: string): string | undefined {
  return spellings.get(plain(name));
}

/** Sets that are used, made when one is asked for first: most processes meet none. */
const made = new Map<string, Charset>();

/** The character set of this name, as PostgreSQL spells it; undefined for UTF-8 and for what is not known here. */
export function charsetOf(name: string): Charset | undefined {
  let charset = made.get(name);
  if (charset === undefined) {
    const texts = textsOf(name);
    if (texts === undefined) return undefined;
    charset = { ...texts, name };
    made.set(name, charset);
  }
  return charset;
}

function textsOf(name: string): Texts | undefined {
  if (isJis(name)) return jisSet(name);
  return isSeveralBytes(name) ? severalBytesSet(name) : singleByteSet(name);
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, "").toUpperCase();
}
