/**
 * ClickHouse's type names, taken apart: `Nullable(DateTime64(3, 'UTC'))`, `Tuple(a Int8, b String)`.
 *
 * Only the grammar; what a type means is in types.ts.
 */

/** A name with its arguments. A text argument keeps its quotes; `label` is the name of a tuple's element. */
export interface TypeName {
  readonly name: string;
  readonly label: string | undefined;
  readonly args: readonly TypeName[];
}

/** Nested deeper than this no client type is shown; it bounds the recursion here and in every reader. */
const depthMax = 64;

interface Cursor {
  readonly text: string;
  at: number;
}

/** Undefined for text that is no type name. */
export function parseTypeName(text: string): TypeName | undefined {
  const cursor: Cursor = { text, at: 0 };
  const found = readType(cursor, 0);
  return found !== undefined && cursor.at === text.length ? found : undefined;
}

function readType(cursor: Cursor, depth: number): TypeName | undefined {
  if (depth > depthMax) return undefined;
  const first = readWord(cursor);
  if (first === undefined) return undefined;
  // Two words: an element of a tuple with its name, or `Enum8('a' = 1)` seen from inside.
  const second = skipSpace(cursor) ? readWord(cursor) : undefined;
  const value = {
    name: second ?? first,
    label: second === undefined ? undefined : unquoted(first),
  };
  if (cursor.text[cursor.at] !== "(") return { ...value, args: [] };
  cursor.at += 1;
  const args: TypeName[] = [];
  for (;;) {
    skipSpace(cursor);
    if (cursor.text[cursor.at] === ")" && args.length === 0) break;
    const arg = readType(cursor, depth + 1);
    if (arg === undefined) return undefined;
    args.push(arg);
    skipSpace(cursor);
    const next = cursor.text[cursor.at];
    if (next === ")") break;
    if (next !== ",") return undefined;
    cursor.at += 1;
  }
  cursor.at += 1;
  return { ...value, args };
}

function skipSpace(cursor: Cursor): boolean {
  const from = cursor.at;
  while (cursor.text[cursor.at] === " ") cursor.at += 1;
  return cursor.at > from;
}

const word = /[\w.+-]+|'(?:[^'\\]|\\.|'')*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"|=/y;

/** A name, a number, a quoted text, or the sign between an enum's text and its number. */
function readWord(cursor: Cursor): string | undefined {
  word.lastIndex = cursor.at;
  const found = word.exec(cursor.text)?.[0];
  if (found === undefined) return undefined;
  cursor.at += found.length;
  if (!found.startsWith("'")) return found;
  // The whole of `'a' = 1` is one argument.
  const rest = /^\s*=\s*(-?\d+)/.exec(cursor.text.slice(cursor.at, cursor.at + 16));
  if (rest === null) return found;
  cursor.at += rest[0].length;
  return `${found}=${rest[1] ?? ""}`;
}

/** A quoted text or name without its quotes and escapes. */
export function unquoted(text: string): string {
  const quote = text[0];
  if (quote !== "'" && quote !== "`" && quote !== '"') return text;
  const inner = text.slice(1, text.lastIndexOf(quote));
  return inner.replaceAll(/\\(.)|''/gs, (_all, escaped: string | undefined) => {
    if (escaped === undefined) return "'";
    return escapes[escaped] ?? escaped;
  });
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0", b: "\b" };
