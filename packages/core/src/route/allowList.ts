/**
 * Who may route to which group, by the lists written at the groups.
 *
 * An absent list means everyone, a written empty one nobody: whoever empties a list wants to close
 * it. It says nothing about what the engine sees.
 */
import type { AllowLists } from "@gateway/contract/config/group.ts";
import { onFirstUse } from "../tool/firstUse.ts";
import type { AuthContext } from "../query/identity.ts";
import type { Authorizer } from "../port/authorizer.ts";

/** Who may cancel queries of others. Config: `auth.operatorGroups`, `auth.operatorRoles`. */
export interface Operators {
  readonly groups: readonly string[];
  readonly roles: readonly string[];
}

/** Makes the authorizer; a group that is not in `groups` may be used by nobody. */
export function allowListAuthorizer(
  groups: Readonly<Record<string, { readonly authorization?: AllowLists | undefined }>>,
  operators: Operators,
): Authorizer {
  const doors = onFirstUse(groups, (_name, { authorization }) => doorOf(authorization));
  const operatorGroups = new Set(operators.groups);
  const operatorRoles = new Set(operators.roles);
  return {
    mayUse: (identity, group) => doors.get(group)?.(identity) ?? false,
    mayCancel: async ({ groups: ofUser, roles }) =>
      ofUser.some((group) => operatorGroups.has(group)) ||
      roles.some((role) => operatorRoles.has(role)),
  };
}

function doorOf(lists: AllowLists | undefined): (identity: AuthContext) => boolean {
  if (lists?.allowUsers === undefined && lists?.allowGroups === undefined) return () => true;
  const users = new Set(lists.allowUsers);
  const groups = new Set(lists.allowGroups);
  return ({ user, groups: ofUser }) => users.has(user) || ofUser.some((group) => groups.has(group));
}
