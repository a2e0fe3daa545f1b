/**
 * Columns that PostgreSQL's driver does not carry as they are, asked for in another way.
 *
 * The driver hands types that it does not know over as PostgreSQL's own bytes, money as a number of cents,
 * arrays of any shape as one list, and a numeric NaN in letters of its own. So the query is wrapped into one
 * that asks for the text of such a column, or fails where there is no right answer.
 */
import type { Column, DataType } from "@gateway/core/type/type.ts";

/** How one column is asked for. */
type Asking = "plain" | "text" | "output" | "texts" | "array" | "number";

/** What is known of a result before it runs. */
export interface Carried {
  /** Every column must be asked for in another way, or some would be wrong; `no`: none. */
  readonly wrapping: "no" | "should" | "must";
  readonly askings: readonly Asking[];
  /** The columns as the client is told of them. */
  readonly columns: readonly Column[];
}

/** Decides by the columns as the driver describes them, whose `engineType` is its own name or Arrow's format. */
export function carriedOf(columns: readonly Column[]): Carried {
  const askings = columns.map(askingOf);
  const wrapping = askings.some((asking) => asking !== "plain" && asking !== "number")
    ? "must"
    : askings.includes("number")
      ? "should"
      : "no";
  const shown = columns.map((column, index) => shownAs(column, askings[index] ?? "plain"));
  return { wrapping, askings, columns: shown };
}

function askingOf({ type, engineType = "" }: Column): Asking {
  switch (type.kind) {
    case "binary":
      if (engineType === "inet") return "output";
      return plainBinary.has(engineType) ? "plain" : "text";
    case "text":
      return engineType === "numeric" ? "text" : "plain";
    case "integer":
      return type.bits === 64 ? "number" : "plain";
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

/** Items have no name of the driver's: its text may be a numeric, and its bytes may be anything. */
function isCarried({ kind }: DataType): boolean {
  return kind !== "binary" && kind !== "struct" && kind !== "list" && kind !== "text";
}

function shownAs(column: Column, asking: Asking): Column {
  if (asking === "text" || asking === "output") return { ...column, type: { kind: "text" } };
  if (asking === "texts") return { ...column, type: { kind: "list", item: { kind: "text" } } };
  return column;
}

/** A query's text in a wrapping; `before` is what stands before it. */
export interface Wrapped {
  readonly before: string;
  readonly behind: string;
}

/** What stands around the query. Columns are named by number, because names may come twice. */
export function wrappingOf({ askings }: Carried, changes: boolean): Wrapped {
  const names = askings.map((_, index) => `"${index + 1}"`).join(", ");
  const asked = askings.map((asking, index) => askedFor(asking, `q."${index + 1}"`)).join(", ");
  // What changes something may not stand in FROM.
  if (changes) {
    return { before: `WITH q(${names}) AS (`, behind: `) SELECT ${asked} FROM q` };
  }
  return { before: `SELECT ${asked} FROM (`, behind: `) AS q(${names})` };
}

function askedFor(asking: Asking, name: string): string {
  switch (asking) {
    case "plain":
      return name;
    case "text":
      return `${name}::pg_catalog.text`;
    case "output":
      // Its cast to text adds a mask that PostgreSQL does not show.
      return `CASE WHEN ${name} IS NOT NULL THEN pg_catalog.format('%s', ${name}) END`;
    case "number":
      // Money has no plus, and so fails instead of losing its point.
      return `+${name}`;
    case "array":
      return flat(name, name);
    case "texts":
      return flat(name, `${name}::pg_catalog.text::pg_catalog.text[]`);
  }
}

/** Fails where an array has several dimensions or does not begin at 1, which a list can not say. */
function flat(name: string, value: string): string {
  const dimensions = `pg_catalog.array_ndims(${name}) > 1`;
  const lower = `pg_catalog.array_lower(${name}, 1) <> 1 AND pg_catalog.pg_typeof(${name}) <> 'pg_catalog.int2vector'::pg_catalog.regtype`;
  const refused = `('${shapeText} ' || pg_catalog.array_dims(${name}))::pg_catalog.int4`;
  return `CASE (CASE WHEN ${dimensions} OR (${lower}) THEN ${refused} ELSE 0 END) WHEN 0 THEN ${value} END`;
}

/** What PostgreSQL repeats in its error of such an array. */
export const shapeText = "an array that is no plain list:";
