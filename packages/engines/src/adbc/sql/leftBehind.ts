/**
 * What a statement would leave on its connection for the client's later ones, which go to other connections.
 * Such a statement is refused, because its success would promise what the next statement does not find.
 */
import { openSql, tokenText, upperWord, type TokenKind } from "@gateway/core/sql/lex/cursor.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { readingsBy } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";

/**
 * `temporary`: a table, view or sequence of the connection. `lock`: PostgreSQL's advisory lock of a session.
 * `setting`: PostgreSQL's `set_config`, unless it says itself that it ends with the transaction. `seed`: its
 * `setseed`, for numbers of another statement.
 */
export interface LeftBehind {
  readonly temporary: boolean;
  /** Nothing temporary outlives the text or its transaction: each is dropped in it, or ON COMMIT. */
  readonly dropped: boolean;
  /** Names something in a schema `temp`, which is SQLite's own for them. */
  readonly inTemp: boolean;
  readonly lock: boolean;
  readonly setting: boolean;
  readonly seed: boolean;
}

/** Read by the words of the text, wherever they stand: EXPLAIN ANALYZE and WITH run what is behind them too. */
export const leftBehindIn = readingsBy(read);

function* read(sql: string, dialect: Dialect): Steps<LeftBehind> {
  const cursor = openSql(sql, dialect);
  const making = new Making();
  let inTemp = false;
  const called = new Set<string>();
  let setting = false;
  let before = "";
  const call = new SettingCall();
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    const quoted = cursor.kind === "quotedIdentifier";
    const word = quoted ? tokenText(cursor).slice(1, -1).toUpperCase() : upperWord(cursor);
    if (telling.has(word)) called.add(word);
    if (call.keeps(cursor.kind, word)) setting = true;
    making.read(cursor.kind, quoted ? "" : word, before);
    if (cursor.kind === "dot" && before === "TEMP") inTemp = true;
    // `CREATE OR REPLACE LOCAL TEMP` is one maker with the words between.
    if (!(makers.has(before) && between.has(word))) before = word;
  }
  return {
    temporary: making.temporary,
    dropped: making.dropped,
    inTemp,
    lock: [...called].some((name) => locks.has(name)),
    setting: setting || call.open,
    seed: called.has(seeding) && !called.has(seeded),
  };
}

/** Counts the statements that make something temporary, less those behind them that drop it. */
class Making {
  temporary = false;
  #undropped = 0;
  #counted = false;
  #last = "";

  get dropped(): boolean {
    return this.#undropped === 0;
  }

  /** The next token: its word unless it is quoted, and the last word that makes something. */
  read(kind: TokenKind, word: string, before: string): void {
    const makes = temporaryWords.has(word) && makers.has(before);
    // Names of what only the connection sees, as in `CREATE TABLE pg_temp.t`.
    if (makes || (kind === "dot" && before === "PG_TEMP")) {
      this.temporary = true;
      if (!this.#counted) this.#undropped += 1;
      this.#counted = true;
    }
    if (droppings.has(`${this.#last} ${word}`)) this.#undropped = Math.max(0, this.#undropped - 1);
    if (kind === "semicolon") this.#counted = false;
    this.#last = word;
  }
}

/** The texts that a statement runs as its own: the body of PostgreSQL's DO. */
export function bodiesIn(sql: string): readonly string[] {
  const cursor = openSql(sql, "postgres");
  const bodies: string[] = [];
  while (nextSignificant(cursor)) {
    if (cursor.kind !== "string") continue;
    const text = tokenText(cursor);
    const [tag = ""] = /^\$[^$]*\$/.exec(text) ?? [];
    const inside = text.slice(tag.length, text.length - tag.length);
    bodies.push(tag === "" ? inside.replace(/^[eEuUnNbBxX&]*'/, "").replaceAll("''", "'") : inside);
  }
  return bodies;
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
const temporaryWords: ReadonlySet<string> = new Set(["TEMP", "TEMPORARY", "VOLATILE"]);

/** `ON COMMIT DROP`, and what drops a table in the same text. */
const droppings: ReadonlySet<string> = new Set(["COMMIT DROP", "DROP TABLE"]);
const seeding = "SETSEED";
const seeded = "RANDOM";

/** Those of a transaction end with it and are right. */
const locks: ReadonlySet<string> = new Set([
  "PG_ADVISORY_LOCK",
  "PG_ADVISORY_LOCK_SHARED",
  "PG_TRY_ADVISORY_LOCK",
  "PG_TRY_ADVISORY_LOCK_SHARED",
]);
const telling: ReadonlySet<string> = new Set([...locks, seeding, seeded]);
