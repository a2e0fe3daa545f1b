/**
 * What was found out about configurations, so that nothing is read or judged twice. Maps of objects are never changed,
 * so they themselves are the keys. Apart from what finds it out, because whoever only commits needs no shapes.
 */
import type { JudgeConfig } from "../configuration.ts";
import type { ConfigObject, JsonMap } from "../file.ts";
import type { FileConfig } from "../objects.ts";

export type Objects = ReadonlyMap<string, ConfigObject>;

/** A configuration in two forms. */
export interface Parsed {
  readonly file: JsonMap;
  /** What `fileSchema` makes of the file; undefined where the file itself must be parsed. */
  readonly config: FileConfig | undefined;
}

/** How a configuration came about: `put` was put into `from`, and nothing else changed. */
export interface Step {
  readonly from: Objects;
  readonly put: ConfigObject;
}

/** Configurations that were read. */
export const parsedBefore = new WeakMap<Objects, Parsed>();
/** Configurations without a fault, each with the judge that found none. */
export const faultless = new WeakMap<Objects, JudgeConfig>();

/** Says that `objects` have the content of `as`, in the same order, so that nothing is judged twice. */
export function judgedLike(as: Objects, objects: Objects): void {
  const parsed = parsedBefore.get(as);
  if (parsed !== undefined) parsedBefore.set(objects, parsed);
  const judge = faultless.get(as);
  if (judge !== undefined) faultless.set(objects, judge);
}
