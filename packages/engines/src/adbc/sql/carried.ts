/**
 * Columns that PostgreSQL's driver does not carry as they are, asked for in another way.
 *
 * The driver hands types that it does not know over as PostgreSQL's own bytes, money as a number of cents, oid as
 * a number with a sign, arrays of any shape as one list, and a numeric NaN in letters of its own. So the query
 * is wrapped into one that asks for the text of such a column, or fails where there is no right answer.
 */
import type { Column, DataType } from "@gateway/core/type/type.ts";
import { mainStart } from "./mainStart.ts";

/** How one column is asked for. */
type Asking = "plain" | "text" | "output" | "texts" | "array";

/** What is known of a result before it runs. */
export interface Carried {
  readonly askings: readonly Asking[];
  /** The columns as the client is told of them. */
  readonly columns: readonly Column[];
}

/**
 * Decides by the columns as the driver describes them, whose `engineType` is its own name or Arrow's format, and
 * by the numbers of their types in PostgreSQL where those were asked for.
 */
export function carriedOf(columns: readonly Column[], types: readonly number[] = []): Carried {
  const askings = columns.map((column, index) => askingOf(column, types[index]));
  const shown = columns.map((column, index) => {
    const own = ownNames.get(types[index] ?? 0);
    const named = own === undefined ? column : { ...column, engineType: own };
    return shownAs(named, askings[index] ?? "plain");
  });
  return { askings, columns: shown };
}

/** Whether the driver's word for a column stands for several types of PostgreSQL. */
export function isDoubtful({ type, engineType = "" }: Column): boolean {
  if (type.kind === "list") return true;
  return type.kind === "text"
    ? engineType !== "numeric"
    : type.kind === "integer" && type.bits !== 16;
}

function askingOf(column: Column, type: number | undefined): Asking {
  const asking = driversAsking(column);
  if (type === undefined || !isDoubtful(column)) return asking;
  if (ownLists.has(type)) return "text";
  if (asking === "texts") return asking;
  if (column.type.kind === "list") return plainArrays.has(type) ? asking : "texts";
  return plainTypes.has(type) ? asking : "text";
}

function driversAsking({ type, engineType = "" }: Column): Asking {
  switch (type.kind) {
    case "binary":
      if (engineType === "inet") return "output";
      return plainBinary.has(engineType) ? "plain" : "text";
    case "text":
      return engineType === "numeric" ? "text" : "plain";
    case "list":
      return isCarried(type.item) ? "array" : "texts";
    case "struct":
      return "text";
    default:
      return "plain";
  }
}

/** Arrow's formats of binary: the column is a bytea. Other types have their own name. */
const plainBinary: ReadonlySet<string> = new Set(["z", "Z"]);

/** int8, int4, text, json, bpchar, varchar, name: what their numbers and texts say is the value. */
const plainTypes: ReadonlySet<number> = new Set([20, 23, 25, 114, 1042, 1043, 19, 3802]);

/** Arrays of bool, int2, int4, int8, float4, float8, date, time, timestamp, timestamptz, interval, uuid. */
const plainArrays: ReadonlySet<number> = new Set([
  1000, 1005, 1007, 1016, 1021, 1022, 1182, 1183, 1115, 1185, 1187, 2951,
]);

/** Types of catalogs that PostgreSQL's clients know by their own name, and the driver does not. */
const ownNames: ReadonlyMap<number, string> = new Map([
  [19, "name"],
  [26, "oid"],
]);

/** int2vector and oidvector, which are written without braces, and arrays of boxes, whose items semicolons part. */
const ownLists: ReadonlySet<number> = new Set([22, 30, 1020]);

/** Items have no name of the driver's: its text may be a numeric, and its bytes may be anything. */
function isCarried({ kind }: DataType): boolean {
  return kind !== "binary" && kind !== "struct" && kind !== "list" && kind !== "text";
}

function shownAs(column: Column, asking: Asking): Column {
  if (asking === "text" && column.engineType === "numeric") return { ...column, numeric: "any" };
  if (asking === "text" || asking === "output") return { ...column, type: { kind: "text" } };
  if (asking === "texts") return { ...column, type: { kind: "list", item: { kind: "text" } } };
  return column;
}

/** A query in its wrapping. */
export interface Wrapped {
  readonly sql: string;
  /** Where its own text begins. */
  readonly at: number;
}

/** What is known of the query: its columns, asked for just before or earlier; or that it changes something. */
export type Wrapping = "asked" | "remembered" | "changes";

