/** Character sets of MySQL's besides Unicode's, by their names. */
import { multiByteSet } from "../../charset/multiByte.ts";
import { sources, type MultiByteName } from "../../charset/sources.ts";
import { tableOf } from "../../charset/table.ts";
import { isNarrow, narrowSet, type NarrowName } from "./narrow.ts";
import { isSingleByte, singleByteSet, type SingleByteName } from "./singleByte.ts";

/** A set whose bytes are no UTF-8: what its clients write is read by it. */
export type CharacterSetName = SingleByteName | MultiByteName;

/** A set that a server is to answer in, because its clients could not read all of utf8mb4. */
export type ResultsName = CharacterSetName | NarrowName;

export type PieceEnd = (bytes: Uint8Array, from: number, wanted: number) => number;

/** A set's directions. */
export interface CharacterSet {
  /** Undefined where bytes are no character of the set. */
  readonly decode: (bytes: Uint8Array) => string | undefined;
  /** For eyes alone: with a question mark where bytes are no character. */
  readonly shown: (bytes: Uint8Array) => string;
  /** With a question mark for what the set does not have, as a server writes it. */
  readonly encode: (text: string) => Uint8Array;
  /**
   * The first end of a character at `wanted` or behind it, where one begins at `from`. Undefined for sets in which a
   * character may begin anywhere.
   */
  readonly pieceEnd?: PieceEnd;
}

/** Sets that are used, made when one is asked for first: most processes meet none. */
const made = new Map<ResultsName, CharacterSet>();

export function isMultiByte(name: string): name is MultiByteName {
  return Object.hasOwn(sources, name);
}

export function isCharacterSet(name: string): name is CharacterSetName {
  return isSingleByte(name) || isMultiByte(name);
}

export function isResultsName(name: string): name is ResultsName {
  return isNarrow(name) || isCharacterSet(name);
}

export function characterSet(name: ResultsName): CharacterSet {
  const known = made.get(name);
  if (known !== undefined) return known;
  const set = setOf(name);
  made.set(name, set);
  return set;
}

function setOf(name: ResultsName): CharacterSet {
  if (isNarrow(name)) return narrowSet(name);
  return isSingleByte(name) ? singleByteSet(name) : severalBytes(name);
}

function severalBytes(name: MultiByteName): CharacterSet {
  const { decode, shown, nearest, pieceEnd } = multiByteSet(() => tableOf(sources[name]));
  return { decode, shown, encode: nearest, pieceEnd };
}
