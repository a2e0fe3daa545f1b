/**
 * Where a query says how many rows it gives, and the same query with a lower LIMIT.
 *
 * It looks at the words outside brackets only, and at the end of the query. What it does not recognise to the
 * last token is `unclear`, so that a caller refuses instead of writing a LIMIT somewhere in the middle.
 */
import { asciiUpper, openSql, tokenText, type SqlCursor, type TokenKind } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { nextInStatement, walkStatement } from "../lex/statement.ts";
import { tokensPerStep, type Steps } from "../reading/steps.ts";

/** How a query limits its rows. Offsets are in UTF-16 units. */
type LimitShape =
  /** It has no LIMIT; one may be written in at `at`. */
  | { readonly kind: "none"; readonly at: number }
  /** It gives at most `count` rows; undefined where a parameter says how many, or `ALL`. The word stands at `start`. */
  | {
      readonly kind: "limited";
      readonly count: bigint | undefined;
      readonly parameter: boolean;
      readonly start: number;
      readonly end: number;
    }
  /** A LIMIT behind it would be that of its last part: it has to stand in brackets, from `start` to `end`. */
  | { readonly kind: "wrapped"; readonly start: number; readonly end: number }
  | { readonly kind: "unclear" };

/**
 * The query with a LIMIT of at most `maxRows`: the same text where it has such a one, undefined where the place is
 * not found. What was written is read again, and must have the limit.
 */
export function* limitedTo(
  sql: string,
  dialect: Dialect,
  maxRows: number,
): Steps<string | undefined> {
  const shape = yield* readLimit(sql, dialect);
  const written = writtenWith(sql, shape, maxRows);
  if (written === undefined || written === sql) return written;
  const proof = yield* readLimit(written, dialect);
  if (proof.kind !== "limited" || proof.count === undefined) return undefined;
  return proof.count <= BigInt(maxRows) ? written : undefined;
}

function writtenWith(sql: string, shape: LimitShape, maxRows: number): string | undefined {
  switch (shape.kind) {
    case "none":
      return `${sql.slice(0, shape.at)} LIMIT ${maxRows}${sql.slice(shape.at)}`;
    case "limited": {
      const { count, parameter, start, end } = shape;
      // How many a parameter asks for is known to the engine only; whoever counts the rows holds the limit.
      if (parameter || (count !== undefined && count <= BigInt(maxRows))) return sql;
      return `${sql.slice(0, start)}${maxRows}${sql.slice(end)}`;
    }
    case "wrapped": {
      const { start, end } = shape;
      const inner = sql.slice(start, end);
      // A line comment at its end would swallow the bracket.
      return `${sql.slice(0, start)}SELECT * FROM (${inner}\n) LIMIT ${maxRows}${sql.slice(end)}`;
    }
    case "unclear":
      return undefined;
  }
}

