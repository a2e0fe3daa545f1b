/**
 * What the words of a COPY say: whether its data moves between server and client, and no file or program of the server's
 * host, and which query its data is.
 */
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { outerTokens, type OuterToken } from "../../scanning.ts";

/**
 * True for `COPY … FROM STDIN` and `COPY … TO STDOUT`, in words that the server reads the same way, and for a text that ends
 * before it says either: no server takes that, and the server says why.
 */
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
  return cursor.doubt === undefined;
}

/** A query that reads what a COPY reads. */
export interface CopiedQuery {
  readonly sql: string;
  /** Where it stands in the text of the COPY; undefined where it was made of a table's name. */
  readonly start: number | undefined;
}

/** The query of `COPY (query) TO` and of `COPY table TO`; undefined where the words are others. */
export function copiedQuery(sql: string): CopiedQuery | undefined {
  const tokens = outerTokens(sql, "postgres");
  const [copy, first] = tokens;
  if (copy?.text !== "COPY" || first === undefined) return undefined;
  if (first.text === "(") {
    const { end: start, closed } = first;
    return tokens[2]?.text === "TO" ? { sql: sql.slice(start, closed), start } : undefined;
  }
  let at = 1;
  while (isNamePart(tokens[at]) && tokens[at + 1]?.text === ".") at += 2;
  const last = tokens[at];
  if (last === undefined || !isNamePart(last)) return undefined;
  const brackets = tokens[at + 1];
  const named = brackets?.text === "(";
  if (tokens[at + (named ? 2 : 1)]?.text !== "TO") return undefined;
  const columns = named ? sql.slice(brackets.end, brackets.closed) : "*";
  // Tables that inherit from it are not read, and a partitioned one is refused: both as by the COPY.
  const from = sql.slice(first.start, last.end);
  return { sql: `SELECT ${columns} FROM ONLY ${from}`, start: undefined };
}

function isNamePart(token: OuterToken | undefined): boolean {
  return token?.kind === "word" || token?.kind === "quotedIdentifier";
}
