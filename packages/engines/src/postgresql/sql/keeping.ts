/**
 * What the words of a statement say about what its connection would keep: read widely, because a wrong guess costs
 * a cleaning or a refusal, and a missed one shows a session's state to another.
 */
import { openSql, tokenText, upperWord, type TokenKind } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { readingOf } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";

/**
 * `temporary`: a table, view or sequence of the connection. `lock`: an advisory lock of the session. `setting`: a
 * `set_config` that outlives its transaction, or may. `calls`: a function that may do any of this inside.
 */
export interface Keeping {
  readonly temporary: boolean;
  readonly lock: boolean;
  readonly setting: boolean;
  readonly calls: boolean;
  /** Names a function that ends what other connections run. */
  readonly ends: boolean;
  /** `WITH HOLD`, as a cursor has it. */
  readonly hold: boolean;
}

/** Read by the words of the text, wherever they stand: EXPLAIN ANALYZE and WITH run what is behind them too. */
export const keepingIn = readingOf(read);

function* read(sql: string): Steps<Keeping> {
  const cursor = openSql(sql, "postgres");
  const found = {
    temporary: false,
    lock: false,
    setting: false,
    calls: false,
    hold: false,
    ends: false,
  };
  let before = "";
  let last = "";
  const call = new SettingCall();
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    const quoted = cursor.kind === "quotedIdentifier";
    const word = quoted ? tokenText(cursor).slice(1, -1).toUpperCase() : upperWord(cursor);
    if (locks.has(word)) found.lock = true;
    if (enders.has(word)) found.ends = true;
    if (call.keeps(cursor.kind, word)) found.setting = true;
    if (!quoted && temporaryWords.has(word) && makers.has(before)) found.temporary = true;
    // Names of what only the connection sees, as in `CREATE TABLE pg_temp.t`.
    if (cursor.kind === "dot" && before === "PG_TEMP") found.temporary = true;
    if (word === "HOLD" && last === "WITH") found.hold = true;
    if (cursor.kind === "open" && last !== "" && !leavesNothing.has(last)) found.calls = true;
    last = word;
    // `CREATE OR REPLACE LOCAL TEMP` is one maker with the words between.
    if (!(makers.has(before) && between.has(word))) before = word;
  }
  return { ...found, setting: found.setting || call.open };
}

/** Reads the arguments of one `set_config` after another. */
class SettingCall {
  #depth = -1;
  #commas = 0;
  #last = "";

  /** A call has begun and not ended. */
  get open(): boolean {
    return this.#depth >= 0;
  }

  /** True at the end of a call that keeps its setting for the session, or may. */
  keeps(kind: TokenKind, word: string): boolean {
    if (!this.open) {
      if (word !== "SET_CONFIG") return false;
      [this.#depth, this.#commas, this.#last] = [0, 0, ""];
      return false;
    }
    if (kind === "open") this.#depth += 1;
    if (kind === "close") this.#depth -= 1;
    if (kind === "close" && this.#depth <= 0) {
      this.#depth = -1;
      return this.#commas !== 2 || this.#last !== "TRUE";
    }
    if (this.#depth === 1 && kind === "comma") [this.#commas, this.#last] = [this.#commas + 1, ""];
    else this.#last = this.#last === "" && word !== "" ? word : "more";
    return false;
  }
}

const makers: ReadonlySet<string> = new Set(["CREATE", "INTO"]);
const between: ReadonlySet<string> = new Set(["OR", "REPLACE", "GLOBAL", "LOCAL"]);
const temporaryWords: ReadonlySet<string> = new Set(["TEMP", "TEMPORARY"]);

/** Those of a transaction end with it and are right. */
const locks: ReadonlySet<string> = new Set([
  "PG_ADVISORY_LOCK",
  "PG_ADVISORY_LOCK_SHARED",
  "PG_TRY_ADVISORY_LOCK",
  "PG_TRY_ADVISORY_LOCK_SHARED",
]);

const enders: ReadonlySet<string> = new Set(["PG_CANCEL_BACKEND", "PG_TERMINATE_BACKEND"]);

/** What stands before a bracket without being called, and functions of PostgreSQL's own that keep nothing. */
const leavesNothing: ReadonlySet<string> = new Set(
  (
    "ALL AND ANY ARRAY AS BETWEEN BY CASE CHECK DISTINCT ELSE EXCEPT EXISTS EXTRACT FILTER FROM HAVING IN INSERT " +
    "INTERSECT INTO IS JOIN KEY LATERAL LIKE LIMIT NOT ON ONLY OR OVER RETURNING ROW SELECT SOME THEN UNION UNIQUE " +
    "USING VALUES WHEN WHERE WITH WITHIN NUMERIC DECIMAL VARCHAR CHAR CHARACTER BIT TIMESTAMP TIME INTERVAL CONFLICT " +
    "ABS AVG CAST CEIL CEILING COALESCE CONCAT CONCAT_WS COUNT CURRENT_DATABASE CURRENT_SCHEMA DATE_TRUNC DENSE_RANK " +
    "EXP FLOOR FORMAT FORMAT_TYPE GENERATE_SERIES GREATEST JSON_AGG JSONB_AGG JSON_BUILD_OBJECT JSONB_BUILD_OBJECT LAG " +
    "LEAD LEAST LENGTH LOWER LTRIM MAX MD5 MIN MOD NOW NULLIF PG_SLEEP PG_TYPEOF POSITION POWER RANDOM RANK REPEAT " +
    "REPLACE ROUND ROW_NUMBER RTRIM SIGN SQRT STRING_AGG ARRAY_AGG SUBSTRING SUM TO_CHAR TO_DATE TO_JSON TO_JSONB " +
    "TO_TIMESTAMP TRIM TRUNC UNNEST UPPER VERSION PG_GET_EXPR PG_TABLE_IS_VISIBLE PG_GET_INDEXDEF PG_GET_CONSTRAINTDEF"
  ).split(" "),
);
