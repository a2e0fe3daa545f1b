/** Whether a COPY moves its data between server and client, and no file or program of the server's host. */
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";

/** True for `COPY … FROM STDIN` and `COPY … TO STDOUT`, in words that the server reads the same way. */
export function copiesToClient(sql: string): boolean {
  const cursor = openSql(sql, "postgres");
  let depth = 0;
  let before = "";
  while (nextSignificant(cursor)) {
    if (cursor.kind === "open") depth += 1;
    if (cursor.kind === "close") depth -= 1;
    const word = cursor.kind === "word" ? upperWord(cursor) : "";
    // The first of these words outside brackets says where the data goes; a table of that name is in quotes.
    if (depth === 0 && before === "FROM") return word === "STDIN" && cursor.doubt === undefined;
    if (depth === 0 && before === "TO") return word === "STDOUT" && cursor.doubt === undefined;
    if (depth === 0) before = word;
  }
  return false;
}
