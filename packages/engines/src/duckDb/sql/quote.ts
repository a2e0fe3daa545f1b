/** DuckDB's quoting of names and texts: the only place where either becomes part of SQL. */

/** A name as DuckDB reads it back exactly. NUL can not be part of any text the engine takes, and throws. */
export function quoteIdentifier(name: string): string {
  return `"${withoutNul(name).replaceAll('"', '""')}"`;
}

/** A text literal without escapes. */
export function quoteText(text: string): string {
  return `'${withoutNul(text).replaceAll("'", "''")}'`;
}

/** A name with its dots. */
export function quotePath(parts: readonly string[]): string {
  return parts.map(quoteIdentifier).join(".");
}

function withoutNul(text: string): string {
  if (text.includes("\0")) throw new RangeError("NUL in a text for the engine");
  return text;
}
