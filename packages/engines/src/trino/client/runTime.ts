/**
 * Trino's own time limit of a statement: `query_max_run_time`, which counts from the submission, waiting in
 * Trino's queue included, to the end of the answer. Source: `QueryTracker` and `SystemSessionProperties` of
 * Trino 476.
 *
 * A session's property lowers it. What a text says in front of a query (`WITH SESSION`) goes over the
 * session's, so a text that may do that to this property is refused.
 */
import { propertyPairs } from "@gateway/wire/trino/headers.ts";

export const runTimeProperty = "query_max_run_time";

/** Source: airlift's `Duration`, in which Trino reads it. */
const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The property's value: the session's own where that is shorter. What can not be read is not shorter. */
export function runTimeOf(own: string | undefined, maxExecutionMs: number): string {
  const limit = `${maxExecutionMs}ms`;
  if (own === undefined) return limit;
  const [, count = "", unit = ""] = /^(\d{1,15}(?:\.\d{1,9})?)\s*([a-z]{1,2})$/.exec(own) ?? [];
  const ms = Number(count) * (unitMs[unit] ?? Number.NaN);
  return ms <= maxExecutionMs ? own : limit;
}

/**
 * Whether a text, or one that it may execute (`prepared`, as the header carries them), may set the property
 * by itself. Read widely: a text that only speaks of all this is refused too, and nothing else is.
 */
export function maySetRunTime(sql: string, prepared: string | undefined): boolean {
  if (maySetIt(sql)) return true;
  if (prepared === undefined) return false;
  const pairs = propertyPairs(prepared);
  return pairs === undefined || [...pairs].some(([, text]) => maySetIt(text));
}

function maySetIt(sql: string): boolean {
  // Escapes in a text that is executed hide words. The rarer of the two is looked for first.
  if (/u&'/i.test(sql) && /\bexecute\b/i.test(sql)) return true;
  return /query_max_run_time/i.test(sql) && /\bwith\b/i.test(sql) && /\bsession\b/i.test(sql);
}
