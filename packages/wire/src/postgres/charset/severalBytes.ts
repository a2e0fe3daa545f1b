/**
 * Character sets of several bytes a character, as PostgreSQL reads them. Compared with `convert_from` of PostgreSQL 15
 * and 18 for every byte, every two, every three behind 0x8F, and every four.
 */
import { multiByteSet } from "../../charset/multiByte.ts";
import type { Source } from "../../charset/source.ts";
import { sources } from "../../charset/sources.ts";
import { tableOf, type Table } from "../../charset/table.ts";
import type { Texts } from "./charset.ts";
import { eucTwTable } from "./eucTw.ts";
import { johabTable } from "./johab.ts";
import { standardKorean } from "./korean.ts";

/** Ninety-four characters that users make up, in the order of Unicode. */
const ownRow = (first: number): string =>
  String.fromCharCode(...Array.from({ length: 94 }, (_, at) => first + at));

/** Behind them Windows has characters that other systems have in three bytes. */
const eucJpLeads = [
  [0x8e, 0x8e],
  [0xa1, 0xf4],
] as const;

const tables = {
  EUC_JP: from({ ...sources.eucjpms, leads: eucJpLeads, own: "none" }),
  SJIS: from({ ...sources.cp932, own: "none" }),
  BIG5: from(sources.big5),
  GBK: from(sources.gbk),
  EUC_CN: from(sources.gb2312),
  GB18030: from(sources.gb18030),
  EUC_KR: from(standardKorean),
  UHC: () =>
    tableOf({
      ...standardKorean,
      syllables: true,
      otherwise: [...standardKorean.otherwise, [0xc9a1, ownRow(0xe000)], [0xfea1, ownRow(0xe05e)]],
    }),
  JOHAB: johabTable,
  EUC_TW: eucTwTable,
} as const satisfies Readonly<Record<string, () => Table>>;

type Name = keyof typeof tables;

export const severalBytesNames: readonly string[] = Object.keys(tables);

export function isSeveralBytes(name: string): name is Name {
  return Object.hasOwn(tables, name);
}

export function severalBytesSet(name: Name): Texts {
  const { decode, shown, encode } = multiByteSet(tables[name]);
  if (name !== "GB18030") return { decode, shown, encode };
  return {
    decode: (bytes) => undisputed(decode(bytes)),
    shown,
    encode: (text) => (disputed.test(text) ? undefined : encode(text)),
  };
}

/**
 * Characters that changed their places between the editions of GB 18030 of 2000, 2005 and 2022. Servers of different
 * age, and runtimes, read other ones of them from the same bytes.
 */
const disputed =
  /[\u1e3f\u9fb4-\u9fbb\ue78d-\ue796\ue7c7\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864\ufe10-\ufe19]/u;

function undisputed(text: string | undefined): string | undefined {
  return text === undefined || disputed.test(text) ? undefined : text;
}

function from(source: Source): () => Table {
  return () => tableOf(source);
}
