/**
 * Reads a SELECT that asks for nothing but server functions: `SELECT version(), current_setting('x')`.
 *
 * With anything else in it (a FROM, a cast, another item) the statement is the engine's.
 */
import { decodeString } from "@gateway/core/sql/lex/literal.ts";
import {
  atEnd,
  looksAtWord,
  peekToken,
  readTokens,
  takeFoldedName,
  takeOneOf,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";

/** One item of the list. */
export interface Question {
  readonly ask: QuestionName;
  readonly arguments: readonly string[];
  /** Name of the column. */
  readonly label: string;
}

/** The functions, with how many arguments they take. Some are written without brackets. */
const functions = {
  version: { brackets: true, counts: [0] },
  current_setting: { brackets: true, counts: [1, 2] },
  set_config: { brackets: true, counts: [3] },
  pg_backend_pid: { brackets: true, counts: [0] },
  pg_is_in_recovery: { brackets: true, counts: [0] },
  pg_client_encoding: { brackets: true, counts: [0] },
  getdatabaseencoding: { brackets: true, counts: [0] },
  pg_advisory_unlock_all: { brackets: true, counts: [0] },
  current_user: { brackets: false, counts: [0] },
  session_user: { brackets: false, counts: [0] },
  user: { brackets: false, counts: [0] },
} as const satisfies Record<string, { brackets: boolean; counts: readonly number[] }>;

export type QuestionName = keyof typeof functions;

/** True for the name of a function that is answered here, in lower case. */
export function isQuestion(word: string): word is QuestionName {
  return Object.hasOwn(functions, word);
}

/** The items of a SELECT; undefined when one of them is not ours to answer. */
export function readSelect(sql: string): readonly Question[] | undefined {
  const reader = readTokens(sql, "postgres");
  if (reader === undefined || !takeWords(reader, "SELECT")) return undefined;
  const questions: Question[] = [];
  do {
    const question = readQuestion(reader);
    if (question === undefined) return undefined;
    questions.push(question);
  } while (takeSymbol(reader, ","));
  return atEnd(reader) ? questions : undefined;
}

function readQuestion(reader: TokenReader): Question | undefined {
  if (takeWords(reader, "PG_CATALOG") && !takeSymbol(reader, ".")) return undefined;
  const ask = takeFoldedName(reader) ?? "";
  if (!isQuestion(ask)) return undefined;
  const { brackets, counts } = functions[ask];
  const given = brackets ? readArguments(reader) : [];
  if (given === undefined || !(counts as readonly number[]).includes(given.length)) {
    return undefined;
  }
  const label = readLabel(reader, ask);
  return label === undefined ? undefined : { ask, arguments: given, label };
}

/** Literals in brackets: strings, `true`, `false`. */
function readArguments(reader: TokenReader): readonly string[] | undefined {
  if (!takeSymbol(reader, "(")) return undefined;
  const values: string[] = [];
  if (takeSymbol(reader, ")")) return values;
  do {
    const value = takeLiteral(reader);
    if (value === undefined) return undefined;
    values.push(value);
  } while (takeSymbol(reader, ","));
  return takeSymbol(reader, ")") ? values : undefined;
}

function takeLiteral(reader: TokenReader): string | undefined {
  const token = peekToken(reader);
  if (token?.kind !== "string") return takeOneOf(reader, ["TRUE", "FALSE"])?.toLowerCase();
  reader.at += 1;
  return decodeString(token.text, "postgres");
}

function readLabel(reader: TokenReader, ask: QuestionName): string | undefined {
  const token = peekToken(reader);
  if (token === undefined || token.kind === "comma") return ask;
  if (!takeWords(reader, "AS") && looksAtWord(reader, ["FROM"])) return undefined;
  return takeFoldedName(reader);
}

/** What the client `postgres` asks once per connection: which type is whose array. */
const arrayTypes =
  "select b.oid,b.typarray from pg_catalog.pg_type a left join pg_catalog.pg_type b " +
  "on b.oid=a.typelem where a.typcategory='A' group by b.oid,b.typarray order by b.oid";

const arrayTypesTokens = textsOf(arrayTypes);

/** True for that question, whatever its white space. */
export function readArrayTypes(sql: string): boolean {
  const texts = textsOf(sql);
  return (
    texts.length === arrayTypesTokens.length &&
    texts.every((text, index) => text === arrayTypesTokens[index])
  );
}

function textsOf(sql: string): readonly string[] {
  return readTokens(sql, "postgres")?.tokens.map(({ upper }) => upper) ?? [];
}
