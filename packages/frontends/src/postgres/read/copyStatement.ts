/**
 * Reads `COPY … TO STDOUT`: which rows are asked for, and in which form.
 *
 * The copied rows become a query, so that routes and policies see what is read. COPY with a file is left to
 * the engine, which allows or refuses it.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { asciiLower, openSql, upperWord, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { decodeString } from "@gateway/core/sql/lex/literal.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import {
  atEnd,
  peekToken,
  readTokens,
  takeFoldedName,
  takeOneOf,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";
import { copyFormOf, type CopyForm, type CopyOptions } from "./copyForm.ts";

/** A COPY to the client. */
export interface CopyOut {
  /** The query whose rows are written. */
  readonly sql: string;
  /** UTF-16 units before the query in the statement; negative where we put a SELECT before a table's name. */
  readonly start: number;
  readonly form: CopyForm;
}

/** What is copied and what stands behind it. */
interface Source {
  readonly sql: string;
  readonly start: number;
  readonly tail: string;
}

/** Reads a COPY, or answers why it is refused; undefined when it is no COPY to or from the client. */
export function readCopy(statement: string): Result<CopyOut, GatewayError> | undefined {
  const source = readSource(statement);
  const reader = source === undefined ? undefined : readTokens(source.tail, "postgres");
  if (source === undefined || reader === undefined) return undefined;
  if (takeWords(reader, "FROM", "STDIN") || takeWords(reader, "FROM", "STDOUT")) {
    return err(gatewayError("query.unsupported", { message: "COPY FROM STDIN is not supported" }));
  }
  if (!takeWords(reader, "TO", "STDOUT") && !takeWords(reader, "TO", "STDIN")) return undefined;
  const wrong = queryProblem(source);
  if (wrong !== undefined) return err(wrong);
  const options = readOptions(reader);
  if (!options.ok) return options;
  const form = copyFormOf(options.value);
  return form.ok ? ok({ sql: source.sql, start: source.start, form: form.value }) : form;
}

const tableHead = "SELECT * FROM ";

function readSource(statement: string): Source | undefined {
  const cursor = openSql(statement, "postgres");
  if (!nextSignificant(cursor) || upperWord(cursor) !== "COPY" || !nextSignificant(cursor)) {
    return undefined;
  }
  if (opens(cursor)) return readQuery(statement, cursor);
  const start = cursor.start;
  let columns: readonly [number, number] | undefined;
  let end = start;
  while (upperWord(cursor) !== "TO" && upperWord(cursor) !== "FROM") {
    if (opens(cursor)) {
      const open = cursor.end;
      if (!skipBrackets(cursor)) return undefined;
      columns = [open, cursor.start];
    } else if (columns !== undefined) return undefined;
    else end = cursor.end;
    if (!nextSignificant(cursor)) return undefined;
  }
  const tail = statement.slice(cursor.start);
  const table = statement.slice(start, end);
  if (columns === undefined) {
    return { sql: tableHead + table, start: start - tableHead.length, tail };
  }
  const head = "SELECT ";
  const list = statement.slice(...columns);
  return { sql: `${head}${list} FROM ${table}`, start: columns[0] - head.length, tail };
}

function opens({ kind }: SqlCursor): boolean {
  return kind === "open";
}

function readQuery(statement: string, cursor: SqlCursor): Source | undefined {
  const start = cursor.end;
  if (!skipBrackets(cursor)) return undefined;
  const sql = statement.slice(start, cursor.start);
  return { sql, start, tail: statement.slice(cursor.end) };
}

/** Moves to the bracket that closes the cursor's one. False when the text ends before. */
function skipBrackets(cursor: SqlCursor): boolean {
  for (let depth = 1; nextSignificant(cursor);) {
    if (cursor.kind === "open") depth += 1;
    if (cursor.kind === "close") depth -= 1;
    if (depth === 0) return true;
  }
  return false;
}

/** COPY of a statement that changes rows copies what it returns, so it needs RETURNING. */
function queryProblem({ sql }: Source): GatewayError | undefined {
  const { kind } = readStatement(sql, "postgres");
  switch (kind) {
    case "select":
      return undefined;
    case "insert":
    case "update":
    case "delete":
    case "merge":
      return hasWord(sql, "RETURNING")
        ? undefined
        : gatewayError("query.unsupported", { message: "COPY query must have a RETURNING clause" });
    default:
      return gatewayError("query.syntax", { message: "COPY needs a query in its brackets" });
  }
}

function hasWord(sql: string, word: string): boolean {
  const cursor = openSql(sql, "postgres");
  while (nextSignificant(cursor)) if (upperWord(cursor) === word) return true;
  return false;
}

type Read = Result<CopyOptions, GatewayError>;

function readOptions(reader: TokenReader): Read {
  takeWords(reader, "WITH");
  return takeSymbol(reader, "(") ? readList(reader) : readOld(reader);
}

