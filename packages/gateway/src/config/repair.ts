/**
 * Takes what is wrong out of a document, so that the rest of it can be judged in the same run.
 *
 * The result only serves to find further problems: it never becomes a config.
 */
import type { z } from "zod";
import { placesAt, type JsonSchema, type Path } from "@gateway/control/config/keys.ts";
import { sampleOf } from "./sample.ts";

/** What remained, and what was taken out. */
export interface Repaired<Config> {
  readonly config: Config;
  /** Paths whose value was replaced, taken out, or never written. Unknown keys are not listed: they meant nothing. */
  readonly removed: readonly Path[];
}

/** The shape of a document, in the two forms that are needed. */
export interface Shape<Config> {
  readonly schema: z.ZodType<Config>;
  readonly json: JsonSchema;
}

/** Each round shows the faults that the last one's hid. After this many nothing sensible remains. */
const roundsMax = 16;
/** Every fault costs a walk through the document. With more, the first run has enough to say. */
const faultsMax = 1_000;

/** Undefined when nothing sensible remains. */
export function withoutFaults<Config>(
  { schema, json }: Shape<Config>,
  input: unknown,
): Repaired<Config> | undefined {
  const removed: Path[] = [];
  const attempts = new Map<string, number>();
  let document = input;
  for (let round = 0; round < roundsMax; round += 1) {
    const parsed = schema.safeParse(document);
    if (parsed.success) return { config: parsed.data, removed };
    if (parsed.error.issues.length > faultsMax) return undefined;
    const edits = parsed.error.issues.flatMap((issue) => editsFor(issue, attempts, json, document));
    if (edits.some(({ path }) => path.length === 0)) return undefined;
    for (const { path, value, said } of edits) {
      if (said) removed.push(path);
      document = edited(document, path, value);
    }
  }
  return undefined;
}

interface Edit {
  readonly path: Path;
  /** Undefined deletes. */
  readonly value: unknown;
  readonly said: boolean;
}

/**
 * First a fitting value replaces the wrong one; then it is taken out; then what holds it is taken
 * out. Lists keep their length, or the numbers in the paths of other problems would change.
 */
function editsFor(
  issue: z.core.$ZodIssue,
  attempts: Map<string, number>,
  json: JsonSchema,
  document: unknown,
): readonly Edit[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...issue.path, key], value: undefined, said: false }));
  }
  const key = JSON.stringify(issue.path);
  const attempt = attempts.get(key) ?? 0;
  attempts.set(key, attempt + 1);

  const [place] = placesAt(json, issue.path, document);
  const sample = place === undefined ? undefined : sampleOf(json, place);
  if (attempt === 0 && sample !== undefined) {
    return [{ path: issue.path, value: sample, said: true }];
  }
  const path = issue.path.slice(0, issue.path.length - Math.max(0, attempt - 1));
  return [{ path: upToKey(path), value: undefined, said: true }];
}

/** An entry of a list can only go with its list. */
function upToKey(path: Path): Path {
  const end = path.findLastIndex((part) => typeof part !== "number");
  return path.slice(0, end + 1);
}

function edited(document: unknown, path: Path, value: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  if (Array.isArray(document)) {
    return document.map((item: unknown, index) =>
      index === first ? edited(item, rest, value) : item,
    );
  }
  const isMap = typeof document === "object" && document !== null;
  const entries = new Map<PropertyKey, unknown>(isMap ? Object.entries(document) : []);
  const inner = edited(entries.get(first), rest, value);
  if (inner === undefined) entries.delete(first);
  else entries.set(first, inner);
  return Object.fromEntries(entries);
}
