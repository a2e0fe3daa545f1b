/** Whether an expression of a rule can stand in brackets inside any statement, and stays in them. */
import type { Dialect } from "../sql/dialect.ts";
import { openSql, tokenText } from "../sql/lex/cursor.ts";
import { nextToken } from "../sql/lex/lex.ts";
import { placeholder } from "./values.ts";

/** What is wrong with it for an operator to read; undefined where nothing is. */
export function expressionProblem(text: string): string | undefined {
  if (text.includes("\\")) return "must not hold a backslash, which engines read differently";
  const plain = text.replaceAll(placeholder, "('x')");
  if (plain.includes("${")) {
    return "knows the values ${user}, ${groups}, ${roles} and ${attributes.NAME} only";
  }
  for (const dialect of dialects) {
    const problem = problemIn(plain, dialect);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const dialects: readonly Dialect[] = ["generic", "postgres", "mysql", "clickhouse", "trino"];

function problemIn(text: string, dialect: Dialect): string | undefined {
  const cursor = openSql(text, dialect);
  let depth = 0;
  while (nextToken(cursor)) {
    switch (cursor.kind) {
      case "comment":
      case "versionComment":
        return "must not hold a comment";
      case "semicolon":
        return "must be one expression";
      case "parameter":
        return "must not hold a parameter";
      case "unterminated":
      case "unknown":
        return "ends within a string, or holds a character that means nothing";
      case "open":
        depth += 1;
        break;
      case "close":
        depth -= 1;
        if (depth < 0) return "closes a bracket that it did not open";
        break;
      case "word":
        if (/^(select|from|table)$/i.test(tokenText(cursor))) return "must not hold a subquery";
        break;
      default:
        break;
    }
  }
  return depth === 0 ? undefined : "opens a bracket that it does not close";
}
