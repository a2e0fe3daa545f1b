/** Character sets of one byte a character, as PostgreSQL reads and writes them. */
import type { Texts } from "./charset.ts";

/** Of a byte that is no character. */
const noCharacter = "\ufffd";

/** The upper half of a set that the runtime reads too. */
const read = (label: string) => (): string => {
  const bytes = Uint8Array.from({ length: 128 }, (_, at) => at + 0x80);
  return new TextDecoder(label, { ignoreBOM: true }).decode(bytes);
};
/** The ISO sets have control characters between 128 and 159; the runtime reads some of them as Windows'. */
const controls = String.fromCharCode(...Array.from({ length: 32 }, (_, at) => at + 0x80));
const iso = (part: number) => (): string =>
  `${controls}${read(`iso-8859-${part}`)().slice(controls.length)}`;
const latin = String.fromCharCode(...Array.from({ length: 96 }, (_, at) => at + 0xa0));

/** Characters of the bytes from 0x80 on. Compared with `convert_from` of PostgreSQL 15 and 18. */
const upperHalves: Readonly<Record<string, () => string>> = {
  // Runtimes differ in what they read as these two.
  LATIN1: () => `${controls}${latin}`,
  WIN1252: () => `€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ${latin}`,
  LATIN2: iso(2),
  LATIN3: iso(3),
  LATIN4: iso(4),
  LATIN5: iso(9),
  LATIN6: iso(10),
  LATIN7: iso(13),
  LATIN8: iso(14),
  LATIN9: iso(15),
  // Node 20 has none of it.
  LATIN10: () =>
    `${controls}\u00a0ĄąŁ€„Š§š©Ș«Ź\u00adźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ`,
  ISO_8859_5: iso(5),
  ISO_8859_6: iso(6),
  ISO_8859_7: iso(7),
  ISO_8859_8: iso(8),
  WIN866: read("ibm866"),
  WIN874: read("windows-874"),
  WIN1250: read("windows-1250"),
  WIN1251: read("windows-1251"),
  WIN1253: read("windows-1253"),
  WIN1254: read("windows-1254"),
  WIN1255: read("windows-1255"),
  WIN1256: read("windows-1256"),
  WIN1257: read("windows-1257"),
  WIN1258: read("windows-1258"),
  KOI8R: read("koi8-r"),
  KOI8U: read("koi8-u"),
};

export const singleByteNames: readonly string[] = Object.keys(upperHalves);

/** Undefined for a name that is none of them. */
export function singleByteSet(name: string): Texts | undefined {
  const upper = Object.hasOwn(upperHalves, name) ? upperHalves[name]?.() : undefined;
  if (upper === undefined) return undefined;
  const units = new Uint16Array(256);
  const bytes = new Map<string, number>();
  for (let byte = 0; byte < 256; byte += 1) {
    const character = byte < 0x80 ? String.fromCharCode(byte) : upper.charAt(byte - 0x80);
    // What users make up is read in more than one way.
    const known = isPrivate(character) ? noCharacter : character;
    units[byte] = known.charCodeAt(0);
    if (known !== noCharacter) bytes.set(known, byte);
  }
  const all = (given: Uint8Array) =>
    utf16.decode(Uint16Array.from(given, (byte) => units[byte] ?? 0));
  return {
    decode: (given) => {
      const text = all(given);
      return text.includes(noCharacter) ? undefined : text;
    },
    shown: (given) => all(given).replaceAll(noCharacter, "?"),
    encode: (text) => encoded(text, bytes),
  };
}

const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });

function isPrivate(character: string): boolean {
  return character >= "\ue000" && character <= "\uf8ff";
}

function encoded(text: string, bytes: ReadonlyMap<string, number>): Uint8Array | undefined {
  const written = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const byte = bytes.get(text.charAt(at));
    if (byte === undefined) return undefined;
    written[at] = byte;
  }
  return written;
}
