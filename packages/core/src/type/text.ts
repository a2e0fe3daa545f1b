/**
 * Cells as text: one writer per column and batch, chosen by the type and a style that is data.
 *
 * The style holds what differs between protocols; text/ builds each type's text. Binary forms belong to the
 * frontend of their protocol.
 */
import type { CellWriter, TextStyle } from "./cellWriter.ts";
import { binaryWriter, booleanWriter, jsonWriter, textWriter, uuidWriter } from "./text/bytes.ts";
import { decimalWriter } from "./text/decimal.ts";
import { putAscii } from "./text/digits.ts";
import { floatWriter } from "./text/float.ts";
import { integerWriter } from "./text/integer.ts";
import { intervalWriter } from "./text/interval.ts";
import { nestedWriter } from "./text/nested.ts";
import { dateWriter, timestampWriter, timeWriter } from "./text/time.ts";
import type { Vector } from "./vector.ts";
import { utc } from "./zone.ts";

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
 * The writer of a vector's cells. Row 0 is the vector's first, whatever its offset. The caller writes NULLs
 * and never calls `write` for one; inside nested cells they are written here.
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

/** Every cell is NULL. If a caller writes one all the same, JSON has a word for it. */
function nullWriter(style: TextStyle): CellWriter {
  return {
    bound: () => 4,
    write: (out, at) => (style.json ? putAscii(out, at, "null") : at),
  };
}
