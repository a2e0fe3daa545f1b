/**
 * Character sets that a client of PostgreSQL may have besides UTF-8, and their texts. Only those whose every character
 * the server reads as it is read here; a character that the two would read in different ways is none here, so that no
 * text says one thing to whoever looks at it and another to the server.
 */

/** A character set. Its bytes below 128 are ASCII wherever they do not end a character of several. */
export interface Charset {
  /** As PostgreSQL spells it. */
  readonly name: string;
  /** Undefined for bytes that are no text of it. */
  decode(bytes: Uint8Array): string | undefined;
  /** Undefined for a text with a character that it does not have. */
  encode(text: string): Uint8Array | undefined;
}

/** How Node names it, and how many bytes its longest character has. */
interface Source {
  readonly label: string;
  readonly bytesMax: 1 | 2;
  /** The second byte of two begins here. */
  readonly trailMin?: number;
  /** The ISO sets have control characters between 128 and 159; Node reads some of them as Windows'. */
  readonly controls?: true;
}

const iso = (part: number): Source => ({
  label: `iso-8859-${part}`,
  bytesMax: 1,
  controls: true,
});
const single = (label: string): Source => ({ label, bytesMax: 1 });
const double = (label: string, trailMin: number): Source => ({ label, bytesMax: 2, trailMin });

const sources: Readonly<Record<string, Source>> = {
  LATIN1: iso(1),
  LATIN2: iso(2),
  LATIN3: iso(3),
  LATIN4: iso(4),
  LATIN5: iso(9),
  LATIN6: iso(10),
  LATIN7: iso(13),
  LATIN8: iso(14),
  LATIN9: iso(15),
  ISO_8859_5: iso(5),
  ISO_8859_6: iso(6),
  ISO_8859_7: iso(7),
  ISO_8859_8: iso(8),
  WIN866: single("ibm866"),
  WIN874: single("windows-874"),
  WIN1250: single("windows-1250"),
  WIN1251: single("windows-1251"),
  WIN1252: single("windows-1252"),
  WIN1253: single("windows-1253"),
  WIN1254: single("windows-1254"),
  WIN1255: single("windows-1255"),
  WIN1256: single("windows-1256"),
  WIN1257: single("windows-1257"),
  WIN1258: single("windows-1258"),
  KOI8R: single("koi8-r"),
  KOI8U: single("koi8-u"),
  EUC_JP: double("euc-jp", 0xa1),
  SJIS: double("shift_jis", 0x40),
  BIG5: double("big5", 0x40),
  GBK: double("gbk", 0x40),
  EUC_KR: double("euc-kr", 0xa1),
};

/** All of them, as PostgreSQL spells them. */
export const charsetNames: readonly string[] = Object.keys(sources);

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
  KOI8: "KOI8R",
  MSKANJI: "SJIS",
  SHIFTJIS: "SJIS",
  TCVN: "WIN1258",
  TCVN5712: "WIN1258",
  VSCII: "WIN1258",
  WIN: "WIN1251",
  WIN932: "SJIS",
  WIN936: "GBK",
  WIN950: "BIG5",
  WINDOWS866: "WIN866",
  WINDOWS874: "WIN874",
  WINDOWS932: "SJIS",
  WINDOWS936: "GBK",
  WINDOWS950: "BIG5",
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [`WINDOWS125${at}`, `WIN125${at}`] as const),
  ),
};

/** By the name without what is no letter or digit, which is how PostgreSQL compares names. */
const spellings: ReadonlyMap<string, string> = new Map([
  ...Object.keys(sources).map((name) => [plain(name), name] as const),
  ...Object.entries(aliases),
]);

/** PostgreSQL's own spelling of a character set that is known here. UTF-8 is none of them. */
export function charsetName(name: string): string | undefined {
  return spellings.get(plain(name));
}

const made = new Map<string, Charset>();

/** The character set of this name, as PostgreSQL spells it; undefined for UTF-8 and for what is not known here. */
export function charsetOf(name: string): Charset | undefined {
  const source = sources[name];
  if (source === undefined) return undefined;
  let charset = made.get(name);
  if (charset === undefined) {
    charset = charsetFrom(name, source);
    made.set(name, charset);
  }
  return charset;
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, "").toUpperCase();
}

/** No character begins with the byte, or it begins one of two. */
const none = -1;
const leads = -2;

