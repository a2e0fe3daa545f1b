/**
 * A query that signals connections which it finds by itself, as `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 * WHERE …` does. The server knows one account for everybody, and would end what others run. So it is asked for the
 * numbers alone, and whose they are is the gateway's to say.
 *
 * Only a call that is a column of its own is read, whose value decides nothing within the query.
 */
import type { SignalName } from "@gateway/core/query/query.ts";
import { readTokens, type Token } from "@gateway/core/sql/session/tokenReader.ts";
import { Edited, type Edit } from "./edited.ts";

/** Such a query, and what is sent in its place. */
export interface Signals {
  readonly name: SignalName;
  /** Where the function stood, its argument is a column. */
  readonly sent: Edited;
  /** Which column that is, as `Array.at` counts. */
  readonly column: number;
}

/** Undefined for every other text: it is not known what it would signal. */
export function signalsIn(sql: string): Signals | undefined {
  const reader = readTokens(sql, "postgres");
  if (reader?.complete !== true) return undefined;
  const query = queryOf(reader.tokens);
  const item = query && itemOf(query);
  const call = item && callIn(query.tokens.slice(item.from, item.to));
  if (query === undefined || item === undefined || call === undefined) return undefined;
  if (sortsBy(query, call.label)) return undefined;
  const edits = [...call.edits, ...textEdits(query)];
  return { name: call.name, sent: new Edited(sql, edits), column: item.column };
}

interface PlacedQuery {
  readonly tokens: readonly Token[];
  /** How many brackets each token stands in; one of its own counts for both its ends. */
  readonly depths: readonly number[];
  /** Its list: behind SELECT, up to what follows the columns. */
  readonly from: number;
  readonly to: number;
}

const listEnds: ReadonlySet<string> = new Set(
  "FROM WHERE GROUP HAVING WINDOW ORDER LIMIT OFFSET FETCH FOR".split(" "),
);
/** Rows are put together, or compared, or go elsewhere. */
const combining: ReadonlySet<string> = new Set("UNION INTERSECT EXCEPT INTO DISTINCT".split(" "));

function queryOf(tokens: readonly Token[]): PlacedQuery | undefined {
  const depths = depthsOf(tokens);
  const top = (words: ReadonlySet<string>, from: number): number =>
    tokens.findIndex(
      ({ kind, upper }, at) =>
        at >= from && depths[at] === 0 && kind === "word" && words.has(upper),
    );
  const select = top(new Set(["SELECT"]), 0);
  if (select < 0 || top(combining, 0) >= 0) return undefined;
  const all = tokens[select + 1]?.upper === "ALL" ? 1 : 0;
  const to = top(listEnds, select);
  return { tokens, depths, from: select + 1 + all, to: to < 0 ? tokens.length : to };
}

function depthsOf(tokens: readonly Token[]): readonly number[] {
  let depth = 0;
  return tokens.map(({ kind }) => {
    if (kind === "open") depth += 1;
    return kind === "close" ? depth-- : depth;
  });
}

interface Item {
  readonly from: number;
  readonly to: number;
  readonly column: number;
}

/** The column that the only such function of the text is in. A star before it has nobody knows how many columns. */
function itemOf({ tokens, depths, from, to }: PlacedQuery): Item | undefined {
  const calls = tokens.flatMap((token, at) => (signalNameOf(token) === undefined ? [] : [at]));
  const [call = -1] = calls;
  if (calls.length !== 1 || call < from || call >= to) return undefined;
  const ends = tokens.flatMap(({ kind }, at) =>
    at >= from && at < to && depths[at] === 0 && kind === "comma" ? [at] : [],
  );
  ends.push(to);
  const index = ends.findIndex((end) => call < end);
  const stars = ends.map((end) => tokens[end - 1]?.text.endsWith("*") === true);
  const item = { from: index === 0 ? from : (ends[index - 1] ?? 0) + 1, to: ends[index] ?? to };
  if (!stars.slice(0, index).includes(true)) return { ...item, column: index };
  return stars.includes(true, index) ? undefined : { ...item, column: index - ends.length };
}

interface SignalCall {
  readonly name: SignalName;
  /** Of the column, as the server folds it. */
  readonly label: string;
  readonly edits: readonly Edit[];
}

