/** Routes by the frontend a query came over. */
import type { Condition, Rule } from "./rule.ts";
import { groupOrNone } from "./rule.ts";

export function protocolRule(protocols: Readonly<Record<string, string | undefined>>): Rule {
  const groups = new Map(Object.entries(protocols));
  return ({ session }) => groupOrNone(groups.get(session.frontend));
}

export function protocolCondition(protocols: readonly string[]): Condition {
  const accepted = new Set(protocols);
  return ({ session }) => accepted.has(session.frontend);
}
