/** A text as the parser reads it in one of our dialects. */
import { Dialect as Parser, parse } from "@polyglot-sql/sdk";
import type { Dialect } from "@gateway/core/sql/dialect.ts";

/** The parser's names for our dialects. */
export const parserDialects = {
  duckdb: Parser.DuckDB,
  postgres: Parser.PostgreSQL,
  mysql: Parser.MySQL,
  trino: Parser.Trino,
  clickhouse: Parser.ClickHouse,
  generic: Parser.Generic,
} as const satisfies Record<Dialect, Parser>;

/** What the parser calls a text that it carries along without having read it. */
const unread = "command";

/** One object for each statement; undefined where one is not understood. */
export function parsedOf(sql: string, dialect: Dialect): readonly unknown[] | undefined {
  const { success, ast } = parse(sql, parserDialects[dialect]);
  if (!success || !Array.isArray(ast)) return undefined;
  return ast.every((node) => kindOf(node) !== unread) ? ast : undefined;
}

/** A node is an object with one key, which says what it is. */
export function kindOf(node: unknown): string {
  const [kind] = typeof node === "object" && node !== null ? Object.keys(node) : [];
  return kind ?? "unknown";
}
