/** Routes by several conditions together. Knows every kind of condition. */
import type { ConditionConfig } from "@gateway/contract/config/router.ts";
import type { GatewayError } from "../../error.ts";
import type { Query } from "../../query/query.ts";
import { ok, unreachable, type Result } from "../../result.ts";
import type { AskScript } from "./ask.ts";
import { headerCondition } from "./header.ts";
import { protocolCondition } from "./protocol.ts";
import { queryRegexCondition } from "./queryRegex.ts";
import { noMatch, type LaterCondition, type LaterRule } from "./rule.ts";
import { scriptCondition } from "./script.ts";
import { tagsCondition } from "./tags.ts";
import { userGroupCondition } from "./userGroup.ts";

type Combined = Pick<Extract<ConditionConfig, { type: "compound" }>, "combine" | "conditions">;

export function compoundRule(
  config: Combined & { readonly targetGroup: string },
  ask: AskScript,
): LaterRule {
  const matches = conditionsOf(config.combine, config.conditions, ask);
  const decision = { kind: "group", group: config.targetGroup } as const;
  return (query) => {
    const matched = matches(query);
    if (typeof matched === "boolean") return matched ? decision : noMatch;
    return matched.then((held) => (held.ok ? ok(held.value ? decision : noMatch) : held));
  };
}

/**
 * Conditions as one; without any, all of them hold and none is enough. They are asked in their order and no further
 * than needed, so a script behind a condition that decides is not asked.
 */
export function conditionsOf(
  combine: "all" | "any",
  conditions: readonly ConditionConfig[],
  ask: AskScript,
): LaterCondition {
  const compiled = conditions.map((condition) => conditionOf(condition, ask));
  const decisive = combine === "any";
  return (query) => {
    for (const [index, condition] of compiled.entries()) {
      const held = condition(query);
      if (typeof held !== "boolean")
        return restOf(held, compiled.slice(index + 1), query, decisive);
      if (held === decisive) return decisive;
    }
    return !decisive;
  };
}

/** Goes on once a condition has to be waited for. */
async function restOf(
  first: Promise<Result<boolean, GatewayError>>,
  rest: readonly LaterCondition[],
  query: Query,
  decisive: boolean,
): Promise<Result<boolean, GatewayError>> {
  const held = await first;
  if (!held.ok || held.value === decisive) return held;
  for (const condition of rest) {
    const now = condition(query);
    const next = typeof now === "boolean" ? ok(now) : await now;
    if (!next.ok || next.value === decisive) return next;
  }
  return ok(!decisive);
}

/** Whether a condition asks a script, itself or inside. */
export function asksScript(conditions: readonly ConditionConfig[]): boolean {
  return conditions.some((condition) =>
    condition.type === "compound" ? asksScript(condition.conditions) : condition.type === "script",
  );
}

function conditionOf(config: ConditionConfig, ask: AskScript): LaterCondition {
  switch (config.type) {
    case "protocolBased":
      return protocolCondition(config.protocols);
    case "header":
      return headerCondition(config.headerName, config.headerValues);
    case "userGroup":
      return userGroupCondition(config.users, config.groups);
    case "queryRegex":
      return queryRegexCondition(config);
    case "tags":
      return tagsCondition(config.tags);
    case "script":
      return scriptCondition(config.script, ask);
    case "compound":
      return conditionsOf(config.combine, config.conditions, ask);
    default:
      return unreachable(config);
  }
}
