/**
 * What scripts are given and what they may answer: plain JSON both ways.
 *
 * An answer of another shape is a failure of the script and never read as something near it.
 */
import { z } from "zod";
import type { ScriptUse } from "./config/script.ts";

/** Characters of a statement that a script is given; `sqlLength` tells how many it has. */
export const scriptSqlMax = 65_536;

/** What every script is given as its first argument. */
export interface ScriptQuery {
  /** The client's statement, or what the stages before made of it; at most its first 65,536 characters. */
  readonly sql: string;
  readonly sqlLength: number;
  /** As guards name it: `select`, `insert`, `ddl`, `unknown`. */
  readonly kind: string;
  /** What the statement is bound to; values are not given. */
  readonly parameters: number;
  readonly user: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  /** The frontend: `trinoHttp`, `postgresWire`. */
  readonly protocol: string;
  readonly clientAddress: string;
  /** Lower-case names; empty where the protocol has none. Never one with a credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly catalog: string | null;
  readonly schema: string | null;
  /** Dialect of the client. */
  readonly dialect: string;
  /** The cluster group; null before routing. */
  readonly group: string | null;
}

/** A member of the group, as `order` is given a list of in its second argument. */
export interface ScriptMember {
  readonly cluster: string;
  readonly engine: string;
  /** Attempts of this process that run there now. */
  readonly running: number;
}

/** Second argument of `rewrite`. */
export interface ScriptPlace {
  readonly when: "before" | "after";
  readonly cluster: string;
  readonly engine: string;
  /** Dialect of the engine. */
  readonly dialect: string;
}

const text = z.string().min(1).max(1_000);
const reasonOnly = (key: "deny" | "warn") => z.strictObject({ [key]: text });

/** What each use may answer. Undefined becomes null on its way. */
const answers = {
  route: z.union([z.null(), text, z.strictObject({ deny: text })]),
  match: z.boolean(),
  order: z.array(text).max(1_000),
  judge: z.union([z.null(), reasonOnly("deny"), reasonOnly("warn")]),
  rewrite: z.union([z.null(), z.string().min(1).max(1_000_000)]),
} as const satisfies Record<ScriptUse, z.ZodType>;

const answerTexts = {
  route: "the name of a group, { deny: reason } or null",
  match: "true or false",
  order: "a list of names of clusters",
  judge: "null, { deny: reason } or { warn: reason }",
  rewrite: "the new statement or null",
} as const satisfies Record<ScriptUse, string>;

export interface ScriptAnswers {
  /** The group, a refusal, or null: the next router is asked. */
  readonly route: string | { readonly deny: string } | null;
  readonly match: boolean;
  /** Clusters, best first. Those it leaves out come last in their order; names that are no members do nothing. */
  readonly order: readonly string[];
  readonly judge: { readonly deny: string } | { readonly warn: string } | null;
  /** Null leaves the statement as it is. */
  readonly rewrite: string | null;
}

/** The answer, or undefined where it has another shape. */
export function scriptAnswer<Use extends ScriptUse>(
  use: Use,
  answer: unknown,
): { readonly value: ScriptAnswers[Use] } | undefined {
  const parsed = answers[use].safeParse(answer);
  return parsed.success ? { value: parsed.data as ScriptAnswers[Use] } : undefined;
}

/** What a script of this use has to answer, for people. */
export function scriptAnswerText(use: ScriptUse): string {
  return answerTexts[use];
}
