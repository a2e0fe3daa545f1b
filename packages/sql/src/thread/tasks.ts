/** What the thread does for each kind of request. The parser's own text about an error may hold values of a query, and stays here. */
import { Dialect as Parser, parse } from "@polyglot-sql/sdk";
import type { SqlTasks } from "@gateway/core/port/sql/sqlWork.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { unreachable } from "@gateway/core/result.ts";
import { readNodesOf } from "../read/read.ts";
import type { SqlMessage } from "./message.ts";

type Tasks = {
  readonly [Task in keyof SqlTasks]: (input: SqlTasks[Task]["input"]) => SqlTasks[Task]["output"];
};

const tasks: Tasks = {
  parse: ({ sql, dialect }) => {
    const nodes = parsedOf(sql, dialect);
    return nodes === undefined ? { parsed: false } : { parsed: true, kinds: nodes.map(kindOf) };
  },
  read: ({ sql, dialects, functions }) =>
    dialects.map((dialect) => readNodesOf(parsedOf(sql, dialect), { sql, functions })),
};

/** The answer to one request. */
export function done(message: SqlMessage): SqlTasks[keyof SqlTasks]["output"] {
  switch (message.task) {
    case "parse":
      return tasks.parse(message.input);
    case "read":
      return tasks.read(message.input);
    default:
      return unreachable(message);
  }
}

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
