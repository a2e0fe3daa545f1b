/**
 * Takes what is wrong out of a document, so that the rest of it can be judged in the same run.
 *
 * The result is for finding further problems and for nothing else: it never becomes a config.
 */
import type { z } from "zod";
import { valueAt, type Path } from "./keys.ts";

/** What remained, and what had to go for it. */
export interface Repaired<Config> {
  readonly config: Config;
  /** Paths that were there, or should have been, and say nothing now. Unknown keys are not among them: they never said anything. */
  readonly removed: readonly Path[];
}

/** Each round takes out what the one before laid bare: a missing field takes its object along. */
const roundsMax = 12;

/** Undefined when nothing sensible remains. */
export function withoutFaults<Config>(
  schema: z.ZodType<Config>,
  input: unknown,
): Repaired<Config> | undefined {
  const removed: Path[] = [];
  let document = input;
  for (let round = 0; round < roundsMax; round += 1) {
    const parsed = schema.safeParse(document);
    if (parsed.success) return { config: parsed.data, removed };
    for (const issue of parsed.error.issues) {
      if (issue.code === "unrecognized_keys") {
        for (const key of issue.keys) document = without(document, [...issue.path, key]);
        continue;
      }
      const path = removable(document, issue.path);
      if (path.length === 0) return undefined;
      removed.push(path);
      document = without(document, path);
    }
  }
  return undefined;
}

/** The nearest thing at or above `path` that is written. A list goes as a whole, or the numbers of its other entries would change. */
function removable(document: unknown, path: Path): Path {
  const inList = path.findIndex((part) => typeof part === "number");
  let end = inList === -1 ? path.length : inList;
  while (end > 0 && valueAt(document, path.slice(0, end)) === undefined) end -= 1;
  return path.slice(0, end);
}

function without(value: unknown, path: Path): unknown {
  const [first, ...rest] = path;
  if (first === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === first ? without(item, rest) : item));
  }
  const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    if (key !== first) return [[key, item]];
    return rest.length === 0 ? [] : [[key, without(item, rest)]];
  });
  return Object.fromEntries(entries);
}