/** The query in its wrapping; undefined where it needs none. */
export function wrapped(sql: string, carried: Carried, how: Wrapping): Wrapped | undefined {
  const { askings } = carried;
  const changes = how === "changes";
  if (!changes && askings.every((asking) => asking === "plain")) return undefined;
  // Columns are named by number, because names may come twice.
  const names = askings.map((_, index) => `"${index + 1}"`).join(", ");
  const plain = (index: number): string => {
    const column = carried.columns[index];
    return changes && column !== undefined ? proved(column.type, `q."${index + 1}"`) : "";
  };
  const asked = askings
    .map((asking, index) => askedFor(asking, `q."${index + 1}"`, plain(index)))
    .join(", ");
  const check = how === "remembered" ? stillSame(carried) : "";
  if (!changes) return around(`SELECT ${asked} FROM (`, sql, `) AS q(${names})${check}`);
  // What changes something may stand in a WITH only, and only in the outermost one.
  const start = mainStart("postgres")(sql);
  const opening = `${own}(${names}) AS (`;
  const behind = `) SELECT ${asked} FROM ${own} AS q`;
  if (start === undefined) return around(`WITH ${opening}`, sql, behind);
  return { sql: `${sql.slice(0, start)}, ${opening}${sql.slice(start)}${behind}`, at: 0 };
}

function around(before: string, sql: string, behind: string): Wrapped {
  return { sql: before + sql + behind, at: before.length };
}

/**
 * Refused before anything runs where the query has more columns by now, which the names of its columns alone would
 * leave out, or another type where a number is promised. It is true, so the server's planner drops it.
 */
function stillSame({ columns }: Carried): string {
  const nulls = columns.map(({ numeric }) =>
    numeric === undefined ? "NULL" : "NULL::pg_catalog.numeric",
  );
  return ` WHERE true OR EXISTS (SELECT q.* UNION ALL SELECT ${nulls.join(", ")})`;
}

/** A name that no WITH of a client has. */
const own = '"of the gateway"';

/** The names of a query's types as numbers, in one row, without running it: nothing is joined. */
export function typesSql(sql: string, count: number): string {
  const names = Array.from({ length: count }, (_, index) => `"${index + 1}"`);
  const types = names.map((name) => `pg_catalog.pg_typeof(q.${name})::pg_catalog.oid::int8`);
  return `SELECT ${types.join(", ")} FROM (SELECT 1) AS one LEFT JOIN (${sql}) AS q(${names.join(", ")}) ON false`;
}

function askedFor(asking: Asking, name: string, plain: string): string {
  switch (asking) {
    case "plain":
      return plain === "" ? name : plain;
    case "text":
      return `${name}::pg_catalog.text`;
    case "output":
      // Its cast to text adds a mask that PostgreSQL does not show.
      return outputOf(name);
    case "array":
      return flat(name, plain === "" ? name : plain);
    case "texts":
      return flat(name, `${name}::pg_catalog.text::pg_catalog.text[]`);
  }
}

/** As PostgreSQL writes a value of any type. */
function outputOf(name: string): string {
  return `CASE WHEN ${name} IS NOT NULL THEN pg_catalog.format('%s', ${name}) END`;
}

/**
 * A value of a change, which can not be asked for its type before it is made: PostgreSQL refuses the statement where
 * it is another one than the driver says, and undoes the change where the value can not be carried.
 */
function proved(type: DataType, name: string): string {
  switch (type.kind) {
    case "text":
      // It may be a char, whose cast to text leaves out blanks at the end.
      return outputOf(name);
    case "integer":
      return type.bits === 16 ? name : `pg_catalog.int${type.bits / 8}larger(${name}, ${name})`;
    case "date":
      return bounded(name, "date", "5874898-01-01");
    case "timestamp":
      return bounded(name, type.zoned ? "timestamptz" : "timestamp", "294247-01-01");
    case "list": {
      const item = type.item.kind === "integer" ? type.item.bits / 8 : undefined;
      if (item === undefined) return name;
      const sameType = `pg_catalog.array_eq(${name}, '{}'::pg_catalog.int${item}[])`;
      return `CASE WHEN ${sameType} IS NULL THEN NULL ELSE ${name} END`;
    }
    default:
      return name;
  }
}

function bounded(name: string, type: string, end: string): string {
  const until = type === "date" ? "true" : `${name} < '${end}'::pg_catalog.${type}`;
  const fine = `${name} IS NULL OR (pg_catalog.isfinite(${name}) AND ${until})`;
  const refused = `('no day that can be counted: ' || ${name}::pg_catalog.text)::pg_catalog.${type}`;
  return `CASE WHEN ${fine} THEN ${name} ELSE ${refused} END`;
}

/** Fails where an array has several dimensions or does not begin at 1, which a list can not say. */
function flat(name: string, value: string): string {
  const dimensions = `pg_catalog.array_ndims(${name}) > 1`;
  const lower = `pg_catalog.array_lower(${name}, 1) <> 1`;
  const refused = `('an array that is no plain list: ' || pg_catalog.array_dims(${name}))::pg_catalog.int4`;
  return `CASE (CASE WHEN ${dimensions} OR (${lower}) THEN ${refused} ELSE 0 END) WHEN 0 THEN ${value} END`;
}
