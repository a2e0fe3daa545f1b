/**
 * Neutral types as types of the PostgreSQL wire, and back: object ids, sizes, modifiers.
 *
 * One table in each direction. How a value is written is in `binary.ts` and `rows.ts`, how a
 * parameter is read in `parameter.ts`.
 */
import { unreachable } from "@gateway/core/result.ts";
import { fractionDigits } from "@gateway/core/type/name.ts";
import type { AnnouncedColumn, Column, DataType } from "@gateway/core/type/type.ts";

/** `pg_type` as every PostgreSQL has it: own id, id of its array, bytes of a value (-1 is variable). */
export interface PgType {
  readonly oid: number;
  readonly array: number;
  readonly size: number;
}

/** Source: `pg_type.dat` of PostgreSQL; ids below 10000 never change. */
export const pgTypes = {
  bool: { oid: 16, array: 1000, size: 1 },
  bytea: { oid: 17, array: 1001, size: -1 },
  char: { oid: 18, array: 1002, size: 1 },
  name: { oid: 19, array: 1003, size: 64 },
  int8: { oid: 20, array: 1016, size: 8 },
  int2: { oid: 21, array: 1005, size: 2 },
  int4: { oid: 23, array: 1007, size: 4 },
  text: { oid: 25, array: 1009, size: -1 },
  oid: { oid: 26, array: 1028, size: 4 },
  json: { oid: 114, array: 199, size: -1 },
  float4: { oid: 700, array: 1021, size: 4 },
  float8: { oid: 701, array: 1022, size: 8 },
  bpchar: { oid: 1042, array: 1014, size: -1 },
  varchar: { oid: 1043, array: 1015, size: -1 },
  date: { oid: 1082, array: 1182, size: 4 },
  time: { oid: 1083, array: 1183, size: 8 },
  timestamp: { oid: 1114, array: 1115, size: 8 },
  timestamptz: { oid: 1184, array: 1185, size: 8 },
  interval: { oid: 1186, array: 1187, size: 16 },
  timetz: { oid: 1266, array: 1270, size: 12 },
  numeric: { oid: 1700, array: 1231, size: -1 },
  uuid: { oid: 2950, array: 2951, size: 16 },
  jsonb: { oid: 3802, array: 3807, size: -1 },
} as const satisfies Record<string, PgType>;

export type PgTypeName = keyof typeof pgTypes;

/** What the client is told of a column, and which form its cells have. */
export interface ColumnShape {
  readonly oid: number;
  readonly size: number;
  readonly modifier: number;
  /** The type of the cells, or of the items of an array. */
  readonly scalar: PgTypeName;
  readonly array: boolean;
}

/** What a column of a neutral type is to a PostgreSQL client. Total. */
export function columnShape(type: DataType): ColumnShape {
  if (type.kind === "list" && !isNested(type.item)) {
    const item = columnShape(type.item);
    const { array } = pgTypes[item.scalar];
    return { ...item, oid: array, size: -1, array: true };
  }
  const scalar = scalarName(type);
  const { oid, size } = pgTypes[scalar];
  return { oid, size, modifier: modifierOf(type), scalar, array: false };
}

/** Structs, maps and lists in lists: a PostgreSQL array is a rectangle of scalars, so these travel as JSON. */
function isNested(type: DataType): boolean {
  return type.kind === "list" || type.kind === "struct" || type.kind === "map";
}

function scalarName(type: DataType): PgTypeName {
  switch (type.kind) {
    case "null":
    case "text":
      return "text";
    case "boolean":
      return "bool";
    case "integer":
      return type.signed ? signedNames[type.bits] : unsignedNames[type.bits];
    case "float":
      return type.bits === 32 ? "float4" : "float8";
    case "decimal":
      return "numeric";
    case "binary":
      return "bytea";
    case "timestamp":
      return type.zoned ? "timestamptz" : "timestamp";
    case "date":
    case "time":
    case "interval":
    case "uuid":
    case "json":
      return type.kind;
    case "list":
    case "struct":
    case "map":
      return "json";
    default:
      return unreachable(type);
  }
}

type Bits = Extract<DataType, { kind: "integer" }>["bits"];

const signedNames = {
  8: "int2",
  16: "int2",
  32: "int4",
  64: "int8",
  128: "numeric",
} as const satisfies Record<Bits, PgTypeName>;

