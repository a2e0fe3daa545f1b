/** Quoting that all SQL of standard descent shares: the only place where a name or a text becomes part of SQL. */

/** A name as the engine reads it back exactly. NUL can not be part of any text an engine takes, and throws. */
export function quoteIdentifier(name: string): string {
  return `"${withoutNul(name).replaceAll('"', '""')}"`;
}

/** A text literal; a backslash in it means itself in every engine named here but Snowflake. */
export function quoteText(text: string): string {
  return `'${withoutNul(text).replaceAll("'", "''")}'`;
}

function withoutNul(text: string): string {
  if (text.includes("\0")) throw new RangeError("NUL in a text for the engine");
  return text;
}