/** `f(x)`, or `(SELECT f(x))`, and the name of the column where it has one. */
function callIn(tokens: readonly Token[]): SignalCall | undefined {
  const wrapped = tokens[0]?.text === "(" && tokens[1]?.upper === "SELECT";
  const start = wrapped ? 2 : 0;
  const path = nameOf(tokens[start]) === "pg_catalog" && tokens[start + 1]?.kind === "dot" ? 2 : 0;
  const open = start + path + 1;
  const name = signalNameOf(tokens[open - 1]);
  const close = argumentEnd(tokens, open);
  const last = wrapped ? close + 1 : close;
  if (name === undefined || close <= open + 1 || tokens[last]?.text !== ")") return undefined;
  const label = labelIn(tokens.slice(last + 1), name);
  const [first, second] = [tokens[start], tokens[open + 1]];
  const [before, end, whole] = [tokens[close - 1], tokens[close], tokens[last]];
  if (!label || !first || !second || !before || !end || !whole) return undefined;
  const edits = [
    { start: first.start, end: second.start, text: "((" },
    { start: before.end, end: end.end, text: ")::pg_catalog.int4)" },
  ];
  if (label.said) return { name, label: label.text, edits };
  return {
    name,
    label: name,
    edits: [...edits, { start: whole.end, end: whole.end, text: ` AS ${name}` }],
  };
}

/** Where the bracket ends that opens there; before it where that is none, or holds more than one value. */
function argumentEnd(tokens: readonly Token[], open: number): number {
  if (tokens[open]?.text !== "(") return -1;
  const depths = depthsOf(tokens.slice(open));
  const end = depths.findIndex((depth, at) => {
    const { kind } = tokens[open + at] ?? {};
    return depth === 1 && (kind === "close" || kind === "comma");
  });
  return tokens[open + end]?.kind === "close" ? open + end : -1;
}

function labelIn(
  tokens: readonly Token[],
  name: string,
): { readonly text: string; readonly said: boolean } | undefined {
  if (tokens.length === 0) return { text: name, said: false };
  const [label, ...more] = tokens[0]?.upper === "AS" ? tokens.slice(1) : tokens;
  const text = more.length === 0 ? nameOf(label) : undefined;
  return text === undefined ? undefined : { text, said: true };
}

/** Whether rows are put in an order, or together, by that column: it has another value here than its client has in mind. */
function sortsBy({ tokens, depths, to }: PlacedQuery, label: string): boolean {
  const by = tokens.findIndex(
    ({ kind, upper }, at) =>
      at >= to && depths[at] === 0 && kind === "word" && (upper === "ORDER" || upper === "GROUP"),
  );
  if (by < 0) return false;
  return tokens.some((token, at) => {
    if (at <= by) return false;
    const { kind, upper } = tokens[at - 1] ?? token;
    const begins = kind === "comma" || upper === "BY";
    return nameOf(token) === label || (token.kind === "number" && begins);
  });
}

/**
 * Clients know their statements by their texts, and the server has the gateway's comment before each: what the condition
 * says of `query` is asked of what is behind that.
 */
function textEdits({ tokens, depths, to }: PlacedQuery): readonly Edit[] {
  if (!tokens.some((token) => nameOf(token) === "pg_stat_activity")) return [];
  const where = tokens.findIndex(
    ({ kind, upper }, at) => at >= to && depths[at] === 0 && kind === "word" && upper === "WHERE",
  );
  if (where < 0) return [];
  const edits: Edit[] = [];
  for (let at = where + 1; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (depths[at] === 0 && token.kind === "word" && listEnds.has(token.upper)) break;
    if (token.text === "(" && isQuery(tokens[at + 1])) at = endOf(depths, at);
    else if (nameOf(token) === "query" && !continues(tokens[at + 1]))
      edits.push(...withoutComment(tokens, at));
  }
  return edits;
}

function isQuery(token: Token | undefined): boolean {
  return token?.kind === "word" && /^(?:SELECT|WITH|VALUES)$/.test(token.upper);
}

function endOf(depths: readonly number[], open: number): number {
  const depth = depths[open] ?? 0;
  const end = depths.findIndex((other, at) => at > open && other < depth);
  return (end < 0 ? depths.length : end) - 1;
}

function continues(token: Token | undefined): boolean {
  return token?.kind === "dot" || token?.text === "(";
}

function withoutComment(tokens: readonly Token[], at: number): readonly Edit[] {
  let first = at;
  while (tokens[first - 1]?.kind === "dot" && nameOf(tokens[first - 2]) !== undefined) first -= 2;
  const [start, end] = [tokens[first]?.start ?? 0, tokens[at]?.end ?? 0];
  return [
    { start, end: start, text: "pg_catalog.regexp_replace(" },
    { start: end, end, text: `, '^/\\* gateway/[^ ]* \\*/ ', '')` },
  ];
}

/** A name as the server has it; undefined for what is none. */
function nameOf(token: Token | undefined): string | undefined {
  if (token?.kind === "word") return token.upper.toLowerCase();
  return token?.kind === "quotedIdentifier" ? token.text.slice(1, -1) : undefined;
}

function signalNameOf(token: Token | undefined): SignalName | undefined {
  const name = nameOf(token);
  return name === "pg_cancel_backend" || name === "pg_terminate_backend" ? name : undefined;
}
