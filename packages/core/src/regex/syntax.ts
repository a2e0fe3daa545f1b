/**
 * The shape of a parsed pattern and the limits a pattern must keep.
 *
 * Not the parser (`parse.ts`) and not the machine (`program.ts`, `match.ts`): only data.
 */
import type { CharSet } from "./charSet.ts";

/** Why a pattern was refused. `at` is an offset into the pattern in UTF-16 units. */
export interface RegexError {
  readonly at: number;
  readonly reason: string;
}

/** A condition between two characters. `lineStart` and `lineEnd` are `^` and `$` under `(?m)`. */
export type Assertion =
  | "textStart"
  | "textEnd"
  | "lineStart"
  | "lineEnd"
  | "wordBoundary"
  | "notWordBoundary";

/**
 * One pattern. Groups leave no trace, because only the yes or no of a match is asked for; greedy and
 * lazy quantifiers are the same node for that reason.
 */
export type RegexNode =
  | { readonly kind: "empty" }
  | { readonly kind: "set"; readonly set: CharSet }
  | { readonly kind: "assert"; readonly assertion: Assertion }
  | { readonly kind: "concat"; readonly items: readonly RegexNode[] }
  | { readonly kind: "choice"; readonly options: readonly RegexNode[] }
  | {
      readonly kind: "repeat";
      readonly item: RegexNode;
      readonly min: number;
      /** Absent means without an upper bound. */
      readonly max: number | undefined;
      /** Where the quantifier stands, for the error when its expansion is too large. */
      readonly at: number;
    };

/** Longest pattern accepted, in UTF-16 units. */
export const patternLengthMax = 8_192;

/** Deepest nesting of groups. The parser and the compiler recurse once per level. */
export const groupDepthMax = 200;

/** Largest number inside `{n,m}`. RE2 has the same. */
export const repeatCountMax = 1_000;

/** Largest program after `{n,m}` was written out; the cost of one step of the slowest search. */
export const instructionCountMax = 10_000;
