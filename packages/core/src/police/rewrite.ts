/**
 * Writes decisions into a text: each table stands there by its whole name, or a query that shows what may be seen
 * stands in its place. Everything else stays as the client wrote it.
 */
import type { ViewColumn } from "../port/sql/policy.ts";
import type { TableReference } from "../port/sql/sqlReading.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { ListedView } from "./catalogued.ts";
import { endOf, startOf } from "./places.ts";

/** A reference with what was decided about it. */
export interface Placed {
  readonly reference: TableReference;
  /** Parts that its name lacks. */
  readonly missing: readonly string[];
  readonly view: ListedView | undefined;
}

/**
 * `names`: where each table stands in the new text, in its order, with the offset of its whole name. `moved`: what
 * stood between two tables, and how much further back it stands now.
 */
export interface Rewritten {
  readonly sql: string;
  readonly names: readonly { readonly start: number; readonly name: string }[];
  readonly moved: readonly { readonly from: number; readonly to: number; readonly by: number }[];
}

export function rewritten(sql: string, placed: readonly Placed[], dialect: Dialect): Rewritten {
  let text = "";
  let at = 0;
  const names: { start: number; name: string }[] = [];
  const moved: { from: number; to: number; by: number }[] = [];
  const ordered = placed.toSorted(
    (one, other) => startOf(one.reference) - startOf(other.reference),
  );
  for (const { reference, missing, view } of ordered) {
    const start = startOf(reference);
    const end = endOf(reference);
    const name = [...missing.map((part) => quoted(part, dialect)), sql.slice(start, end)].join(".");
    const { before, after } = around(view, dialect);
    moved.push({ from: at, to: start, by: text.length - at });
    text += sql.slice(at, start) + before;
    names.push({ start: text.length, name });
    text += name + after;
    if (view !== undefined && !reference.aliased) text += ` AS ${lastPart(sql, reference)}`;
    at = end;
  }
  moved.push({ from: at, to: sql.length, by: text.length - at });
  return { sql: text + sql.slice(at), names, moved };
}

/**
 * Two queries where rows and columns are narrowed: an engine may let a condition see the masks of its own query
 * instead of the columns.
 */
function around(view: ListedView | undefined, dialect: Dialect): { before: string; after: string } {
  if (view === undefined) return { before: "", after: "" };
  const { rows, columns } = view;
  const list = columns?.map((column) => columnText(column, dialect)).join(", ");
  if (rows === undefined) return { before: `(SELECT ${list ?? "*"} FROM `, after: ")" };
  const filtered = { before: "(SELECT * FROM ", after: ` WHERE (${rows}))` };
  if (list === undefined) return filtered;
  return {
    before: `(SELECT ${list} FROM ${filtered.before}`,
    after: `${filtered.after} AS gateway_rows)`,
  };
}

function columnText({ name, mask }: ViewColumn, dialect: Dialect): string {
  const written = columnName(name, dialect);
  return mask === undefined ? written : `(${mask}) AS ${written}`;
}

/** Words that mean something else without quotes. */
const reserved: ReadonlySet<string> = new Set(
  (
    "all and any array as asc between both case cast check collate column constraint create cross current default desc " +
    "distinct drop else end except exists false fetch for foreign from full group having in index inner insert " +
    "intersect interval into is join key leading left like limit natural not null offset on or order outer primary " +
    "rank references right row rows select session set some table then to top trailing true union unique update user " +
    "using values when where window with current_user session_user current_date current_time current_timestamp " +
    "current_schema current_catalog localtime localtimestamp"
  ).split(" "),
);

/** As the configuration has it, so that the engine folds its case; in quotes where it would not be a name. */
function columnName(name: string, dialect: Dialect): string {
  return isPlainName(name) ? name : quoted(name, dialect);
}

/** A name that needs no quotes anywhere. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !reserved.has(name.toLowerCase());
}

function quoted(name: string, dialect: Dialect): string {
  if (/^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name)) return name;
  if (dialect === "mysql") return `\`${name.replaceAll("`", "``")}\``;
  return `"${name.replaceAll('"', '""')}"`;
}

function lastPart(sql: string, { path }: TableReference): string {
  const last = path[path.length - 1];
  return last === undefined ? "" : sql.slice(last.start, last.end);
}
