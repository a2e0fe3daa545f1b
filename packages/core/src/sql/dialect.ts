/**
 * What differs between dialects below the grammar: quotes, comments, escapes, placeholders of parameters.
 *
 * Every fact comes from the engine's own behaviour (DuckDB 1.5, PostgreSQL 15, MariaDB 10.11,
 * ClickHouse 26) or its grammar (Trino). The engine's defaults are assumed: a session that turns
 * `standard_conforming_strings` off or sets `sql_mode=ANSI_QUOTES` changes its own lexis.
 * `changesLexis` in `session.ts` detects that, so that the caller can refuse it.
 */

/** A way of reading SQL text. `generic` is for engines we know nothing about. */
export type Dialect = "duckdb" | "postgres" | "mysql" | "trino" | "clickhouse" | "generic";

/** The lexis of one dialect. */
export interface LexRules {
  /** `\'` inside `'…'` does not end it. */
  readonly backslashInStrings: boolean;
  /** What `"…"` is. */
  readonly doubleQuote: "identifier" | "string";
  /** `\"` inside `"…"` does not end it. */
  readonly backslashInDoubleQuotes: boolean;
  /** What a backtick begins; PostgreSQL and DuckDB read it as an operator. */
  readonly backtick: "identifier" | "operator";
  readonly backslashInBackticks: boolean;
  /** `‘…’` and `“…”` are quotes, without any escape. */
  readonly curlyQuotes: boolean;
  /** Letters that, directly before a quote, belong to the string. `e` is not among them. */
  readonly stringPrefixes: string;
  /** `E'…'` has backslash escapes, also in a continuation on the next line. */
  readonly escapeStrings: boolean;
  /** `U&'…'` and `U&"…"`. */
  readonly unicodeStrings: boolean;
  /** `tagged`: `$tag$…$tag$`; `tagsWithDigits`: the tag may also begin with a digit; `untagged`: `$$…$$` only. */
  readonly dollarQuotes: "none" | "untagged" | "tagged" | "tagsWithDigits";
  /** `spaced`: `--` begins a comment only before white space or a control character. */
  readonly dashComments: "always" | "spaced";
  /** `spaced`: only before a space or `!`. */
  readonly hashComments: "none" | "always" | "spaced";
  /** `//` begins a comment. */
  readonly slashComments: boolean;
  readonly nestedComments: boolean;
  /** A carriage return ends a line comment. */
  readonly returnEndsComment: boolean;
  /** A comment that begins with `/*!` holds code. */
  readonly versionComments: boolean;
  /** Words may begin with a digit: `1a` is one word. */
  readonly digitWords: boolean;
  /** `$` may stand inside a word. */
  readonly dollarInWords: boolean;
  /** `$` may begin a word. */
  readonly dollarBeginsWords: boolean;
  /** Code points beyond ASCII that separate words. */
  readonly unicodeSpaces: ReadonlySet<number>;
  /** `@name` and `@@name` are variables. */
  readonly variables: boolean;
  /** `?` is the placeholder of a parameter. */
  readonly questionPlaceholders: boolean;
  /** `?1` names the parameter it means. */
  readonly numberedQuestions: boolean;
  /** `$1` is a placeholder. */
  readonly dollarNumbers: boolean;
  /** `$name` is a placeholder. */
  readonly dollarNames: boolean;
  /** Operators are runs of any operator characters, as PostgreSQL lets users define them. */
  readonly openOperators: boolean;
  /** `0x1F`, `0b1` and `0o7` are numbers. */
  readonly prefixedNumbers: boolean;
  /** `CREATE FUNCTION … BEGIN …; … END` is one statement for the engine. */
  readonly compoundBodies: boolean;
  /** The engine is not known, so text that engines read differently is marked as doubtful. */
  readonly guesses: boolean;
}

const duckdbSpaces: ReadonlySet<number> = new Set([
  0xa0,
  ...between(0x2000, 0x200b),
  0x202f,
  0x205f,
  0x2060,
  0x3000,
  0xfeff,
]);

const clickhouseSpaces: ReadonlySet<number> = new Set([
  0x85,
  0xa0,
  0x180e,
  ...between(0x2000, 0x200d),
  0x2028,
  0x2029,
  0x202f,
  0x205f,
  0x2060,
  0x3000,
  0xfeff,
]);

const noSpaces: ReadonlySet<number> = new Set<number>();

const postgres: LexRules = {
  backslashInStrings: false,
  doubleQuote: "identifier",
  backslashInDoubleQuotes: false,
  backtick: "operator",
  backslashInBackticks: false,
  curlyQuotes: false,
  stringPrefixes: "bxn",
  escapeStrings: true,
  unicodeStrings: true,
  dollarQuotes: "tagged",
  dashComments: "always",
  hashComments: "none",
  slashComments: false,
  nestedComments: true,
  returnEndsComment: true,
  versionComments: false,
  digitWords: false,
  dollarInWords: true,
  dollarBeginsWords: false,
  unicodeSpaces: noSpaces,
  variables: false,
  questionPlaceholders: false,
  numberedQuestions: false,
  dollarNumbers: true,
  dollarNames: false,
  openOperators: true,
  prefixedNumbers: true,
  compoundBodies: true,
  guesses: false,
};

const trino: LexRules = {
  ...postgres,
  backtick: "identifier",
  stringPrefixes: "x",
  escapeStrings: false,
  dollarQuotes: "untagged",
  nestedComments: false,
  digitWords: true,
  dollarInWords: false,
  variables: true,
  questionPlaceholders: true,
  dollarNumbers: false,
  openOperators: false,
};

/** The lexis of each dialect. */
export const lexRules = {
  postgres,
  duckdb: {
    ...postgres,
    unicodeSpaces: duckdbSpaces,
    questionPlaceholders: true,
    numberedQuestions: true,
    dollarNames: true,
    // DuckDB reads 0x1F as the number 0 with the alias x1F, so `0b1e'\''` holds an escape string.
    prefixedNumbers: false,
    compoundBodies: false,
  },
  mysql: {
    ...postgres,
    backslashInStrings: true,
    doubleQuote: "string",
    backslashInDoubleQuotes: true,
    backtick: "identifier",
    escapeStrings: false,
    unicodeStrings: false,
    dollarQuotes: "none",
    dashComments: "spaced",
    hashComments: "always",
    nestedComments: false,
    returnEndsComment: false,
    versionComments: true,
    digitWords: true,
    dollarBeginsWords: true,
    variables: true,
    questionPlaceholders: true,
    dollarNumbers: false,
    openOperators: false,
  },
  trino,
  clickhouse: {
    ...postgres,
    backslashInStrings: true,
    backslashInDoubleQuotes: true,
    backtick: "identifier",
    backslashInBackticks: true,
    curlyQuotes: true,
    stringPrefixes: "bx",
    escapeStrings: false,
    unicodeStrings: false,
    dollarQuotes: "tagsWithDigits",
    hashComments: "spaced",
    slashComments: true,
    returnEndsComment: false,
    digitWords: true,
    dollarBeginsWords: true,
    unicodeSpaces: clickhouseSpaces,
    variables: true,
    dollarNumbers: false,
    openOperators: false,
    compoundBodies: false,
  },
  generic: {
    ...postgres,
    backtick: "identifier",
    nestedComments: false,
    unicodeSpaces: clickhouseSpaces,
    variables: true,
    questionPlaceholders: true,
    openOperators: false,
    compoundBodies: false,
    guesses: true,
  },
} as const satisfies Record<Dialect, LexRules>;

function between(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
