/**
 * Whether a statement of an agent may run in its group: a model writes the text, often from what strangers wrote into
 * the data, so what may change something needs the group's word.
 *
 * It knows the words of a statement and nothing of functions. The engine's own rights are the last word.
 */
import { gatewayError, type GatewayError } from "../error.ts";
import { onlyReads } from "../guard/kinds.ts";
import type { Query } from "../query/query.ts";

/** The frontend whose clients are agents. */
const ofAgents = "mcp";

/** The refusal of a statement that may write where agents only read; undefined for one that may run. */
export function agentRefusal(
  { session, statement }: Pick<Query, "session" | "statement">,
  agentWrites: boolean | undefined,
): GatewayError | undefined {
  if (agentWrites === true || session.frontend !== ofAgents || onlyReads(statement))
    return undefined;
  return statement.doubt === undefined ? mayWrite : doubtful;
}

const mayWrite = gatewayError("policy.denied", {
  message: "Agents may only read here, and this statement may write.",
  hint: "An operator allows it with agentWrites of the cluster group.",
});
const doubtful = gatewayError("policy.denied", {
  message:
    "Agents may only read here, and engines may read this text in different ways, so nobody can tell whether it writes.",
  hint: "Write it without comments that hold code, unusual quotes and escapes.",
});
