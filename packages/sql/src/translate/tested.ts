/** Whether a word of a statement was tested for a pair of dialects. */
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { testedWords } from "./testedWords.ts";

/** Whether engines of both dialects gave the same rows for statements with this word, and never other ones. */
export function isTested(source: Dialect, target: Dialect, word: string): boolean {
  return always.has(word) || words.get(`${source} ${target}`)?.has(word) === true;
}

const words: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(testedWords).map(([pair, list]) => [pair, new Set(list.trim().split(/;\s+/))]),
);

/** A value comes by its number to every engine. */
const always: ReadonlySet<string> = new Set(["parameter", "parameter.style=dollar"]);
