/**
 * DuckDB's types and the neutral ones: the name a column's type has in DuckDB, and the neutral type
 * that such a name stands for.
 *
 * The binding has read the values already; this is about names only. What has no neutral type of its
 * own (enums, bit strings, times with an offset, big numbers) is text here and there alike.
 */
import type { Column, DataType } from "@gateway/core/type/type.ts";

/** The columns of a result with DuckDB's own type names; `engineType` held the driver's Arrow format. */
export function withEngineTypes(columns: readonly Column[]): readonly Column[] {
  return columns.map((column) => ({
    ...column,
    engineType: engineTypeOf(column.type, column.engineType),
  }));
}

/** DuckDB's name of a type; `format` is what the driver called it, for types that are text here. */
export function engineTypeOf(type: DataType, format?: string): string {
  const special = formatNames[format ?? ""];
  if (special !== undefined) return special;
  switch (type.kind) {
    case "null":
      return '"NULL"';
    case "boolean":
      return "BOOLEAN";
    case "integer":
      return integerNames[type.signed ? "signed" : "unsigned"][type.bits];
    case "float":
      return type.bits === 32 ? "FLOAT" : "DOUBLE";
    case "decimal":
      return `DECIMAL(${type.precision},${type.scale})`;
    case "text":
      return "VARCHAR";
    case "binary":
      return "BLOB";
    case "date":
      return "DATE";
    case "time":
      return type.unit === "ns" ? "TIME_NS" : "TIME";
    case "timestamp":
      return type.zoned ? "TIMESTAMP WITH TIME ZONE" : timestampNames[type.unit];
    case "interval":
      return "INTERVAL";
    case "uuid":
      return "UUID";
    case "json":
      return "JSON";
    case "list":
      return `${engineTypeOf(type.item)}[${/^\+w:(\d+)$/.exec(format ?? "")?.[1] ?? ""}]`;
    case "struct":
      return structName(type, format);
    case "map":
      return `MAP(${engineTypeOf(type.key)}, ${engineTypeOf(type.value)})`;
  }
}

function structName({ fields }: Extract<DataType, { kind: "struct" }>, format?: string): string {
  // A union is a struct of the member's name and the members.
  const union = format?.startsWith("+us:") === true;
  const shown = (union ? fields.slice(1) : fields).map(
    ({ name, type }) => `${nameText(name)} ${engineTypeOf(type)}`,
  );
  return `${union ? "UNION" : "STRUCT"}(${shown.join(", ")})`;
}

