/** Routes or refuses by the text of the SQL, in linear time. */
import type { RouterConfig } from "@gateway/contract/config/router.ts";
import { compileRegex, type LinearRegex } from "../../regex/regex.ts";
import { noMatch, type Condition, type Rule, type RuleDecision } from "./rule.ts";

/** UTF-16 units of the SQL that are matched; the rest of a longer text is ignored. */
export const matchedTextMax = 65_536;

type QueryRegexRule = Extract<RouterConfig, { type: "queryRegex" }>["rules"][number];
type Pattern = Pick<QueryRegexRule, "regex" | "caseSensitive">;

/** The first rule that matches decides. Patterns were checked before: one that does not compile is a bug. */
export function queryRegexRule(rules: readonly QueryRegexRule[]): Rule {
  const compiled = rules.map((rule, index) => ({
    regex: compiledPattern(rule),
    decision: decisionOf(rule, index),
  }));
  return ({ sql }) => {
    const text = matchedText(sql);
    return compiled.find(({ regex }) => regex.test(text))?.decision ?? noMatch;
  };
}

export function queryRegexCondition(pattern: Pattern): Condition {
  const regex = compiledPattern(pattern);
  return ({ sql }) => regex.test(matchedText(sql));
}

function matchedText(sql: string): string {
  return sql.length > matchedTextMax ? sql.slice(0, matchedTextMax) : sql;
}

function decisionOf(rule: QueryRegexRule, index: number): RuleDecision {
  if (rule.action === "deny") return { kind: "deny", error: rule.error, rule: index };
  if (rule.targetGroup === undefined)
    throw new Error("a routing rule without a target passed the schema");
  return { kind: "group", group: rule.targetGroup, rule: index };
}

function compiledPattern({ regex, caseSensitive }: Pattern): LinearRegex {
  const compiled = compileRegex(regex, { ignoreCase: !caseSensitive });
  if (!compiled.ok) throw new Error(`a pattern passed the check: ${compiled.error.reason}`);
  return compiled.value;
}
