/** Routes by a script, which is asked off the main thread: the only rule whose decision comes later. */
import { err, ok } from "../../result.ts";
import { gatewayError } from "../../error.ts";
import type { AskScript } from "./ask.ts";
import { noMatch, type LaterCondition, type LaterRule } from "./rule.ts";

/** A group that the router does not list is a failure: a misspelt name must not route to wherever the next router says. */
export function scriptRule(script: string, targets: readonly string[], ask: AskScript): LaterRule {
  const known = new Set(targets);
  return async (query) => {
    const answer = await ask("route", script, { query });
    if (!answer.ok) return answer;
    const { value } = answer;
    if (value === null) return ok(noMatch);
    if (typeof value === "object") return ok({ kind: "deny", error: value.deny });
    if (known.has(value)) return ok({ kind: "group", group: value });
    const message = `The script ${script} of the configuration named a group that its router does not list.`;
    return err(gatewayError("script.failed", { message }));
  };
}

export function scriptCondition(script: string, ask: AskScript): LaterCondition {
  return (query) => ask("match", script, { query });
}
