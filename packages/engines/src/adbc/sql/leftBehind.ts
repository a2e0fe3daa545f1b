/**
 * What a statement would leave on its connection for the client's later ones, which go to other connections.
 * Such a statement is refused, because its success would promise what the next statement does not find.
 */
import { openSql, tokenText, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { readingsBy } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";

/** `temporary`: a table, view or sequence of the connection. `lock`: PostgreSQL's advisory lock of a session. */
export interface LeftBehind {
  readonly temporary: boolean;
  /** Names something in a schema `temp`, which is SQLite's own for them. */
  readonly inTemp: boolean;
  readonly lock: boolean;
}

/** Read by the words of the text, wherever they stand: EXPLAIN ANALYZE and WITH run what is behind them too. */
export const leftBehindIn = readingsBy(read);

function* read(sql: string, dialect: Dialect): Steps<LeftBehind> {
  const cursor = openSql(sql, dialect);
  let temporary = false;
  let inTemp = false;
  let lock = false;
  let before = "";
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    const quoted = cursor.kind === "quotedIdentifier";
    const word = quoted ? tokenText(cursor).slice(1, -1).toUpperCase() : upperWord(cursor);
    if (locks.has(word)) lock = true;
    if (!quoted && temporaryWords.has(word) && makers.has(before)) temporary = true;
    // Names of what only the connection sees, as in `CREATE TABLE pg_temp.t`.
    if (cursor.kind === "dot" && before === "PG_TEMP") temporary = true;
    if (cursor.kind === "dot" && before === "TEMP") inTemp = true;
    // `CREATE OR REPLACE LOCAL TEMP` is one maker with the words between.
    if (!(makers.has(before) && between.has(word))) before = word;
  }
  return { temporary, inTemp, lock };
}

const makers: ReadonlySet<string> = new Set(["CREATE", "INTO"]);
const between: ReadonlySet<string> = new Set(["OR", "REPLACE", "GLOBAL", "LOCAL"]);
const temporaryWords: ReadonlySet<string> = new Set(["TEMP", "TEMPORARY", "VOLATILE"]);

/** Those of a transaction end with it and are right. */
const locks: ReadonlySet<string> = new Set([
  "PG_ADVISORY_LOCK",
  "PG_ADVISORY_LOCK_SHARED",
  "PG_TRY_ADVISORY_LOCK",
  "PG_TRY_ADVISORY_LOCK_SHARED",
]);