interface Piece {
  readonly kind: TokenKind | "group";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The last tokens outside brackets that are kept: more than the end of any query has. */
const endTokensMax = 64;

interface Seen {
  readonly end: Piece[];
  first: Piece | undefined;
  /** `LIMIT`, `FETCH` and `TOP` outside brackets. */
  limits: number;
  setOperator: boolean;
  top: boolean;
  depth: number;
  groupStart: number;
}

function* readLimit(sql: string, dialect: Dialect): Steps<LimitShape> {
  const cursor = openSql(sql, dialect);
  const walk = walkStatement(cursor);
  const seen: Seen = {
    end: [],
    first: undefined,
    limits: 0,
    setOperator: false,
    top: false,
    depth: 0,
    groupStart: 0,
  };
  for (let count = 1; nextInStatement(walk); count += 1) {
    take(seen, cursor);
    if (count % tokensPerStep === 0) yield;
  }
  if (seen.depth !== 0 || seen.first === undefined || seen.top || walk.compound)
    return { kind: "unclear" };
  return shapeOf(seen, seen.first, dialect);
}

/** What is in brackets counts as one piece. */
function take(seen: Seen, cursor: SqlCursor): void {
  const { kind, start, end } = cursor;
  if (kind === "close") {
    seen.depth -= 1;
    if (seen.depth === 0) put(seen, { kind: "group", text: "()", start: seen.groupStart, end });
    return;
  }
  if (kind === "open") {
    if (seen.depth === 0) seen.groupStart = start;
    seen.depth += 1;
    return;
  }
  if (seen.depth > 0) return;
  // Only short tokens can be words of a LIMIT, and a string may have megabytes.
  const text = end - start > 128 ? "" : tokenText(cursor);
  put(seen, { kind, text: kind === "word" ? asciiUpper(text) : text, start, end });
}

const setOperators: ReadonlySet<string> = new Set(["UNION", "INTERSECT", "EXCEPT", "MINUS"]);
const limitWords: ReadonlySet<string> = new Set(["LIMIT", "FETCH"]);

function put(seen: Seen, piece: Piece): void {
  const before = seen.end.at(-1);
  seen.first ??= piece;
  const word = piece.kind === "word" && before?.kind !== "dot" ? piece.text : "";
  if (setOperators.has(word)) seen.setOperator = true;
  if (limitWords.has(word)) seen.limits += 1;
  const behindSelect = before?.text === "SELECT" || before?.text === "DISTINCT";
  if (word === "TOP" && behindSelect) seen.top = true;
  seen.end.push(piece);
  if (seen.end.length > endTokensMax) seen.end.shift();
}

function shapeOf(seen: Seen, first: Piece, dialect: Dialect): LimitShape {
  const pieces = withoutLimitBy(seen.end, dialect);
  const limits = seen.limits - (seen.end.length - pieces.length) / 2;
  const last = pieces.at(-1);
  if (last === undefined) return { kind: "unclear" };
  const outside = pieces.findIndex((_, at) => behindRows(pieces, at, dialect));
  const tailAt = outside < 0 ? pieces.length : outside;
  const bodyEnd = pieces[tailAt - 1]?.end;
  if (bodyEnd === undefined) return { kind: "unclear" };
  if (dialect === "clickhouse" && (seen.setOperator || first.kind === "group")) {
    return { kind: "wrapped", start: first.start, end: bodyEnd };
  }
  for (let at = 1; at < tailAt; at += 1) {
    const found = limitAt(pieces.slice(at, tailAt));
    if (found !== undefined) return limits === found.words ? found.shape : { kind: "unclear" };
  }
  if (limits > 0) return { kind: "unclear" };
  // MySQL has no LIMIT behind an OFFSET alone, and neither has a query that ends so.
  return { kind: "none", at: bodyEnd };
}

/** ClickHouse's `LIMIT n BY columns` limits groups. Without the words LIMIT and its count the rest is as it would be. */
function withoutLimitBy(pieces: readonly Piece[], dialect: Dialect): readonly Piece[] {
  if (dialect !== "clickhouse") return pieces;
  const isBy = (at: number) =>
    pieces[at]?.text === "LIMIT" && isCount(pieces[at + 1]) && pieces[at + 2]?.text === "BY";
  const kept = pieces.filter((_, at) => !isBy(at) && !isBy(at - 1));
  return kept;
}

/** Whether from here on comes what stands behind every LIMIT: locks, and ClickHouse's settings and format. */
function behindRows(pieces: readonly Piece[], at: number, dialect: Dialect): boolean {
  const word = wordAt(pieces, at);
  const next = wordAt(pieces, at + 1);
  if (word === "FOR")
    return next === "UPDATE" || next === "SHARE" || next === "NO" || next === "KEY";
  if (word === "LOCK") return next === "IN" && wordAt(pieces, at + 2) === "SHARE";
  if (dialect !== "clickhouse" || at === 0) return false;
  const isLastButOne = at === pieces.length - 2 || wordAt(pieces, at + 2) === "SETTINGS";
  if (word === "FORMAT") return isLastButOne && pieces[at + 1]?.kind === "word";
  return word === "SETTINGS" && pieces[at + 2]?.text === "=";
}

interface FoundLimit {
  /** How many of the words that limit stand in it. */
  readonly words: number;
  readonly shape: LimitShape;
}

/** The limit that these pieces are, to the last of them. */
function limitAt(pieces: readonly Piece[]): FoundLimit | undefined {
  const at = offsetEnd(pieces, 0);
  const rest = pieces.slice(at);
  if (rest.length === 0) {
    const last = pieces.at(-1);
    return last === undefined || at === 0
      ? undefined
      : { words: 0, shape: { kind: "none", at: last.end } };
  }
  const word = wordAt(rest, 0);
  if (word === "FETCH") return fetchOf(rest);
  return word === "LIMIT" ? limitOf(rest) : undefined;
}

/** Past `OFFSET n [ROW | ROWS]`, where that stands. */
function offsetEnd(pieces: readonly Piece[], from: number): number {
  if (wordAt(pieces, from) !== "OFFSET" || !isCount(pieces[from + 1])) return from;
  const unit = wordAt(pieces, from + 2);
  return unit === "ROW" || unit === "ROWS" ? from + 3 : from + 2;
}

/** `LIMIT n`, `LIMIT ALL`, `LIMIT n OFFSET m`, and MySQL's `LIMIT m, n`. */
function limitOf(pieces: readonly Piece[]): FoundLimit | undefined {
  const [, first, comma, second] = pieces;
  if (comma?.kind === "comma") {
    return isCount(first) && isCount(second) && pieces.length === 4 ? limited(second) : undefined;
  }
  const isAll = first?.kind === "word" && (first.text === "ALL" || first.text === "NULL");
  if (!isAll && !isCount(first)) return undefined;
  return offsetEnd(pieces, 2) === pieces.length ? limited(first) : undefined;
}

/** `FETCH FIRST n ROWS ONLY`. */
function fetchOf(pieces: readonly Piece[]): FoundLimit | undefined {
  const [, first, count, unit, only] = pieces;
  const isFirst = first?.text === "FIRST" || first?.text === "NEXT";
  const isUnit = unit?.text === "ROW" || unit?.text === "ROWS";
  const fits = isFirst && isUnit && only?.text === "ONLY" && pieces.length === 5;
  return fits && isCount(count) ? limited(count) : undefined;
}

function limited(count: Piece | undefined): FoundLimit | undefined {
  if (count === undefined) return undefined;
  const { start, end } = count;
  const parameter = count.kind === "parameter";
  const digits = count.kind === "number" ? BigInt(count.text) : undefined;
  return { words: 1, shape: { kind: "limited", count: digits, parameter, start, end } };
}

/** A plain whole number or a parameter; nothing that would have to be computed. */
function isCount(piece: Piece | undefined): piece is Piece {
  if (piece?.kind === "parameter") return true;
  return piece?.kind === "number" && /^\d{1,18}$/.test(piece.text);
}

function wordAt(pieces: readonly Piece[], at: number): string {
  const piece = pieces[at];
  return piece?.kind === "word" && pieces[at - 1]?.kind !== "dot" ? piece.text : "";
}
