/**
 * Types of parameters that neither the client nor DuckDB can tell, found by trial.
 *
 * DuckDB leaves `$1 + 1` open until it has a value, and a value without a type is text, which no operator
 * takes. With a NULL instead it decides, as PostgreSQL does for a parameter. So each place is tried with one
 * type after the other. The first type that leaves the columns as a NULL does is taken, or else the first
 * that DuckDB takes at all. Nothing runs, and nothing of these texts ever does.
 */
import type { Column, DataType, Parameter } from "@gateway/core/type/type.ts";
import { firstArguments, withPlaces, type FirstArgument } from "./places.ts";
import { engineTypeOf } from "../types.ts";

const text: DataType = { kind: "text" };
const int64: DataType = { kind: "integer", bits: 64, signed: true };
const float64: DataType = { kind: "float", bits: 64 };
const decimal: DataType = { kind: "decimal", precision: 18, scale: 3 };

/**
 * Functions of whole numbers and of fractions, for which DuckDB takes a NULL as a whole number and
 * PostgreSQL takes what it does not know as a fraction: exact where digits are counted.
 */
const numeric: ReadonlySet<string> = new Set(["abs", "round", "sign", "trunc"]);

/** Types by which a place is tried, in this order: what holds more of what may be sent comes first. */
const candidates: readonly DataType[] = [
  decimal,
  float64,
  int64,
  { kind: "integer", bits: 32, signed: true },
  { kind: "timestamp", unit: "us", zoned: true },
  { kind: "timestamp", unit: "us", zoned: false },
  { kind: "interval" },
  { kind: "date" },
  { kind: "list", item: text },
  { kind: "list", item: int64 },
  { kind: "list", item: float64 },
];

/** Each place costs the engine up to a dozen looks at the statement. */
const guessedMax = 8;

/** Columns of a text without parameters; undefined when the engine refuses it. */
export type Look = (sql: string) => Promise<readonly Column[] | undefined>;

/** What is known of the places beforehand. */
export interface GuessWhere {
  readonly known: readonly (DataType | undefined)[];
  readonly stated: readonly Pick<Parameter, "type">[];
  readonly plainOnly?: boolean;
}

/**
 * Types and columns, or undefined where there is no guess. `known` are DuckDB's own, `stated` the
 * client's; `plainOnly` gives up where the text makes no sense with NULLs either.
 */
export async function guessTypes(
  sql: string,
  { known, stated, ...more }: GuessWhere,
  look: Look,
): Promise<{ types: readonly DataType[]; columns: readonly Column[] } | undefined> {
  const types = known.map((type, index) => type ?? statedType(stated[index]));
  const open = types.flatMap((type, index) => (type === undefined ? [index] : []));
  if (open.length === 0 || open.length > guessedMax) return undefined;
  const asNulls = () => withPlaces(sql, (_place, index) => nullOf(types[index]));
  const plain = await look(asNulls());
  if (plain === undefined && more.plainOnly === true) return undefined;
  const calls = firstArguments(sql);
  for (const index of open) {
    // One place is tried, the others hold NULL.
    const only = (write: (place: string) => string) =>
      look(withPlaces(sql, (place, at) => (at === index ? write(place) : nullOf(types[at]))));
    const type = await guessOne(
      {
        value: (candidate) => only((place) => `CAST(${place} AS ${engineTypeOf(candidate)})`),
        null: (candidate) => only(() => nullOf(candidate)),
      },
      { plain, preferred: preferredIn(calls.get(index)) },
    );
    if (type === undefined) return undefined;
    types[index] = type;
  }
  const whole = types.filter((type) => type !== undefined);
  if (whole.length < types.length) return undefined;
  // With their places the columns have the names that they will have.
  const named = withPlaces(sql, (place, index) => {
    const type = whole[index];
    return type === undefined ? place : `CAST(${place} AS ${engineTypeOf(type)})`;
  });
  const columns = (await look(named)) ?? (await look(asNulls()));
  return columns && { types: whole, columns };
}

/** How many parameters a text has places for. */
export function countPlaces(sql: string): number {
  let count = 0;
  withPlaces(sql, (place, index) => {
    count = Math.max(count, index + 1);
    return place;
  });
  return count;
}

/** One place: a value that is not known, or a NULL, of some type. Undefined where the engine refuses it. */
interface Tries {
  value(type: DataType): Promise<readonly Column[] | undefined>;
  null(type: DataType): Promise<readonly Column[] | undefined>;
}

async function guessOne(
  tries: Tries,
  {
    plain,
    preferred,
  }: {
    readonly plain: readonly Column[] | undefined;
    readonly preferred: DataType | undefined;
  },
): Promise<DataType | undefined> {
  if ((await tries.value(text)) !== undefined) return text;
  // A function that makes tables looks at its values later, and most count with them: `range($1)`.
  if ((await tries.null(text)) !== undefined) return int64;
  if (preferred !== undefined && (await tries.value(preferred)) !== undefined) return preferred;
  let first: DataType | undefined;
  for (const candidate of candidates) {
    const columns = await tries.value(candidate);
    if (columns === undefined) continue;
    first ??= candidate;
    if (plain !== undefined && sameColumns(columns, plain)) return candidate;
  }
  return first;
}

function preferredIn(call: FirstArgument | undefined): DataType | undefined {
  if (call === undefined || !numeric.has(call.name)) return undefined;
  // DuckDB must know how many digits of a decimal are wanted before it runs.
  return call.constant ? decimal : float64;
}

function statedType(stated: Pick<Parameter, "type"> | undefined): DataType | undefined {
  return stated === undefined || stated.type.kind === "null" ? undefined : stated.type;
}

function nullOf(type: DataType | undefined): string {
  return type === undefined ? "NULL" : `CAST(NULL AS ${engineTypeOf(type)})`;
}

/** Alike but for the digits of decimals. */
function sameColumns(left: readonly Column[], right: readonly Column[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ type }, index) => shapeOf(type) === shapeOf(right[index]?.type))
  );
}

function shapeOf(type: DataType | undefined): string {
  if (type === undefined || type.kind === "decimal") return type?.kind ?? "";
  return engineTypeOf(type);
}