/** PostgreSQL has no unsigned integers: each becomes the smallest type that holds all its values. */
const unsignedNames = {
  8: "int2",
  16: "int4",
  32: "int8",
  64: "numeric",
  128: "numeric",
} as const satisfies Record<Bits, PgTypeName>;

function modifierOf(type: DataType): number {
  switch (type.kind) {
    case "decimal":
      return ((type.precision << 16) | type.scale) + 4;
    case "time":
    case "timestamp": {
      const digits = fractionDigits[type.unit];
      // Microseconds are PostgreSQL's default and have no modifier.
      return digits < 6 ? digits : -1;
    }
    default:
      return -1;
  }
}

/** A numeric parameter brings its own digits and scale; this type only says "numeric". */
export const anyNumeric: DataType = { kind: "decimal", precision: 38, scale: 0 };

const timeUnit = "us";

const parameterTypes = {
  bool: { kind: "boolean" },
  bytea: { kind: "binary" },
  char: { kind: "text" },
  name: { kind: "text" },
  int8: { kind: "integer", bits: 64, signed: true },
  int2: { kind: "integer", bits: 16, signed: true },
  int4: { kind: "integer", bits: 32, signed: true },
  text: { kind: "text" },
  oid: { kind: "integer", bits: 32, signed: false },
  json: { kind: "json" },
  float4: { kind: "float", bits: 32 },
  float8: { kind: "float", bits: 64 },
  bpchar: { kind: "text" },
  varchar: { kind: "text" },
  date: { kind: "date" },
  time: { kind: "time", unit: timeUnit },
  timestamp: { kind: "timestamp", unit: timeUnit, zoned: false },
  timestamptz: { kind: "timestamp", unit: timeUnit, zoned: true },
  interval: { kind: "interval" },
  // No neutral type has a time's zone: an engine that has one reads the text.
  timetz: { kind: "text" },
  numeric: anyNumeric,
  uuid: { kind: "uuid" },
  jsonb: { kind: "json" },
} as const satisfies Record<PgTypeName, DataType>;

/** What a type id that a client names for a parameter means. */
export interface ParameterShape {
  readonly type: DataType;
  /** The type itself, or of the items of an array. */
  readonly scalar: PgTypeName;
  readonly array: boolean;
}

const parameterShapes: ReadonlyMap<number, ParameterShape> = new Map(
  (Object.keys(pgTypes) as PgTypeName[]).flatMap(shapesOf),
);

function shapesOf(scalar: PgTypeName): [number, ParameterShape][] {
  const item: DataType = parameterTypes[scalar];
  const { oid, array } = pgTypes[scalar];
  return [
    [oid, { type: item, scalar, array: false }],
    [array, { type: { kind: "list", item }, scalar, array: true }],
  ];
}

/** The neutral type of a parameter by its id; undefined for an id we do not know. */
export function parameterShape(oid: number): ParameterShape | undefined {
  return parameterShapes.get(oid);
}

/** Names of PostgreSQL's own tools where they differ from those of `pg_type`. */
const longNames: Partial<Record<PgTypeName, string>> = {
  bool: "boolean",
  int2: "smallint",
  int4: "integer",
  int8: "bigint",
  float4: "real",
  float8: "double precision",
  timestamptz: "timestamp with time zone",
  timetz: "time with time zone",
};

/** A type's name for people, as the reference shows it: `numeric(12,2)`, `bigint[]`. */
export function postgresTypeText(type: DataType): string {
  const { scalar, array, modifier } = columnShape(type);
  if (array && type.kind === "list") return `${postgresTypeText(type.item)}[]`;
  const name = longNames[scalar] ?? scalar;
  if (modifier === -1) return name;
  if (type.kind === "decimal") return `${name}(${type.precision},${type.scale})`;
  return name.replace(/^\w+/, (word) => `${word}(${modifier})`);
}

/** A column of a catalog's result: its cells are PostgreSQL's own bytes, and so is its type. */
export interface CatalogColumn extends Column {
  readonly announced: AnnouncedColumn;
}

/** What the client is told of a column: the type that came with it, or what its neutral type is here. */
export function announcedOf({ announced, type, numeric }: Column): AnnouncedColumn {
  if (announced !== undefined) return announced;
  if (numeric === undefined) return columnShape(type);
  const modifier = numeric === "any" ? -1 : modifierOf({ kind: "decimal", ...numeric });
  return { ...pgTypes.numeric, modifier };
}
