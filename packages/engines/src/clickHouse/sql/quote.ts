/** ClickHouse's quoting of names and texts: the only place where either becomes part of SQL. */

/** A name as ClickHouse reads it back exactly, in back-ticks. */
export function quoteIdentifier(name: string): string {
  return `\`${withEscapes(name).replaceAll("`", "\\`")}\``;
}

/** A text literal. */
export function quoteText(text: string): string {
  return `'${withEscapes(text).replaceAll("'", "\\'")}'`;
}

/** Both forms read a backslash as the start of an escape. */
function withEscapes(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\0", "\\0");
}
