/**
 * What a statement asks of its client's session: user variables, and the count of the last change. An engine's
 * connection knows neither, so whoever refuses such a statement asks here. It follows from the text alone; a long
 * text is read ahead.
 */
import { openSql, tokenText, upperWord, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { slicesReading } from "@gateway/core/sql/lex/split.ts";
import { longTextUnits, readingOf } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";

export interface SessionWords {
  /** User variables that it names, in lower case with their `@`. */
  readonly variables: ReadonlySet<string>;
  /** It names more of them than are kept here. */
  readonly moreVariables: boolean;
  /** It sets a variable, by `:=` or INTO, or may: an OUT parameter of CALL looks like any other. */
  readonly sets: boolean;
  /** It calls ROW_COUNT() or FOUND_ROWS(). */
  readonly counts: boolean;
}

/** The words of one statement. `hasVariables`: the session has variables of its own, which a text may read. */
export function sessionWords(source: string, hasVariables: boolean): SessionWords {
  return isWorthReading(glances(source), hasVariables) ? words(source) : noWords;
}

/** Reads of each long statement of a text, in steps, what `sessionWords` answers. */
export function* sessionWordsAhead(text: string, hasVariables: boolean): Steps<boolean> {
  const slices = slicesReading("mysql")(text);
  for (const { start, end } of slices) {
    if (end - start <= longTextUnits) continue;
    const source = text.slice(start, end);
    yield* glances.ahead(source);
    // A statement before this one may set a variable.
    const has = hasVariables || slices.length > 1;
    if (isWorthReading(glances(source), has)) yield* words.ahead(source);
  }
  return true;
}

/** What a look says that knows nothing of strings and comments. Most texts with an `@` in them hold a mail address. */
interface Glance {
  readonly names: boolean;
  readonly setsOrCounts: boolean;
}

function isWorthReading({ names, setsOrCounts }: Glance, hasVariables: boolean): boolean {
  return setsOrCounts || (names && hasVariables);
}

const glances = readingOf(glance);
const words = readingOf(read);

/** A comment may stand between INTO and the variable. The end of a piece counts as one. */
const setting = /\binto\s*(?:[@#]|\/\*|--|$)|:=|\b(?:call|get)\b/i;
/** Statements that may set each variable they name. */
const giving: ReadonlySet<string> = new Set(["CALL", "GET"]);
const counting = /\b(?:row_count|found_rows)\b/i;
/** Characters looked at in one step, and as many more as `found_rows` and one beside it need. */
const unitsPerStep = 16 * 1024;
const overlap = 16;

function* glance(source: string): Steps<Glance> {
  const names = source.includes("@");
  for (let at = 0; at < source.length; at += unitsPerStep) {
    const piece = source.slice(at, at + unitsPerStep + overlap);
    if (counting.test(piece) || (names && setting.test(piece)))
      return { names, setsOrCounts: true };
    if (at > 0) yield;
  }
  return { names, setsOrCounts: false };
}

const noWords: SessionWords = {
  variables: new Set(),
  moreVariables: false,
  sets: false,
  counts: false,
};

/** A statement that names more than these is one that a program made. */
const variablesMax = 1_000;

function* read(source: string): Steps<SessionWords> {
  const cursor = openSql(source, "mysql");
  const variables = new Set<string>();
  let moreVariables = false;
  let sets = false;
  let counts = false;
  let last: Last = "";
  let first: string | undefined;
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    first ??= upperWord(cursor);
    const name = nameAt(cursor, last);
    if (name === undefined) {
      sets ||= last === "variable" && tokenText(cursor).startsWith(":=");
      counts ||= last === "count" && cursor.kind === "open";
      last = lastOf(cursor, last);
      continue;
    }
    sets ||= last === "into" || last === "into @" || giving.has(first);
    if (variables.size < variablesMax) variables.add(name.toLowerCase());
    else moreVariables = true;
    last = "variable";
  }
  return { variables, moreVariables, sets, counts };
}

/** What the token before was, as far as it matters. */
type Last = "" | "into" | "@" | "into @" | "variable" | "count";

function lastOf(cursor: SqlCursor, last: Last): Last {
  if (cursor.kind === "operator" && tokenText(cursor) === "@")
    return last === "into" ? "into @" : "@";
  if (cursor.kind !== "word") return "";
  const word = upperWord(cursor);
  if (word === "ROW_COUNT" || word === "FOUND_ROWS") return "count";
  return word === "INTO" ? "into" : "";
}

/** The name of the user variable that ends here: `@x`, or a name in quotes behind its `@`. */
function nameAt(cursor: SqlCursor, last: Last): string | undefined {
  const text = tokenText(cursor);
  if (cursor.kind === "variable") return text.startsWith("@@") ? undefined : text;
  if (!last.endsWith("@")) return undefined;
  const isQuoted = cursor.kind === "quotedIdentifier" || cursor.kind === "string";
  return isQuoted ? `@${text.slice(1, -1)}` : undefined;
}
