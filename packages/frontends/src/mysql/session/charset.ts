/**
 * How a client's bytes are read, and in what it is answered.
 *
 * Only character sets that clients really use are read; MySQL's `latin1` is Windows-1252. What is answered here is
 * utf8mb4, which its definitions say; errors, and what a server of MySQL's answers, are in the set that the client
 * asked for.
 */
import {
  characterSet,
  isCharacterSet,
  isMultiByte,
  type CharacterSetName,
  type PieceEnd,
} from "@gateway/wire/mysql/charset/characterSet.ts";
import { repeatedText } from "@gateway/wire/text.ts";
import { collationNamed, collations } from "./collations.ts";

/** A character set by MySQL's name, and how it reads. */
export interface Charset {
  readonly name: "utf8mb4" | "utf8mb3" | "ascii" | "binary" | CharacterSetName;
  readonly collation: string;
  /** Undefined when the bytes are no text of this set. */
  readonly decode: (bytes: Uint8Array) => string | undefined;
  /** Where a piece of a long text may end; undefined where that is as in UTF-8. */
  readonly pieceEnd?: PieceEnd;
}

export const utf8mb4: Charset = {
  name: "utf8mb4",
  collation: "utf8mb4_0900_ai_ci",
  decode: repeatedText,
};

const charsets: readonly Charset[] = [
  utf8mb4,
  { name: "utf8mb3", collation: "utf8mb3_general_ci", decode: utf8mb3Text },
  { name: "ascii", collation: "ascii_general_ci", decode: repeatedText },
  ...ownOf({
    latin1: "latin1_swedish_ci",
    latin2: "latin2_general_ci",
    latin7: "latin7_general_ci",
    cp1250: "cp1250_general_ci",
    cp1251: "cp1251_general_ci",
    cp1256: "cp1256_general_ci",
    cp1257: "cp1257_general_ci",
    koi8r: "koi8r_general_ci",
    koi8u: "koi8u_general_ci",
    cp866: "cp866_general_ci",
    macroman: "macroman_general_ci",
    sjis: "sjis_japanese_ci",
    cp932: "cp932_japanese_ci",
    ujis: "ujis_japanese_ci",
    eucjpms: "eucjpms_japanese_ci",
    gbk: "gbk_chinese_ci",
    gb2312: "gb2312_chinese_ci",
    gb18030: "gb18030_chinese_ci",
    big5: "big5_chinese_ci",
    euckr: "euckr_korean_ci",
  }),
  // A client with the set `binary` still sends its statements as text.
  { name: "binary", collation: "binary", decode: repeatedText },
];

/**
 * mysql2 under `utf8` writes a character of four bytes as two halves of three (CESU-8), which a server takes. The
 * halves are looked for only where the bytes are no UTF-8.
 */
function utf8mb3Text(bytes: Uint8Array): string | undefined {
  const text = repeatedText(bytes);
  if (text !== undefined) return text;
  const latin1 = Buffer.from(bytes).toString("latin1").replaceAll(bothHalves, characterOf);
  return repeatedText(Buffer.from(latin1, "latin1"));
}

const bothHalves = /\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]/g;

function characterOf(halves: string): string {
  const [high, low] = [1, 4].map((at) => {
    const [first, second] = [halves.charCodeAt(at), halves.charCodeAt(at + 1)];
    return 0xd000 | ((first & 0x3f) << 6) | (second & 0x3f);
  });
  return Buffer.from(String.fromCharCode(high ?? 0, low ?? 0)).toString("latin1");
}

function ownOf(own: Readonly<Record<CharacterSetName, string>>): readonly Charset[] {
  return Object.entries(own).flatMap(([name, collation]) => {
    if (isMultiByte(name)) return [{ name, collation, ...characterSet(name) }];
    if (!isCharacterSet(name)) return [];
    return [{ name, collation, decode: (bytes: Uint8Array) => characterSet(name).decode(bytes) }];
  });
}

/** By the name a client writes in SET NAMES; undefined for sets that are not read. */
export function charsetNamed(name: string): Charset | undefined {
  const wanted = name.toLowerCase();
  const found = wanted === "utf8" ? "utf8mb3" : wanted;
  return charsets.find((charset) => charset.name === found);
}

/** By the collation id of the handshake. An id that is not known means utf8mb4, as a server's default would. */
export function charsetOf(collation: number): Charset {
  const [set = ""] = collationNamed(collation)?.split("_") ?? [];
  return charsetNamed(set) ?? utf8mb4;
}

/** Settings of a session by which an engine of MySQL's family compares texts as the client's login asks. */
export type Comparing = ReadonlyMap<"names" | "collation_connection", string>;

/**
 * How texts are compared under a collation: connections to engines are utf8mb4 whatever the client reads, so
 * the collation of another set stands beside it. Undefined: the character set's own, as the server has it.
 */
export function comparingBy(collation: string | undefined): Comparing {
  if (collation === undefined) return new Map([["names", "utf8mb4"]]);
  if (collation.startsWith("utf8mb4_")) return new Map([["names", `utf8mb4 COLLATE ${collation}`]]);
  return new Map([
    ["names", "utf8mb4"],
    ["collation_connection", collation],
  ]);
}

const byId: ReadonlyMap<number, Comparing> = new Map(
  [...collations].map(([id, name]) => [id, comparingBy(name)]),
);
const unknown = comparingBy(undefined);

/** The same for the collation id of a handshake. Shared by all sessions that have it. */
export function comparingAt(collation: number): Comparing {
  return byId.get(collation) ?? unknown;
}
