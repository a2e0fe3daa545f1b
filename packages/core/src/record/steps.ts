/** The way of a query, as its record tells it, compared with another one's: mostly they say the same. */
import type { QueryRecord } from "@gateway/contract/record.ts";

type Steps = QueryRecord["routingTrace"];

/** Whether both say the same, step by step. */
export function sameSteps(some: Steps, others: Steps): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at += 1) {
    const [one, other] = [some[at], others[at]];
    if (one?.step !== other?.step || one?.outcome !== other?.outcome) return false;
  }
  return true;
}
