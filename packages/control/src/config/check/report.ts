/**
 * Turns what zod found into lines an operator can act on: path, reason, nearest known key.
 *
 * No line repeats a value of the config: it may be a secret in the wrong place.
 */
import type { z } from "zod";
import { keysAt, kindsAt, valueAt, type JsonSchema, type Path } from "../keys.ts";
import { nearest } from "./nearest.ts";
import { lowerFirst, oneOf, typeText } from "./reason.ts";

/** One problem of a config, for people. */
export interface ConfigProblem {
  /** `clusters.main.engine`; empty for the file itself. */
  readonly path: string;
  readonly reason: string;
}

type Issue = z.core.$ZodIssue;

/** Every issue as a problem; `schema` is the JSON Schema of the root, `input` what was parsed. */
export function problemsOf(
  issues: readonly Issue[],
  schema: JsonSchema,
  input: unknown,
): readonly ConfigProblem[] {
  const found = issues.flatMap((issue) => problemsOfOne(issue, [], schema, input));
  const seen = new Set<string>();
  return found.filter((problem) => {
    const line = lineOf(problem);
    return !seen.has(line) && seen.add(line);
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

/** `base` leads to the union that the issue was found in; issues of a union's members begin there. */
function problemsOfOne(
  issue: Issue,
  base: Path,
  schema: JsonSchema,
  input: unknown,
): readonly ConfigProblem[] {
  const path = [...base, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(schema, path, input);
    return issue.keys.map((key) => unknownKey(path, key, known));
  }
  if (issue.code !== "invalid_union")
    return [{ path: textOf(path), reason: lowerFirst(issue.message) }];
  if (issue.discriminator !== undefined) return [wrongKind(path, schema, input)];

  const meant = meantBranch(issue.errors);
  if (meant !== undefined) {
    return meant.flatMap((inner) => problemsOfOne(inner, path, schema, input));
  }
  return [{ path: textOf(path), reason: unionText(issue.errors, valueAt(input, path)) }];
}

function unknownKey(path: Path, key: string, known: readonly string[]): ConfigProblem {
  const near = nearest(key, known);
  const hint = near === undefined ? knownText(known) : `; did you mean ${near}?`;
  return { path: textOf([...path, key]), reason: `unknown key${hint}` };
}

function knownText(known: readonly string[]): string {
  return known.length === 0 ? "; no key is known here" : `; known here: ${known.join(", ")}`;
}

/** The discriminator of a union has no value or an unknown one. */
function wrongKind(path: Path, schema: JsonSchema, input: unknown): ConfigProblem {
  const kinds = kindsAt(schema, path, input);
  const value = valueAt(input, path);
  const near = typeof value === "string" ? nearest(value, kinds) : undefined;
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  const missing = value === undefined ? "is missing; " : "";
  return { path: textOf(path), reason: `${missing}must be ${oneOf(kinds)}${hint}` };
}

/** The member of a union that the value was meant for: the only one whose type fits it. */
function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const close = branches.filter((issues) => !issues.some(refusesType));
  return close.length === 1 ? close[0] : undefined;
}

function refusesType(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code === "invalid_type";
}

function unionText(branches: readonly (readonly Issue[])[], value: unknown): string {
  const issues = branches.flat();
  const expected = issues.flatMap((issue) =>
    issue.code === "invalid_type" && refusesType(issue) ? [issue.expected] : [],
  );
  if (expected.length === issues.length) return typeText(expected, value);
  return [...new Set(issues.map((issue) => lowerFirst(issue.message)))].join(", or ");
}
