/** `EXECUTE AS` as the fake ClickHouse knows it: its grammar, and what a real server refuses in which order. */

/** What a server does with it. `tooOld`: it has no such statement. `off`: its setting forbids it. */
export type Impersonation =
  | "tooOld"
  | "off"
  /** Users that there are, and whom of them the account may be. */
  | { readonly users: readonly string[]; readonly granted: "all" | readonly string[] };

/** A statement behind `EXECUTE AS`. */
export interface AsUser {
  readonly user: string;
  readonly sql: string;
}

/** Reads a name in back-ticks, whose escapes are those of the real grammar; undefined for any other text. */
export function asUser(text: string): AsUser | undefined {
  const found = /^EXECUTE AS `((?:[^`\\]|\\[^]|``)*)` /.exec(text);
  if (found === null) return undefined;
  const [prefix, quoted = ""] = found;
  const user = quoted.replaceAll(/\\([^])|``/g, (_all, letter: string | undefined) => {
    if (letter === undefined) return "`";
    return letter === "0" ? "\0" : letter;
  });
  return { user, sql: text.slice(prefix.length) };
}

/** Code and text of the refusal, or undefined: grammar, setting, grant, user, in this order. */
export function refusalOf(
  { user, sql }: AsUser,
  impersonation: Impersonation,
): readonly [number, string] | undefined {
  if (impersonation === "tooOld") return [62, "Syntax error: failed at position 1 (EXECUTE)"];
  const rows = /^insert\b/i.test(sql) && !/\bselect\b/i.test(sql);
  const nested = /^execute\b/i.test(sql);
  if (rows || nested || !/^[a-z(]/i.test(sql)) return [62, "Syntax error"];
  if (impersonation === "off") {
    return [344, "IMPERSONATE feature is disabled, set access_control_improvements"];
  }
  const { granted, users } = impersonation;
  if (granted !== "all" && !granted.includes(user)) {
    const grant = `necessary to have the grant IMPERSONATE ON ${user}`;
    return [497, `gateway: Not enough privileges. To execute this query, it's ${grant}`];
  }
  if (user === "gateway" || users.includes(user)) return undefined;
  return [192, `There is no user \`${user}\` in local_directory`];
}
