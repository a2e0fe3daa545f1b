/** Who asks a script: every place of the configuration that names it. Pure. */
import { isObject } from "../tool/json.ts";

/** A document of the configuration, and how it is called. */
export interface Place {
  /** `Group main` */
  readonly title: string;
  /** Its page. */
  readonly to: string;
  readonly body: unknown;
}

/** In the order of the places, each once. */
export function askedBy(script: string, places: readonly Place[]): readonly Place[] {
  return places.filter(({ body }) => names(body, script));
}

/** Each reference is a key `script` of whatever kind of place it stands in. */
function names(value: unknown, script: string): boolean {
  if (Array.isArray(value)) return value.some((each) => names(each, script));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, each]) =>
    key === "script" && typeof each === "string" ? each === script : names(each, script),
  );
}
