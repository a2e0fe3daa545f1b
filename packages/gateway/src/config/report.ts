/** Turns what zod found into lines an operator can act on: path, reason, nearest known key. */
import type { z } from "zod";
import { keysAt, type JsonSchema } from "./keys.ts";

/** One problem of a config, for people. */
export interface ConfigProblem {
  /** `clusters.main.engine`; empty for the file itself. */
  readonly path: string;
  readonly reason: string;
}

type Path = readonly PropertyKey[];

/** Every issue as a problem; `schema` is the JSON Schema of the root, `input` what was parsed. */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  schema: JsonSchema,
  input: unknown,
): readonly ConfigProblem[] {
  return issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) =>
        unknownKey(issue.path, key, keysAt(schema, issue.path, input)),
      );
    }
    if (issue.code === "invalid_union")
      return [{ path: textOf(issue.path), reason: unionReason(issue) }];
    return [{ path: textOf(issue.path), reason: lowerFirst(issue.message) }];
  });
}

/** `clusters.main: reason`, one problem. */
export function lineOf(problem: ConfigProblem): string {
  return problem.path === "" ? problem.reason : `${problem.path}: ${problem.reason}`;
}

/** Dotted path; names with dots or spaces are quoted. */
export function textOf(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    const name = String(part);
    const shown = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
    return text === "" ? shown : `${text}.${shown}`;
  }, "");
}

function unknownKey(path: Path, key: string, known: readonly string[]): ConfigProblem {
  const near = nearest(key, known);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return { path: textOf([...path, key]), reason: `unknown key${hint}` };
}

/** A union without a discriminator says "Invalid input"; what its closest member said helps more. */
function unionReason(issue: z.core.$ZodIssueInvalidUnion): string {
  if ("discriminator" in issue && issue.discriminator !== undefined) {
    return `${String(issue.discriminator)}: ${lowerFirst(issue.message)}`;
  }
  const reasons = issue.errors.flatMap((branch) =>
    branch.map((inner) => {
      const at = textOf(inner.path);
      return at === "" ? lowerFirst(inner.message) : `${at}: ${lowerFirst(inner.message)}`;
    }),
  );
  return [...new Set(reasons)].join(", or ");
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** The known key with the smallest edit distance, if it is close enough to be a slip. */
export function nearest(key: string, known: readonly string[]): string | undefined {
  let best: { readonly key: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(key.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { key: candidate, distance };
  }
  const closeEnough = Math.max(2, Math.floor(key.length / 3));
  return best !== undefined && best.distance <= closeEnough ? best.key : undefined;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
