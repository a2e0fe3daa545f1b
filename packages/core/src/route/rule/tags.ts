/** Routes by the tags a client gave its query. */
import type { Query } from "../../query/query.ts";
import { noMatch, type Condition, type Rule } from "./rule.ts";

/** Tags to have; null accepts any value. */
type Wanted = Readonly<Record<string, string | null>>;

/** The first rule whose tags the query has, all of them, decides. */
export function tagsRule(
  rules: readonly { readonly tags: Wanted; readonly targetGroup: string }[],
): Rule {
  const compiled = rules.map(({ tags, targetGroup }, rule) => ({
    matches: tagsCondition(tags),
    decision: { kind: "group", group: targetGroup, rule } as const,
  }));
  return (query) => compiled.find(({ matches }) => matches(query))?.decision ?? noMatch;
}

export function tagsCondition(tags: Wanted): Condition {
  const wanted = Object.entries(tags);
  return ({ session }) => wanted.every(([key, value]) => hasTag(session.tags, key, value));
}

function hasTag(tags: Query["session"]["tags"], key: string, wanted: string | null): boolean {
  const value = tags.get(key);
  return value !== undefined && (wanted === null || value === wanted);
}
