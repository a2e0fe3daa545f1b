/**
 * What the words of a statement say about what its connection would keep: read widely, because a wrong guess costs
 * a cleaning or a refusal, and a missed one shows a session's state to another.
 */
import {
  openSql,
  tokenText,
  upperWord,
  type SqlCursor,
  type TokenKind,
} from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { readingOf } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";
import { leavesNothing, named } from "./harmless.ts";

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
  /** `ON COMMIT DROP`: what is made is gone with its transaction. */
  readonly dropped: boolean;
  /** Names a function that says what the connection's sequences gave last. */
  readonly sequences: boolean;
  /** Names a function that moves a sequence. */
  readonly moves: boolean;
  /** Names a function that leaves what no cleaning removes. */
  readonly stains: boolean;
  /** Names a list of what the connection has prepared. */
  readonly lists: boolean;
  /** Says EXECUTE: of a statement that is prepared, of a function, or as a right. */
  readonly executes: boolean;
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
    dropped: false,
    sequences: false,
    moves: false,
    stains: false,
    lists: false,
    executes: false,
  };
  const words = new Words();
  const call = new SettingCall();
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    const quoted = cursor.kind === "quotedIdentifier";
    const word = quoted ? tokenText(cursor).slice(1, -1).toUpperCase() : upperWord(cursor);
    const { maker, last } = words;
    const said = told.get(word);
    if (said !== undefined) found[said] = true;
    // A name in escapes may be any.
    if (quoted && word.includes("\\")) found.lists = true;
    if (call.keeps(cursor.kind, word)) found.setting = true;
    if (!quoted && temporaryWords.has(word) && makers.has(maker)) found.temporary = true;
    // Names of what only the connection sees, as in `CREATE TABLE pg_temp.t`.
    if (cursor.kind === "dot" && last === "PG_TEMP") found.temporary = true;
    if (word === "HOLD" && last === "WITH") found.hold = true;
    if (word === "DROP" && words.ends("ON", "COMMIT")) found.dropped = true;
    if (cursor.kind === "open") words.open(found);
    words.add(word, cursor);
  }
  return { ...found, setting: found.setting || call.open };
}

/** The words that stood before the one that is read now. */
class Words {
  /** The last token: a word in upper case, or nothing for a sign. */
  last = "";
  /** `CREATE OR REPLACE LOCAL TEMP` is one maker with the words between. */
  maker = "";
  /** The name before is written in escapes (`U&"…" UESCAPE '!'`), and may be any function's. */
  #escaped = false;
  #second = "";
  #dotted = false;
  /** The name that is read is one of a table or an alias: a bracket behind it holds names of columns. */
  #names = false;

  /** A bracket follows, and may belong to a call that leaves something, or of nobody knows what. */
  open(found: { calls: boolean; ends: boolean }): void {
    if (this.last !== "" && !this.#names && !leavesNothing.has(this.last)) found.calls = true;
    if (this.#escaped) found.ends = true;
  }

  /** True when these two words stand right before. */
  ends(first: string, second: string): boolean {
    return this.#second === first && this.last === second;
  }

  add(word: string, { sql, start, kind }: SqlCursor): void {
    if (kind === "quotedIdentifier") this.#escaped = sql.charAt(start) !== '"';
    else if (word !== "UESCAPE" && kind !== "string") this.#escaped = false;
    // `INTO s.t (a, b)` and `AS t (a, b)`.
    if (kind !== "dot") this.#names = named.has(this.last) || (this.#dotted && this.#names);
    this.#dotted = kind === "dot";
    if (kind !== "dot") [this.#second, this.last] = [this.last, word];
    if (!(makers.has(this.maker) && between.has(word))) this.maker = word;
  }
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

/** What a name or a word says. Locks of a transaction end with it and are right. */
type Told = "lock" | "ends" | "sequences" | "moves" | "stains" | "lists" | "executes";
const told: ReadonlyMap<string, Told> = new Map([
  ["PG_ADVISORY_LOCK", "lock"],
  ["PG_ADVISORY_LOCK_SHARED", "lock"],
  ["PG_TRY_ADVISORY_LOCK", "lock"],
  ["PG_TRY_ADVISORY_LOCK_SHARED", "lock"],
  ["PG_CANCEL_BACKEND", "ends"],
  ["PG_TERMINATE_BACKEND", "ends"],
  ["LASTVAL", "sequences"],
  ["CURRVAL", "sequences"],
  ["NEXTVAL", "moves"],
  ["SETVAL", "moves"],
  ["SETSEED", "stains"],
  ["PG_PREPARED_STATEMENTS", "lists"],
  ["PG_PREPARED_STATEMENT", "lists"],
  // Texts of what is prepared name memory.
  ["PG_BACKEND_MEMORY_CONTEXTS", "lists"],
  ["PG_GET_BACKEND_MEMORY_CONTEXTS", "lists"],
  ["UESCAPE", "lists"],
  ["EXECUTE", "executes"],
]);
