/** Routes by several conditions together. Knows every kind of condition. */
import type { ConditionConfig } from "@gateway/contract/config/router.ts";
import { unreachable } from "../../result.ts";
import { headerCondition } from "./header.ts";
import { protocolCondition } from "./protocol.ts";
import { queryRegexCondition } from "./queryRegex.ts";
import { noMatch, type Condition, type Rule } from "./rule.ts";
import { tagsCondition } from "./tags.ts";
import { userGroupCondition } from "./userGroup.ts";

type Combined = Pick<Extract<ConditionConfig, { type: "compound" }>, "combine" | "conditions">;

export function compoundRule(config: Combined & { readonly targetGroup: string }): Rule {
  const matches = compoundCondition(config);
  const decision = { kind: "group", group: config.targetGroup } as const;
  return (query) => (matches(query) ? decision : noMatch);
}

function compoundCondition({ combine, conditions }: Combined): Condition {
  return conditionsOf(combine, conditions);
}

/** Conditions as one; without any, all of them hold and none is enough. */
export function conditionsOf(
  combine: "all" | "any",
  conditions: readonly ConditionConfig[],
): Condition {
  const compiled = conditions.map(conditionOf);
  return combine === "all"
    ? (query) => compiled.every((condition) => condition(query))
    : (query) => compiled.some((condition) => condition(query));
}

function conditionOf(config: ConditionConfig): Condition {
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
    case "compound":
      return compoundCondition(config);
    default:
      return unreachable(config);
  }
}
