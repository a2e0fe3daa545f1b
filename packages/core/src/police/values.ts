/** The caller's values in the expressions of rules. */
import type { AuthContext } from "../query/identity.ts";

export const placeholder = /\$\{(user|groups|roles)\}/g;

/** `${user}` becomes a string, `${groups}` and `${roles}` lists in brackets, for IN. Undefined for a value that no engine's string can hold without doubt. */
export function withValues(
  text: string,
  { user, groups, roles }: Pick<AuthContext, "user" | "groups" | "roles">,
): string | undefined {
  const values = { user: [user], groups, roles };
  let isWritable = true;
  const written = text.replaceAll(placeholder, (_whole, name: keyof typeof values) => {
    const literals = values[name].map(literalOf);
    isWritable &&= literals.every((literal) => literal !== undefined);
    if (name === "user") return literals[0] ?? "NULL";
    return `(${literals.length === 0 ? "NULL" : literals.join(", ")})`;
  });
  return isWritable ? written : undefined;
}

/** Engines differ in what a backslash means, and control characters have no business in a name. */
function literalOf(value: string): string | undefined {
  if (/[\\\p{Cc}\p{Cs}\u2018\u2019\u201c\u201d]/u.test(value)) return undefined;
  return `'${value.replaceAll("'", "''")}'`;
}