function nameText(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Names by the driver's format, where the neutral type says less. */
const formatNames: Readonly<Record<string, string>> = {
  enum: "ENUM",
  bit: "BIT",
  bignum: "BIGNUM",
  time_tz: "TIME WITH TIME ZONE",
  "geoarrow.wkb": "GEOMETRY",
};

const integerNames = {
  signed: { 8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT", 128: "HUGEINT" },
  unsigned: { 8: "UTINYINT", 16: "USMALLINT", 32: "UINTEGER", 64: "UBIGINT", 128: "UHUGEINT" },
} as const;

const timestampNames = {
  s: "TIMESTAMP_S",
  ms: "TIMESTAMP_MS",
  us: "TIMESTAMP",
  ns: "TIMESTAMP_NS",
} as const;

const text: DataType = { kind: "text" };

/** Neutral types by DuckDB's names without arguments; what is not listed is text. */
const plainTypes: Readonly<Record<string, DataType>> = {
  '"NULL"': { kind: "null" },
  BOOLEAN: { kind: "boolean" },
  TINYINT: { kind: "integer", bits: 8, signed: true },
  SMALLINT: { kind: "integer", bits: 16, signed: true },
  INTEGER: { kind: "integer", bits: 32, signed: true },
  BIGINT: { kind: "integer", bits: 64, signed: true },
  HUGEINT: { kind: "integer", bits: 128, signed: true },
  UTINYINT: { kind: "integer", bits: 8, signed: false },
  USMALLINT: { kind: "integer", bits: 16, signed: false },
  UINTEGER: { kind: "integer", bits: 32, signed: false },
  UBIGINT: { kind: "integer", bits: 64, signed: false },
  UHUGEINT: { kind: "integer", bits: 128, signed: false },
  FLOAT: { kind: "float", bits: 32 },
  DOUBLE: { kind: "float", bits: 64 },
  BLOB: { kind: "binary" },
  GEOMETRY: { kind: "binary" },
  DATE: { kind: "date" },
  TIME: { kind: "time", unit: "us" },
  TIME_NS: { kind: "time", unit: "ns" },
  TIMESTAMP: { kind: "timestamp", unit: "us", zoned: false },
  TIMESTAMP_S: { kind: "timestamp", unit: "s", zoned: false },
  TIMESTAMP_MS: { kind: "timestamp", unit: "ms", zoned: false },
  TIMESTAMP_NS: { kind: "timestamp", unit: "ns", zoned: false },
  "TIMESTAMP WITH TIME ZONE": { kind: "timestamp", unit: "us", zoned: true },
  INTERVAL: { kind: "interval" },
  UUID: { kind: "uuid" },
  JSON: { kind: "json" },
};

/** Names nest no deeper than this; deeper ones are text. */
const depthMax = 64;

/** The neutral type of a name as DuckDB's catalog gives it. A name it does not understand is text. */
export function typeOfName(name: string): DataType {
  const reader: NameReader = { name, at: 0 };
  const type = readType(reader, 0);
  return reader.at === name.length ? (type ?? text) : text;
}

interface NameReader {
  readonly name: string;
  at: number;
}

function readType(reader: NameReader, depth: number): DataType | undefined {
  if (depth > depthMax) return undefined;
  let type = readSingle(reader, depth);
  // `INTEGER[]` and `INTEGER[3]`, as often as they come.
  for (
    let brackets = bracketsAt(reader);
    type !== undefined && brackets > 0;
    brackets = bracketsAt(reader)
  ) {
    reader.at += brackets;
    type = { kind: "list", item: type };
  }
  return type;
}

function bracketsAt({ name, at }: NameReader): number {
  return /^\[\d*\]/.exec(name.slice(at, at + 24))?.[0].length ?? 0;
}

function readSingle(reader: NameReader, depth: number): DataType | undefined {
  const word = takeWhile(reader, /^(?:"NULL"|[A-Z][A-Z0-9_]*(?: WITH TIME ZONE)?)/);
  if (word === undefined) return undefined;
  if (!take(reader, "(")) return plainTypes[word] ?? text;
  const type = readArguments(reader, word, depth);
  return take(reader, ")") ? type : undefined;
}

function readArguments(reader: NameReader, word: string, depth: number): DataType | undefined {
  switch (word) {
    case "DECIMAL": {
      const [precision = Number.NaN, scale = Number.NaN] = (takeWhile(reader, /^\d+,\s*\d+/) ?? "")
        .split(",")
        .map(Number);
      return Number.isNaN(scale) ? undefined : { kind: "decimal", precision, scale };
    }
    case "STRUCT":
      return readFields(reader, depth, []);
    case "UNION":
      return readFields(reader, depth, [{ name: "tag", type: text }]);
    case "MAP": {
      const key = readType(reader, depth + 1);
      if (key === undefined || !take(reader, ", ")) return undefined;
      const value = readType(reader, depth + 1);
      return value === undefined ? undefined : { kind: "map", key, value };
    }
    default:
      return skipToClose(reader);
  }
}

type StructField = { readonly name: string; readonly type: DataType };

function readFields(
  reader: NameReader,
  depth: number,
  first: readonly StructField[],
): DataType | undefined {
  const fields = [...first];
  do {
    const quoted = takeWhile(reader, /^"(?:[^"]|"")*"/);
    const name = quoted?.slice(1, -1).replaceAll('""', '"') ?? takeWhile(reader, /^[^\s"(),]+/);
    if (name === undefined || !take(reader, " ")) return undefined;
    const type = readType(reader, depth + 1);
    if (type === undefined) return undefined;
    fields.push({ name, type });
  } while (take(reader, ", "));
  return { kind: "struct", fields };
}

/** Values of an enum and whatever else stands in brackets. */
function skipToClose(reader: NameReader): DataType | undefined {
  let depth = 0;
  for (; reader.at < reader.name.length; reader.at += 1) {
    const char = reader.name.charAt(reader.at);
    if (char === "'" || char === '"') skipQuoted(reader, char);
    if (char === "(") depth += 1;
    if (char !== ")") continue;
    if (depth === 0) return text;
    depth -= 1;
  }
  return undefined;
}

/** Stops on the closing quote. A doubled quote opens the next part, which is skipped in its turn. */
function skipQuoted(reader: NameReader, quote: string): void {
  const end = reader.name.indexOf(quote, reader.at + 1);
  reader.at = end < 0 ? reader.name.length : end;
}

function take(reader: NameReader, expected: string): boolean {
  if (!reader.name.startsWith(expected, reader.at)) return false;
  reader.at += expected.length;
  return true;
}

function takeWhile(reader: NameReader, pattern: RegExp): string | undefined {
  const found = pattern.exec(reader.name.slice(reader.at))?.[0];
  if (found !== undefined) reader.at += found.length;
  return found;
}
