/** The caller's values in the expressions of rules and of a policy server's answers. */
import type { AuthContext } from "../query/identity.ts";

export const placeholder = /\$\{(user|groups|roles|attributes\.[A-Za-z][A-Za-z0-9_]*)\}/g;

/** Whose values they are. */
export type Values = Pick<AuthContext, "user" | "groups" | "roles" | "attributes">;

/**
 * `${user}` becomes a string, `${groups}` and `${roles}` lists in brackets, for IN. `${attributes.NAME}` is a list behind
 * IN, and a string elsewhere. Undefined where the caller has no such attribute, or several values where one is asked
 * for, and for a value that no engine's string can hold without doubt.
 */
export function withValues(text: string, values: Values): string | undefined {
  let isWritable = true;
  const written = text.replaceAll(placeholder, (_whole, name: string, at: number) => {
    const literals = valuesOf(name, values)?.map(textLiteral);
    const isList = name === "groups" || name === "roles" || isBehindIn(text.slice(0, at));
    const isWhole = literals?.every((literal) => literal !== undefined) === true;
    if (!isWhole || (!isList && literals.length !== 1)) {
      isWritable = false;
      return "";
    }
    const list = literals.length === 0 ? "NULL" : literals.join(", ");
    return isList ? `(${list})` : list;
  });
  return isWritable ? written : undefined;
}

function isBehindIn(before: string): boolean {
  return /\bin\s*$/i.test(before.slice(-100));
}

function valuesOf(name: string, values: Values): readonly string[] | undefined {
  const { user, groups, roles, attributes = {} } = values;
  if (name === "user") return [user];
  if (name === "groups") return groups;
  if (name === "roles") return roles;
  const attribute = name.slice("attributes.".length);
  const value = Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined;
  return typeof value === "string" ? [value] : value;
}

/** A string of SQL. Engines differ in what a backslash means, and control characters have no business in a name. */
export function textLiteral(value: string): string | undefined {
  if (/[\\\p{Cc}\p{Cs}\u2018\u2019\u201c\u201d]/u.test(value)) return undefined;
  return `'${value.replaceAll("'", "''")}'`;
}
