/**
 * `search_path` as one schema: its first entry that may be a schema of the backend.
 *
 * `"$user"`, `public`, `pg_catalog` and `pg_temp` stand in every PostgreSQL client's path and mean nothing to
 * another backend. A path of nothing else leaves the backend's default schema in force.
 */

const meaningless: ReadonlySet<string> = new Set(["$user", "public", "pg_catalog", "pg_temp", ""]);

/** The schema unqualified names are looked up in; undefined for the backend's default. */
export function schemaFrom(path: string): string | undefined {
  return entriesOf(path).find((entry) => !meaningless.has(entry));
}

/** Entries in order, without quotes, bare names in lower case. One walk, because a client may write a long text. */
export function entriesOf(path: string): readonly string[] {
  const entries: string[] = [];
  let entry = "";
  let quoted = false;
  for (let at = 0; at < path.length; at += 1) {
    const char = path.charAt(at);
    if (char === '"' && quoted && path.charAt(at + 1) === '"') {
      entry += char;
      at += 1;
    } else if (char === '"') {
      quoted = !quoted;
    } else if (char === "," && !quoted) {
      entries.push(entry.trim());
      entry = "";
    } else {
      entry += quoted ? char : char.toLowerCase();
    }
  }
  return [...entries, entry.trim()].filter((name) => name !== "");
}

/** A name as an entry of the path: bare where quotes change nothing. */
export function quotedEntry(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
