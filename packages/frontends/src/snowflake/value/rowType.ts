/**
 * Neutral types as Snowflake's drivers are told of them (`rowtype` of a result), and the text of each in a row.
 *
 * Every cell is a text or null: numbers as digits, truth as 1 and 0, bytes as hexadecimal digits, a date as days since
 * 1970, times and moments as seconds with as many digits behind the point as the unit has. So the drivers'
 * own readers of JSON results take them apart.
 */
import type { Column, DataType, TimeUnit } from "@gateway/core/type/type.ts";

/** One column as drivers read it. Absent numbers are null, as a server writes them. */
export interface RowType {
  readonly name: string;
  readonly database: string;
  readonly schema: string;
  readonly table: string;
  readonly nullable: boolean;
  readonly type: string;
  readonly length: number | null;
  readonly byteLength: number | null;
  readonly precision: number | null;
  readonly scale: number | null;
  readonly collation: null;
}

/** As long as Snowflake lets a text be, and bytes. */
const textLength = 16_777_216;
const binaryLength = 8_388_608;

export function rowType({ name, type, nullable }: Column): RowType {
  return {
    name,
    database: "",
    schema: "",
    table: "",
    nullable,
    ...noFacts,
    ...factsOf(type),
    collation: null,
  };
}

type Facts = Pick<RowType, "type"> &
  Partial<Pick<RowType, "length" | "byteLength" | "precision" | "scale">>;

const noFacts = { length: null, byteLength: null, precision: null, scale: null };

function factsOf(type: DataType): Facts {
  switch (type.kind) {
    case "boolean":
      return { type: "boolean" };
    case "integer":
      return { type: "fixed", precision: digitsOf(type), scale: 0 };
    case "decimal":
      return { type: "fixed", precision: type.precision, scale: type.scale };
    case "float":
      return { type: "real" };
    case "binary":
      return { type: "binary", length: binaryLength, byteLength: binaryLength };
    case "date":
      return { type: "date" };
    case "time":
      return { type: "time", precision: 0, scale: digitsOfUnit[type.unit] };
    case "timestamp":
      return {
        type: type.zoned ? "timestamp_ltz" : "timestamp_ntz",
        precision: 0,
        scale: digitsOfUnit[type.unit],
      };
    case "json":
      return { type: "variant" };
    case "list":
      return { type: "array" };
    case "struct":
    case "map":
      return { type: "object" };
    case "null":
    case "text":
    case "interval":
    case "uuid":
      return { type: "text", length: textLength, byteLength: textLength };
  }
}

/** Decimal digits of the largest value. */
function digitsOf({ bits, signed }: Extract<DataType, { kind: "integer" }>): number {
  switch (bits) {
    case 8:
      return 3;
    case 16:
      return 5;
    case 32:
      return 10;
    case 64:
      return signed ? 19 : 20;
    case 128:
      return 38;
  }
}

/** Digits behind the second. */
export const digitsOfUnit: Readonly<Record<TimeUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 };
