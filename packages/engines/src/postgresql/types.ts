/** PostgreSQL's types by their object ids: the neutral type of each, and the format in which its cells are asked for. */
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";

/** How cells of a type are read. `text`: as they are, in PostgreSQL's text format. */
export type CellForm =
  | "text"
  | "bytes"
  | "bool"
  | "int2"
  | "int4"
  | "int8"
  | "float4"
  | "float8"
  | "numeric"
  | "date"
  | "time"
  | "timestamp"
  | "interval"
  | "uuid"
  | "array";

/** What a column becomes. */
export interface ColumnRule {
  readonly type: DataType;
  readonly form: CellForm;
  /** The rule of an array's items. */
  readonly item?: ColumnRule;
  /** The type's own name; undefined for a type that only the server knows. */
  readonly name: string | undefined;
}

interface Scalar {
  readonly oid: number;
  readonly array: number;
  readonly name: string;
  readonly type: DataType;
  readonly form: CellForm;
}

const integer = (bits: 16 | 32 | 64): DataType => ({ kind: "integer", bits, signed: true });
const timestamp = (zoned: boolean): DataType => ({ kind: "timestamp", unit: "us", zoned });
const text: DataType = { kind: "text" };

const scalar = (
  [oid, array]: readonly [number, number],
  name: string,
  type: DataType,
  form: CellForm,
): Scalar => ({ oid, array, name, type, form });

/** Source: `pg_type.dat` of PostgreSQL; ids below 10000 never change. */
const scalars: readonly Scalar[] = [
  scalar([16, 1000], "bool", { kind: "boolean" }, "bool"),
  scalar([17, 1001], "bytea", { kind: "binary" }, "bytes"),
  scalar([18, 1002], "char", text, "text"),
  scalar([19, 1003], "name", text, "text"),
  scalar([20, 1016], "int8", integer(64), "int8"),
  scalar([21, 1005], "int2", integer(16), "int2"),
  scalar([23, 1007], "int4", integer(32), "int4"),
  scalar([25, 1009], "text", text, "text"),
  scalar([26, 1028], "oid", { kind: "integer", bits: 32, signed: false }, "int4"),
  scalar([114, 199], "json", { kind: "json" }, "text"),
  scalar([700, 1021], "float4", { kind: "float", bits: 32 }, "float4"),
  scalar([701, 1022], "float8", { kind: "float", bits: 64 }, "float8"),
  scalar([1042, 1014], "bpchar", text, "text"),
  scalar([1043, 1015], "varchar", text, "text"),
  scalar([1082, 1182], "date", { kind: "date" }, "date"),
  scalar([1083, 1183], "time", { kind: "time", unit: "us" }, "time"),
  scalar([1114, 1115], "timestamp", timestamp(false), "timestamp"),
  scalar([1184, 1185], "timestamptz", timestamp(true), "timestamp"),
  scalar([1186, 1187], "interval", { kind: "interval" }, "interval"),
  scalar([1700, 1231], "numeric", text, "text"),
  scalar([2950, 2951], "uuid", { kind: "uuid" }, "uuid"),
  scalar([3802, 3807], "jsonb", { kind: "json" }, "text"),
];

const byOid = new Map(scalars.map((one) => [one.oid, one]));
const byArray = new Map(scalars.map((one) => [one.array, one]));
const byName = new Map(scalars.map((one) => [one.name, one]));

const numericOid = 1700;

/** What a column of this type becomes. A type that has no neutral one is text. */
export function ruleOf(oid: number, modifier: number): ColumnRule {
  if (oid === numericOid) return numericRule(modifier);
  const found = byOid.get(oid);
  if (found !== undefined) return found;
  const item = byArray.get(oid);
  // Items of json, jsonb and numeric have other forms within a binary array than they have alone.
  if (item === undefined || textOnly.has(item.name))
    return { type: text, form: "text", name: item === undefined ? undefined : `${item.name}[]` };
  return { type: { kind: "list", item: item.type }, form: "array", item, name: `${item.name}[]` };
}

const textOnly: ReadonlySet<string> = new Set(["numeric", "jsonb"]);

/** A numeric without digits said beforehand has no neutral type but text. */
function numericRule(modifier: number): ColumnRule {
  if (modifier < 4) return { type: text, form: "text", name: "numeric" };
  const precision = ((modifier - 4) >> 16) & 0xffff;
  // Eleven bits with a sign (PostgreSQL 15).
  const scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
  const name = `numeric(${precision},${scale})`;
  if (precision < 1 || precision > 38 || scale < 0 || scale > precision)
    return { type: text, form: "text", name };
  return { type: { kind: "decimal", precision, scale }, form: "numeric", name };
}

/** The format in which cells of this form are asked for. */
export function formatOf({ form }: ColumnRule): Format {
  return form === "text" ? 0 : 1;
}

/** The neutral type of a parameter that the server named. */
export function parameterTypeOf(oid: number): DataType {
  if (oid === numericOid) return { kind: "decimal", precision: 38, scale: 0 };
  const { type, name } = ruleOf(oid, -1);
  // The frontend may know the type by its own names; text goes into every one of them.
  return name === undefined ? { kind: "null" } : type;
}

/** The id under which a parameter of a neutral type is sent; 0 leaves it to the server. */
export function oidOf({ type }: Parameter): number {
  switch (type.kind) {
    case "null":
    case "text":
    case "struct":
    case "map":
      return 0;
    case "boolean":
      return idOf("bool");
    case "integer":
      return idOf(integerName(type.bits, type.signed));
    case "float":
      return idOf(type.bits === 32 ? "float4" : "float8");
    case "decimal":
      return numericOid;
    case "binary":
      return idOf("bytea");
    case "timestamp":
      return idOf(type.zoned ? "timestamptz" : "timestamp");
    case "date":
    case "time":
    case "interval":
    case "uuid":
    case "json":
      return idOf(type.kind);
    case "list": {
      const item = oidOf({ type: type.item, value: null });
      return item === 0 ? 0 : (byOid.get(item)?.array ?? 0);
    }
  }
}

function integerName(bits: 8 | 16 | 32 | 64 | 128, signed: boolean): string {
  const needed = signed ? bits : bits * 2;
  if (needed <= 16) return "int2";
  if (needed <= 32) return "int4";
  return needed <= 64 ? "int8" : "numeric";
}

function idOf(name: string): number {
  return byName.get(name)?.oid ?? 0;
}

/** Names of PostgreSQL's own tools where they differ from those of `pg_type`. */
const longNames: Readonly<Record<string, string>> = {
  boolean: "bool",
  smallint: "int2",
  integer: "int4",
  bigint: "int8",
  real: "float4",
  "double precision": "float8",
  "character varying": "varchar",
  character: "bpchar",
  "timestamp without time zone": "timestamp",
  "timestamp with time zone": "timestamptz",
  "time without time zone": "time",
};

/** The neutral type of a name as `format_type` writes it, the same that a result has. */
export function typeOfName(written: string): DataType {
  const array = written.endsWith("[]");
  const whole = array ? written.slice(0, -2) : written;
  const numeric = /^numeric\((\d+),(-?\d+)\)$/.exec(whole);
  if (numeric !== null && !array) {
    return numericRule(((Number(numeric[1]) << 16) | (Number(numeric[2]) & 0x7ff)) + 4).type;
  }
  const plain = whole.replace(/\(\d+(?:,-?\d+)?\)/, "");
  const found = byName.get(longNames[plain] ?? plain);
  if (found === undefined) return text;
  return ruleOf(array ? found.array : found.oid, -1).type;
}
