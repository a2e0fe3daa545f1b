/** What the parsers of this folder return: the value, or why there is none. parse.ts turns that into an error. */

/** The text is no value of the type. */
export const wrongText = Symbol("wrongText");
/** The text is a value that the type does not hold. */
export const outOfRange = Symbol("outOfRange");

export type Parsed<T> = T | typeof wrongText | typeof outOfRange;

/** True for a result without a value. */
export function isRefused(parsed: unknown): parsed is typeof wrongText | typeof outOfRange {
  return parsed === wrongText || parsed === outOfRange;
}
