/** DuckDB's quoting. The only place where a name or a text becomes part of SQL. */

/** A name: double quotes, a quote inside doubled. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text literal: DuckDB's plain strings know no escape but the doubled quote. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
