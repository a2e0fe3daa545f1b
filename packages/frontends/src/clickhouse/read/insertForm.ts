/** Where the rows of an `INSERT` come from, as its text says. */
import { asciiUpper, openSql, tokenText } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";

export type InsertForm =
  /** `INSERT … SELECT`. */
  | { readonly kind: "select" }
  /** `INSERT … VALUES`; the rows may stand behind it. */
  | { readonly kind: "values" }
  /** `INSERT … FORMAT name`, or nothing: the rows are data and no SQL. */
  | { readonly kind: "data" };

/** Reads the head of an `INSERT`. Linear in it, not in its rows. */
export function insertForm(sql: string): InsertForm {
  const cursor = openSql(sql, "clickhouse");
  let depth = 0;
  let before = "";
  while (nextSignificant(cursor)) {
    if (cursor.kind === "open") depth += 1;
    if (cursor.kind === "close") depth -= 1;
    const word = cursor.kind === "word" ? asciiUpper(tokenText(cursor)) : tokenText(cursor);
    const isName = before === "." || before === "INTO" || before === "TABLE";
    if (cursor.kind === "word" && !isName && depth === 0) {
      if (word === "SELECT" || word === "WITH" || word === "WATCH") return { kind: "select" };
      if (word === "VALUES") return { kind: "values" };
      if (word === "FORMAT") return { kind: "data" };
    }
    // `INSERT INTO t (SELECT …)`.
    if (depth === 1 && word === "SELECT" && before === "(") return { kind: "select" };
    before = word;
  }
  return { kind: "data" };
}
