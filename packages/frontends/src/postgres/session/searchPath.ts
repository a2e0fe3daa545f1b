/**
 * `search_path` as a schema: its first entry that names one of the backend's own.
 *
 * `"$user"`, `public`, `pg_catalog` and `pg_temp` are in every PostgreSQL client's path and mean
 * nothing to a backend that is not PostgreSQL: alone they leave the backend's default in force.
 */

const meaningless: ReadonlySet<string> = new Set(["$user", "public", "pg_catalog", "pg_temp", ""]);

/** The schema unqualified names are looked up in; undefined for the backend's default. */
export function schemaFrom(path: string): string | undefined {
  return entriesOf(path).find((entry) => !meaningless.has(entry));
}

/** Entries in order; quotes taken off, bare names in lower case. One walk, because a client writes the text. */
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

/** An entry as it must be written to mean this name: bare where that is the same. */
export function quotedEntry(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
