/**
 * Cells as text: one writer per column and batch, chosen by the type and a style that is data.
 *
 * What differs between protocols is in the style; what a type's text is made of is in text/. Binary
 * forms of a protocol are that frontend's own.
 */
import type { CellWriter } from "./cellWriter.ts";
import { binaryWriter, booleanWriter, jsonWriter, textWriter, uuidWriter } from "./text/bytes.ts";
import { decimalWriter } from "./text/decimal.ts";
import { putAscii } from "./text/digits.ts";
import { floatWriter } from "./text/float.ts";
import { integerWriter } from "./text/integer.ts";
import { intervalWriter } from "./text/interval.ts";
import { nestedWriter } from "./text/nested.ts";
import { dateWriter, timestampWriter, timeWriter } from "./text/time.ts";
import type { Vector } from "./vector.ts";
import { utc, type Zone } from "./zone.ts";

/** How the text of a cell looks. Frontends start from one of the three below and spread over it. */
export interface TextStyle {
  /** True: every cell is a JSON value (text quoted and escaped, numbers bare). False: plain text. */
  readonly json: boolean;
  /** In JSON booleans are always `true` and `false`. */
  readonly booleans: "t/f" | "true/false" | "1/0";
  /** `hex` is `\x0aff`, `0x` is `0x0AFF`; `raw` is the bytes themselves and base64 inside JSON. */
  readonly binary: "hex" | "0x" | "base64" | "raw";
  /** Between date and time. */
  readonly separator: " " | "T";
  /** Digits behind the second: as many as the unit has, or without trailing zeros. */
  readonly fraction: "fixed" | "trimmed";
  /** Where instants are shown. Wall-clock timestamps are never moved. */
  readonly zone: Zone;
  /** Behind an instant: `offset` is `+01` or `+05:30`, `isoOffset` is `+01:00` or `Z`, `name` is ` Europe/Berlin`. */
  readonly zoneSuffix: "none" | "offset" | "isoOffset" | "name";
  /** Years outside 0001 to 9999: `postgres` is `12345` and a trailing ` BC`; `iso` is `+12345` and `-0043` (with a year 0). */
  readonly years: "postgres" | "iso";
  /** When floats take an exponent and how it looks. All have the fewest digits that read back exactly. */
  readonly exponents: "postgres" | "mysql" | "ecmascript";
  /**
   * `postgres`: `1 year 2 mons 3 days 04:05:06.789`; `iso`: `P1Y2M3DT4H5M6.789S`; `trino`: `1-2` or
   * `3 04:05:06.789`, and the ISO form for an interval that has both halves.
   */
  readonly intervals: "postgres" | "iso" | "trino";
  /** Lists, structs and maps: `{1,2}`, `(1,x)`, `{"(k,v)"}` or JSON. In JSON always JSON. */
  readonly nested: "postgres" | "json";
  /** A struct in JSON: by its field names, or its values in order. */
  readonly structs: "object" | "array";
  /** In JSON: decimals and integers beyond 64 signed bits as numbers, or as strings for readers without them. */
  readonly wideNumbers: "number" | "string";
  /** A json cell in JSON: embedded as it is, or as a string that holds it. */
  readonly jsonCells: "value" | "string";
}

/** As a PostgreSQL server shows values with its default settings. */
export const postgresText: TextStyle = {
  json: false,
  booleans: "t/f",
  binary: "hex",
  separator: " ",
  fraction: "trimmed",
  zone: utc,
  zoneSuffix: "offset",
  years: "postgres",
  exponents: "postgres",
  intervals: "postgres",
  nested: "postgres",
  structs: "object",
  wideNumbers: "number",
  jsonCells: "value",
};

/** As a MySQL server shows values. */
export const mysqlText: TextStyle = {
  ...postgresText,
  booleans: "1/0",
  binary: "raw",
  fraction: "fixed",
  zoneSuffix: "none",
  years: "iso",
  exponents: "mysql",
  nested: "json",
};

/** Every cell a JSON value, for HTTP protocols. */
export const jsonText: TextStyle = {
  ...postgresText,
  json: true,
  booleans: "true/false",
  binary: "base64",
  fraction: "fixed",
  zoneSuffix: "name",
  years: "iso",
  exponents: "ecmascript",
  intervals: "iso",
  nested: "json",
  wideNumbers: "string",
  jsonCells: "string",
};

/**
 * The writer of a vector's cells. Rows are those of the vector (0 is its first), whatever its offset.
 * NULLs are the caller's: `write` is never called for one. Inside nested cells they are written here.
 */
export function cellWriter(vector: Vector, style: TextStyle): CellWriter {
  const { type } = vector;
  switch (type.kind) {
    case "null":
      return nullWriter(style);
    case "boolean":
      return booleanWriter(vector, style);
    case "integer":
      return integerWriter(vector, type, style);
    case "float":
      return floatWriter(vector, type.bits, style);
    case "decimal":
      return decimalWriter(vector, type, style);
    case "text":
      return textWriter(vector, style);
    case "json":
      return jsonWriter(vector, style);
    case "binary":
      return binaryWriter(vector, style);
    case "date":
      return dateWriter(vector, style);
    case "time":
      return timeWriter(vector, type.unit, style);
    case "timestamp":
      return timestampWriter(vector, type, style);
    case "interval":
      return intervalWriter(vector, style);
    case "uuid":
      return uuidWriter(vector, style);
    case "list":
    case "struct":
    case "map":
      return nestedWriter(vector, type, style, cellWriter);
  }
}

/** Every cell is NULL; where a caller still asks, JSON has a word for it. */
function nullWriter(style: TextStyle): CellWriter {
  return {
    bound: () => 4,
    write: (out, at) => (style.json ? putAscii(out, at, "null") : at),
  };
}