/** `(FORMAT csv, HEADER, …)`. */
function readList(reader: TokenReader): Read {
  const options: CopyOptions = {};
  do {
    const name = takeFoldedName(reader);
    if (name === undefined) return syntax();
    const problem = takeOption(reader, name, options);
    if (problem !== undefined) return err(problem);
  } while (takeSymbol(reader, ","));
  return takeSymbol(reader, ")") && atEnd(reader) ? ok(options) : syntax();
}

function takeOption(
  reader: TokenReader,
  name: string,
  options: CopyOptions,
): GatewayError | undefined {
  if (!isOption(name)) {
    const ours = importOnly.has(name);
    return ours
      ? gatewayError("query.unsupported", { message: `COPY ${name} cannot be used with COPY TO` })
      : gatewayError("query.syntax", { message: `option "${name}" not recognized` });
  }
  if (options[name] !== undefined) return conflict();
  switch (name) {
    case "header": {
      const header = takeBoolean(reader);
      if (header === undefined) {
        return gatewayError("query.invalid", { message: "header requires a Boolean value" });
      }
      options.header = header;
      return undefined;
    }
    case "force_quote": {
      const columns = takeColumns(reader, true);
      if (columns === undefined) return syntaxError();
      options.force_quote = columns;
      return undefined;
    }
    case "format":
      options.format = asciiLower(takeText(reader) ?? "");
      return undefined;
    default:
      options[name] = takeText(reader) ?? "";
      return undefined;
  }
}

const optionNames = [
  "format",
  "header",
  "delimiter",
  "null",
  "quote",
  "escape",
  "force_quote",
  "encoding",
] as const satisfies readonly (keyof CopyOptions)[];

/** Options that only COPY FROM has. */
const importOnly: ReadonlySet<string> = new Set([
  "freeze",
  "default",
  "on_error",
  "force_not_null",
  "force_null",
  "log_verbosity",
  "reject_limit",
]);

function isOption(name: string): name is keyof CopyOptions {
  return (optionNames as readonly string[]).includes(name);
}

/** The form before PostgreSQL 9: `CSV HEADER DELIMITER AS ';'`. */
function readOld(reader: TokenReader): Read {
  const options: CopyOptions = {};
  while (!atEnd(reader)) {
    const word = takeOneOf(reader, oldWords);
    if (word === undefined) return syntax();
    const problem = takeOld(reader, word, options);
    if (problem !== undefined) return err(problem);
  }
  return ok(options);
}

const oldWords: readonly string[] = [
  "BINARY",
  "CSV",
  "HEADER",
  "DELIMITER",
  "NULL",
  "QUOTE",
  "ESCAPE",
  "FORCE",
  "ENCODING",
];

function takeOld(
  reader: TokenReader,
  word: string,
  options: CopyOptions,
): GatewayError | undefined {
  switch (word) {
    case "BINARY":
    case "CSV":
      if (options.format !== undefined) return conflict();
      options.format = asciiLower(word);
      return undefined;
    case "HEADER":
      options.header = true;
      return undefined;
    case "FORCE": {
      const columns = takeWords(reader, "QUOTE") ? takeColumns(reader, false) : undefined;
      if (columns === undefined) return syntaxError();
      options.force_quote = columns;
      return undefined;
    }
    default: {
      takeWords(reader, "AS");
      const name = asciiLower(word);
      const text = takeText(reader);
      if (text === undefined || !isOption(name)) return syntaxError();
      if (options[name] !== undefined) return conflict();
      if (name === "delimiter" || name === "null" || name === "quote") options[name] = text;
      if (name === "escape" || name === "encoding") options[name] = text;
      return undefined;
    }
  }
}

/** A string or a bare word. */
function takeText(reader: TokenReader): string | undefined {
  const token = peekToken(reader);
  if (token?.kind !== "string") return takeFoldedName(reader);
  reader.at += 1;
  return decodeString(token.text, "postgres");
}

/** A value that may be left out, for `true`. */
function takeBoolean(reader: TokenReader): boolean | undefined {
  const token = peekToken(reader);
  if (token === undefined || token.kind === "comma" || token.kind === "close") return true;
  reader.at += 1;
  const text = token.kind === "string" ? decodeString(token.text, "postgres") : token.text;
  if (/^(on|true|1)$/i.test(text ?? "")) return true;
  return /^(off|false|0)$/i.test(text ?? "") ? false : undefined;
}

function takeColumns(
  reader: TokenReader,
  brackets: boolean,
): "all" | readonly string[] | undefined {
  if (takeSymbol(reader, "*")) return "all";
  if (brackets && !takeSymbol(reader, "(")) return undefined;
  const names: string[] = [];
  do {
    const name = takeFoldedName(reader);
    if (name === undefined) return undefined;
    names.push(name);
  } while (takeSymbol(reader, ","));
  return !brackets || takeSymbol(reader, ")") ? names : undefined;
}

function conflict(): GatewayError {
  return gatewayError("query.syntax", { message: "conflicting or redundant options" });
}

function syntaxError(): GatewayError {
  return gatewayError("query.syntax", { message: "the options of this COPY can not be read" });
}

function syntax(): Result<never, GatewayError> {
  return err(syntaxError());
}
