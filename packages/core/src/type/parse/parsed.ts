/** What the parsers of this folder answer: the value, or why there is none. Only parse.ts makes errors of it. */

/** The text is no value of the type. */
export const wrongText = Symbol("wrongText");
/** The text is a value that the type does not hold. */
export const outOfRange = Symbol("outOfRange");

export type Parsed<T> = T | typeof wrongText | typeof outOfRange;

/** True for an answer without a value. */
export function isRefused(parsed: unknown): parsed is typeof wrongText | typeof outOfRange {
  return parsed === wrongText || parsed === outOfRange;
}
