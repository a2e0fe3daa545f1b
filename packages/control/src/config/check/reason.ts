/** Words for what zod finds: its own texts speak of types and code. None of them repeats the value. */
import type { z } from "zod";
import { nearest } from "./nearest.ts";

/**
 * What is wrong with a value, for an operator; undefined leaves zod's own text.
 *
 * Given to `safeParse` as `error`: a schema with a text of its own keeps that.
 */
export function issueText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return typeText([issue.expected], issue.input);
    case "invalid_value":
      return valueText(issue.values.map(String), issue.input);
    case "too_small":
      return sizeText(issue.origin, "at least", issue.minimum);
    case "too_big":
      return sizeText(issue.origin, "at most", issue.maximum);
    case "invalid_format":
      return issue.format === "url" ? "must be a URL with its scheme" : undefined;
    case "invalid_key":
      return `the name ${issue.issues.map((inner) => lowerFirst(inner.message)).join(", and ")}`;
    default:
      return undefined;
  }
}

/** `must be text or a list, not a number`; `expected` are zod's words for types. */
export function typeText(expected: readonly string[], input: unknown): string {
  const wanted = [...new Set(expected.map((type) => nouns.get(type) ?? type))].join(" or ");
  if (input === undefined) return `is missing; must be ${wanted}`;
  if (input === null) return `is empty; must be ${wanted}`;
  const given = Array.isArray(input) ? "a list" : (nouns.get(typeof input) ?? typeof input);
  // A number that is not whole is refused as a number, and NaN as no number.
  return typeof input === "number" && wanted.includes("number")
    ? `must be ${wanted}`
    : `must be ${wanted}, not ${given}`;
}

const nouns: ReadonlyMap<string, string> = new Map([
  ["string", "text"],
  ["number", "a number"],
  ["int", "a whole number"],
  ["boolean", "true or false"],
  ["object", "a map of keys"],
  ["record", "a map of keys"],
  ["array", "a list"],
]);

function valueText(values: readonly string[], input: unknown): string {
  const near = typeof input === "string" ? nearest(input, values) : undefined;
  const missing = input === undefined ? "is missing; " : "";
  const hint = near === undefined || values.length === 1 ? "" : `; did you mean ${near}?`;
  return `${missing}must be ${oneOf(values)}${hint}`;
}

function sizeText(origin: string, bound: string, size: number | bigint): string {
  switch (origin) {
    case "string":
      return bound === "at least" && size === 1
        ? "must not be empty"
        : `must have ${bound} ${size} characters`;
    case "array":
      return `must have ${bound} ${size} ${size === 1 ? "entry" : "entries"}`;
    default:
      return `must be ${bound} ${size}`;
  }
}

/** `a`, or `one of a, b`. */
export function oneOf(values: readonly string[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(", ")}`;
}

/** Reasons follow a path and a colon. */
export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
