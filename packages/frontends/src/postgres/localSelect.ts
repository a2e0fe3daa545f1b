/**
 * Reads a SELECT that asks for nothing but server functions: `SELECT version(), current_setting('x')`.
 *
 * One item that is something else, a FROM, a cast: the statement is the engine's.
 */
import { literalOf, nameOf, type TokenReader } from "./tokens.ts";

/** One item of the list. */
export interface Question {
  readonly ask: QuestionName;
  readonly arguments: readonly string[];
  /** Name of the column. */
  readonly label: string;
}

/** The functions, with the counts of arguments they take. Some are written without brackets. */
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

/** The items after SELECT; undefined when one of them is not ours to answer. */
export function readSelect(rest: TokenReader): readonly Question[] | undefined {
  const questions: Question[] = [];
  do {
    const question = readQuestion(rest);
    if (question === undefined) return undefined;
    questions.push(question);
  } while (rest.takeText(","));
  return rest.done ? questions : undefined;
}

function readQuestion(rest: TokenReader): Question | undefined {
  if (rest.takeWords("pg_catalog") && !rest.takeText(".")) return undefined;
  const ask = rest.next()?.word ?? "";
  if (!isQuestion(ask)) return undefined;
  const { brackets, counts } = functions[ask];
  const given = brackets ? readArguments(rest) : [];
  if (given === undefined || !(counts as readonly number[]).includes(given.length))
    return undefined;
  const label = readLabel(rest, ask);
  return label === undefined ? undefined : { ask, arguments: given, label };
}

/** True for the name of a function that is answered here. */
export function isQuestion(word: string): word is QuestionName {
  return Object.hasOwn(functions, word);
}

/** Literals in brackets: strings, `true`, `false`. */
function readArguments(rest: TokenReader): readonly string[] | undefined {
  if (!rest.takeText("(")) return undefined;
  const values: string[] = [];
  if (rest.takeText(")")) return values;
  do {
    const token = rest.next();
    const value =
      literalOf(token) ?? (/^(true|false)$/.test(token?.word ?? "") ? token?.word : undefined);
    if (value === undefined) return undefined;
    values.push(value);
  } while (rest.takeText(","));
  return rest.takeText(")") ? values : undefined;
}

function readLabel(rest: TokenReader, ask: QuestionName): string | undefined {
  const token = rest.peek();
  if (token === undefined || token.kind === "comma") return ask;
  if (!rest.takeWords("as") && token.word === "from") return undefined;
  return nameOf(rest.next());
}
