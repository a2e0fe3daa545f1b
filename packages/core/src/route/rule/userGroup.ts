/** Routes by who the user is: the name first, then the user's groups. */
import { groupOrNone, type Condition, type Rule } from "./rule.ts";

/**
 * Of several user groups that match, the first by name counts: providers give them in no order, and
 * the same user must not be routed differently from one login to the next.
 */
export function userGroupRule(
  userToGroup: Readonly<Record<string, string>>,
  groupToGroup: Readonly<Record<string, string>>,
): Rule {
  const byUser = new Map(Object.entries(userToGroup));
  const byGroup = new Map(Object.entries(groupToGroup));
  return ({ session: { identity } }) => {
    const own = byUser.get(identity.user);
    if (own !== undefined) return groupOrNone(own);
    let first: string | undefined;
    for (const group of identity.groups) {
      if (byGroup.has(group) && (first === undefined || group < first)) first = group;
    }
    return groupOrNone(first === undefined ? undefined : byGroup.get(first));
  };
}

export function userGroupCondition(users: readonly string[], groups: readonly string[]): Condition {
  const acceptedUsers = new Set(users);
  const acceptedGroups = new Set(groups);
  return ({ session: { identity } }) =>
    acceptedUsers.has(identity.user) || identity.groups.some((group) => acceptedGroups.has(group));
}
