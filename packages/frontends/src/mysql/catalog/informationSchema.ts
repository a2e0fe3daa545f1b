/**
 * `information_schema` as MySQL has it, over the standard one of the engine.
 *
 * Its tables are put into the statement as derived tables, so that the engine itself computes
 * whatever a tool asks of them. Names of their columns are written in upper case, which is how a
 * MySQL server names them in a result. What an engine does not list (keys) is empty there: such a
 * statement has a second form for engines that refuse the first.
 */
import { asciiUpper, openSql, tokenText, type TokenKind } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { decodeIdentifier } from "@gateway/core/sql/lex/literal.ts";
import { forwardedDialect } from "../read/forward.ts";
import { views, type CatalogView } from "./catalogViews.ts";
import { functionValue } from "../commands/select.ts";
import type { VariableContext } from "../commands/variables.ts";

/** What the session's catalog is, and what its functions answer. */
export interface CatalogContext extends VariableContext {
  readonly catalog: () => string | undefined;
}

export interface CatalogSql {
  readonly sql: string;
  /** For an engine that does not list keys; undefined when none are asked for. */
  readonly otherwise: string | undefined;
}

interface Piece {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** The name in upper case; empty for what is no name. */
  readonly upper: string;
}

const mentioned = /information_schema/i;
/** No tool's statement about the catalog is longer, nor has it more words and signs. */
const textLengthMax = 64 * 1024;
const piecesMax = 8000;

/** The statement over derived tables; undefined when it names none of them. `sql` is in the engine's lexis. */
export function catalogSql(sql: string, context: CatalogContext): CatalogSql | undefined {
  if (sql.length > textLengthMax || !mentioned.test(sql) || context.ownWords()) return undefined;
  const pieces = piecesOf(sql);
  if (pieces.length > piecesMax) return undefined;
  const used = usedViews(pieces);
  if (used.length === 0) return undefined;
  const columns = new Set(used.flatMap((view) => view.columns));
  const rewrites = callRewrites(pieces);
  const write = (keys: boolean) =>
    written(sql, pieces, { columns, context, keys, catalog: context.catalog(), rewrites });
  return {
    sql: write(true),
    otherwise: used.some(({ fromKeys }) => fromKeys !== undefined) ? write(false) : undefined,
  };
}

function piecesOf(sql: string): readonly Piece[] {
  const cursor = openSql(sql, forwardedDialect);
  const pieces: Piece[] = [];
  while (nextSignificant(cursor)) {
    const { kind, start, end } = cursor;
    pieces.push({ kind, start, end, upper: nameOf(kind, tokenText(cursor)) });
  }
  return pieces;
}

function nameOf(kind: TokenKind, text: string): string {
  if (kind === "word") return asciiUpper(text);
  if (kind !== "quotedIdentifier") return "";
  return asciiUpper(decodeIdentifier(text, forwardedDialect) ?? "");
}

/** The view that `information_schema.x` names here. */
function viewAt(pieces: readonly Piece[], at: number): CatalogView | undefined {
  if (pieces[at]?.upper !== "INFORMATION_SCHEMA" || pieces[at + 1]?.kind !== "dot") {
    return undefined;
  }
  return views.get(pieces[at + 2]?.upper ?? "");
}

function usedViews(pieces: readonly Piece[]): readonly CatalogView[] {
  return pieces.map((_, at) => viewAt(pieces, at)).filter((view) => view !== undefined);
}

interface Writing {
  readonly columns: ReadonlySet<string>;
  readonly context: CatalogContext;
  readonly keys: boolean;
  readonly catalog: string | undefined;
  /** What replaces single pieces. */
  readonly rewrites: ReadonlyMap<number, string>;
}

/** Functions of text that take any value in MySQL. */
const textFunctions: ReadonlySet<string> = new Set(["LCASE", "LOWER", "UCASE", "UPPER"]);

/**
 * Connector/J's listings are written in MySQL's own functions: `LOCATE(a, b)` is `POSITION(a IN b)`
 * everywhere else, and `UPPER` of a number needs a cast.
 */
function callRewrites(pieces: readonly Piece[]): ReadonlyMap<number, string> {
  const rewrites = new Map<number, string>();
  for (const [at, { upper, kind }] of pieces.entries()) {
    if (kind !== "word" || pieces[at + 1]?.kind !== "open") continue;
    const { comma, close } = callAt(pieces, at + 1);
    if (upper === "LOCATE" && comma !== undefined) {
      rewrites.set(at, "POSITION");
      rewrites.set(comma, " IN");
    }
    if (textFunctions.has(upper) && close !== undefined) {
      rewrites.set(at + 1, "(CAST(");
      rewrites.set(close, " AS VARCHAR))");
    }
    if ((upper === "CAST" || upper === "CONVERT") && close !== undefined) {
      castRewrites(pieces, { at, close }, rewrites);
    }
  }
  return rewrites;
}

