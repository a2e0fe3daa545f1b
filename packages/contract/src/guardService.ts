/**
 * What a web service of a guard is asked and what it may answer: JSON both ways.
 *
 * An answer of another shape, also one with a key that nobody reads, is no answer and never read as something near it.
 */
import { z } from "zod";
import type { guardStages } from "./config/guardrail.ts";

/** The body of the request. Keys of the caller that the configuration does not name are absent. */
export interface GuardQuestion {
  /** Name of the guard. */
  readonly guard: string;
  readonly stage: (typeof guardStages)[number];
  /** `digest.text` is null where the statement can not be read for certain: values might show in it. */
  readonly statement:
    | { readonly text: string }
    | { readonly digest: { readonly text: string | null; readonly fingerprint: string } };
  /** As guards name it: `select`, `insert`, `ddl`, `unknown`. */
  readonly kind: string;
  /** Of the statement: the client's before translation, the engine's after it. */
  readonly dialect: string;
  readonly clusterGroup: string;
  /** After translation alone: the cluster that was chosen. */
  readonly cluster?: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly roles?: readonly string[];
}

const message = z.string().min(1).max(1_000);

const answer = z.discriminatedUnion("decision", [
  z.strictObject({ decision: z.literal("allow") }),
  z.strictObject({ decision: z.literal("deny"), message: message.optional() }),
  z.strictObject({ decision: z.literal("warn"), message }),
  z.strictObject({ decision: z.literal("rewrite"), sql: z.string().min(1).max(65_536) }),
]);

export type GuardAnswer = z.output<typeof answer>;

/** The answer; undefined where it is none. */
export function guardAnswer(json: unknown): GuardAnswer | undefined {
  const parsed = answer.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}