function charsetFrom(name: string, source: Source): Charset {
  const { singles, pairs } = tablesOf(name, source);
  const codes = new Map<number, number>();
  for (const [code, char] of pairs) if (!codes.has(char)) codes.set(char, code);
  for (const [code, char] of singles.entries()) if (char >= 0) codes.set(char, code);
  return {
    name,
    decode: (bytes) => decoded(bytes, singles, pairs),
    encode: (text) => encoded(text, codes),
  };
}

function decoded(
  bytes: Uint8Array,
  singles: readonly number[],
  pairs: ReadonlyMap<number, number>,
): string | undefined {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    let char = singles[byte] ?? none;
    if (char === leads) {
      at += 1;
      char = pairs.get((byte << 8) | (bytes[at] ?? 0)) ?? none;
    }
    if (char < 0) return undefined;
    parts.push(String.fromCodePoint(char));
  }
  return parts.join("");
}

function encoded(text: string, codes: ReadonlyMap<number, number>): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length * 2);
  let length = 0;
  for (const char of text) {
    const code = codes.get(char.codePointAt(0) ?? 0);
    if (code === undefined) return undefined;
    if (code > 0xff) {
      bytes[length] = code >> 8;
      length += 1;
    }
    bytes[length] = code;
    length += 1;
  }
  return bytes.subarray(0, length);
}

interface Tables {
  /** The character of each byte, or what else it is. */
  readonly singles: readonly number[];
  readonly pairs: ReadonlyMap<number, number>;
}

function tablesOf(name: string, { label, bytesMax, trailMin = 0, controls }: Source): Tables {
  const decoder = new TextDecoder(label, { ignoreBOM: true });
  const charOf = (bytes: readonly number[]): number | undefined => {
    const text = decoder.decode(Uint8Array.from(bytes));
    const char = text.codePointAt(0) ?? 0xfffd;
    const whole = text.length === (char > 0xffff ? 2 : 1);
    return whole && char !== 0xfffd && !isPrivate(char) ? char : undefined;
  };
  const pairs = new Map<number, number>();
  const otherwise = readOtherwise[name];
  const singles = Array.from({ length: 256 }, (_, byte) => {
    if (byte < 0x80) return byte;
    if (bytesMax === 2 && name !== "SJIS") return none;
    if (controls === true && byte < 0xa0) return byte;
    if (name === "LATIN1") return byte;
    if (name === "WIN1252" && byte < 0xa0) return win1252[byte - 0x80] ?? none;
    return charOf([byte]) ?? none;
  });
  if (bytesMax === 1) return { singles, pairs };
  for (let lead = 0x80; lead < 0x100; lead += 1) {
    if (singles[lead] !== none) continue;
    for (let trail = trailMin; trail < 0x100; trail += 1) {
      const code = (lead << 8) | trail;
      const char = otherwise?.has(code) === true ? undefined : charOf([lead, trail]);
      if (char !== undefined) pairs.set(code, char);
    }
    singles[lead] = leads;
  }
  return { singles, pairs };
}

/** Characters that their users make up, which sets do not agree on. */
function isPrivate(char: number): boolean {
  return char >= 0xe000 && char <= 0xf8ff;
}

/** Between 128 and 159. Some versions of Node read them as those of LATIN1. */
const win1252: readonly number[] = [
  0x20ac,
  none,
  0x201a,
  0x0192,
  0x201e,
  0x2026,
  0x2020,
  0x2021,
  0x02c6,
  0x2030,
  0x0160,
  0x2039,
  0x0152,
  none,
  0x017d,
  none,
  none,
  0x2018,
  0x2019,
  0x201c,
  0x201d,
  0x2022,
  0x2013,
  0x2014,
  0x02dc,
  0x2122,
  0x0161,
  0x203a,
  0x0153,
  none,
  0x017e,
  0x0178,
];

/** Bytes of which the server makes another character than is made of them here. */
const readOtherwise: Readonly<Record<string, ReadonlySet<number>>> = {
  BIG5: new Set([
    0xa145, 0xa14e, 0xa15a, 0xa1c2, 0xa1c3, 0xa1c5, 0xa1e3, 0xa1f2, 0xa1f3, 0xa1fe, 0xa240, 0xa241,
    0xa242, 0xa244, 0xa246, 0xa247, 0xa2cc, 0xa2ce,
  ]),
};