/** `CAST(x AS SIGNED INTEGER)` and `CONVERT(x, UNSIGNED)`, whose types are MySQL's own. */
function castRewrites(
  pieces: readonly Piece[],
  { at, close }: { readonly at: number; readonly close: number },
  rewrites: Map<number, string>,
): void {
  const last = pieces[close - 1]?.upper ?? "";
  const type = last === "INTEGER" || last === "INT" ? close - 2 : close - 1;
  const { upper = "" } = pieces[type] ?? {};
  if (upper !== "SIGNED" && upper !== "UNSIGNED") return;
  rewrites.set(type, "BIGINT");
  if (type !== close - 1) rewrites.set(close - 1, "");
  if (pieces[type - 1]?.kind !== "comma") return;
  rewrites.set(at, "CAST");
  rewrites.set(type - 1, " AS");
}

/** Where the first comma and the end of a call stand, whose bracket opens here. */
function callAt(
  pieces: readonly Piece[],
  open: number,
): { readonly comma: number | undefined; readonly close: number | undefined } {
  let depth = 0;
  let comma: number | undefined;
  for (let at = open; at < pieces.length; at += 1) {
    const kind = pieces[at]?.kind;
    if (kind === "open") depth += 1;
    if (kind === "close") depth -= 1;
    if (depth === 0) return { comma, close: at };
    if (kind === "comma" && depth === 1) comma ??= at;
  }
  return { comma, close: undefined };
}

function written(sql: string, pieces: readonly Piece[], writing: Writing): string {
  let text = "";
  let from = 0;
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at];
    if (piece === undefined || piece.start < from) continue;
    const replaced = replacement(pieces, at, writing);
    if (replaced === undefined) continue;
    text += sql.slice(from, piece.start) + replaced.text;
    from = pieces[at + replaced.pieces - 1]?.end ?? sql.length;
  }
  return text + sql.slice(from);
}

interface Replacement {
  readonly text: string;
  /** How many pieces it stands for. */
  readonly pieces: number;
}

function replacement(
  pieces: readonly Piece[],
  at: number,
  writing: Writing,
): Replacement | undefined {
  const view = viewAt(pieces, at);
  if (view !== undefined) return { text: placed(view, pieces[at + 3], writing), pieces: 3 };
  const { upper = "", kind } = pieces[at] ?? {};
  const rewritten = writing.rewrites.get(at);
  if (rewritten !== undefined) return { text: rewritten, pieces: 1 };
  if (upper === "" || pieces[at - 1]?.upper === "AS") return undefined;
  if (namesNumber(pieces, at)) return { text: `AS "${upper}"`, pieces: 1 };
  // Names of MySQL's collations mean nothing to other engines.
  if (upper === "COLLATE" && pieces[at + 1]?.upper !== "") return { text: "", pieces: 2 };
  const called = pieces[at + 1]?.kind === "open";
  if (called && pieces[at + 2]?.kind === "close" && kind === "word") {
    const value = functionValue(upper, writing.context);
    return value === undefined ? undefined : { text: literal(value), pieces: 3 };
  }
  return !called && writing.columns.has(upper) ? { text: `"${upper}"`, pieces: 1 } : undefined;
}

/** A column's name right behind a number, as in `3 TYPE,`: words that other engines want AS before. */
function namesNumber(pieces: readonly Piece[], at: number): boolean {
  if (pieces[at - 1]?.kind !== "number" || pieces[at - 2]?.upper === "INTERVAL") return false;
  return pieces[at + 1]?.kind === "comma" || pieces[at + 1]?.upper === "FROM";
}

/** As a table with a name to refer to, or as that name where a column follows. */
function placed(view: CatalogView, next: Piece | undefined, writing: Writing): string {
  if (next?.kind === "dot") return `"${view.name}"`;
  const derived = `(${view.select(writing)})`;
  const hasAlias =
    next?.kind === "quotedIdentifier" || (next?.kind === "word" && !behindTable.has(next.upper));
  return hasAlias ? derived : `${derived} AS "${view.name}"`;
}

/** Words behind a table that are not its alias, and AS, behind which one stands. */
const behindTable: ReadonlySet<string> = new Set([
  "CROSS",
  "EXCEPT",
  "FETCH",
  "FOR",
  "FULL",
  "GROUP",
  "HAVING",
  "INNER",
  "INTERSECT",
  "JOIN",
  "LEFT",
  "LIMIT",
  "NATURAL",
  "OFFSET",
  "ON",
  "ORDER",
  "RIGHT",
  "STRAIGHT_JOIN",
  "UNION",
  "USING",
  "WHERE",
  "WINDOW",
]);

function literal(value: string | bigint | null): string {
  if (value === null) return "CAST(NULL AS VARCHAR)";
  return typeof value === "bigint" ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
