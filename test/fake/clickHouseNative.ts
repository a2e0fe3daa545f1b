/** Writes ClickHouse's Native blocks from plain values, for the fake server and for tests of the reader. */
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import { fractionDigits } from "@gateway/core/type/name.ts";

/** The name of a type as ClickHouse writes it. */
export function typeText(type: DataType, nullable: boolean): string {
  const name = plainName(type);
  const nested = type.kind === "list" || type.kind === "struct" || type.kind === "map";
  return nullable && !nested ? `Nullable(${name})` : name;
}

function plainName(type: DataType): string {
  switch (type.kind) {
    case "null":
      return "Nothing";
    case "boolean":
      return "Bool";
    case "integer":
      return `${type.signed ? "Int" : "UInt"}${type.bits}`;
    case "float":
      return `Float${type.bits}`;
    case "decimal":
      return `Decimal(${type.precision}, ${type.scale})`;
    case "text":
    case "binary":
    case "time":
    case "interval":
      return "String";
    case "json":
      return "JSON";
    case "date":
      return "Date32";
    case "timestamp":
      return `DateTime64(${fractionDigits[type.unit]}, 'UTC')`;
    case "uuid":
      return "UUID";
    case "list":
      return `Array(${typeText(type.item, true)})`;
    case "struct":
      return `Tuple(${type.fields.map((field) => `\`${field.name}\` ${typeText(field.type, true)}`).join(", ")})`;
    case "map":
      return `Map(${typeText(type.key, false)}, ${typeText(type.value, true)})`;
  }
}

/** One block with these rows. */
export function nativeBlock(
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
): Buffer {
  const parts: Uint8Array[] = [varint(columns.length), varint(rows.length)];
  for (const [index, { name, type }] of columns.entries()) {
    parts.push(textCell(name), textCell(typeText(type, true)));
    if (rows.length > 0) {
      pushPrefix(parts, type);
      pushColumn(parts, type, { nullable: true, values: rows.map((row) => row[index] ?? null) });
    }
  }
  return Buffer.concat(parts);
}

/** What stands before the values of a column: the version of each JSON in it, 1 for JSON as text. */
function pushPrefix(parts: Uint8Array[], type: DataType): void {
  switch (type.kind) {
    case "json":
      parts.push(wide(1n, 8));
      return;
    case "list":
      return pushPrefix(parts, type.item);
    case "struct":
      for (const field of type.fields) pushPrefix(parts, field.type);
      return;
    case "map":
      pushPrefix(parts, type.key);
      pushPrefix(parts, type.value);
      return;
    default:
  }
}

interface Cells {
  readonly nullable: boolean;
  readonly values: readonly Value[];
}

function pushColumn(parts: Uint8Array[], type: DataType, { nullable, values }: Cells): void {
  switch (type.kind) {
    case "list":
      return pushList(parts, values, (items) =>
        pushColumn(parts, type.item, { nullable: true, values: items }),
      );
    case "struct":
      for (const [index, field] of type.fields.entries()) {
        pushColumn(parts, field.type, {
          nullable: true,
          values: values.map((value) => itemsOf(value)[index] ?? null),
        });
      }
      return;
    case "map":
      return pushList(parts, values, (pairs) => {
        const at = (index: number): readonly Value[] =>
          pairs.map((pair) => itemsOf(pair)[index] ?? null);
        pushColumn(parts, type.key, { nullable: false, values: at(0) });
        pushColumn(parts, type.value, { nullable: true, values: at(1) });
      });
    default:
      if (nullable) parts.push(Uint8Array.from(values, (value) => (value === null ? 1 : 0)));
      for (const value of values) parts.push(cell(type, value));
  }
}

function pushList(
  parts: Uint8Array[],
  values: readonly Value[],
  push: (items: readonly Value[]) => void,
): void {
  let end = 0;
  for (const value of values) {
    end += itemsOf(value).length;
    parts.push(wide(BigInt(end), 8));
  }
  push(values.flatMap((value) => [...itemsOf(value)]));
}

function itemsOf(value: Value): readonly Value[] {
  return Array.isArray(value) ? (value as readonly Value[]) : [];
}

function cell(type: DataType, value: Value): Uint8Array {
  switch (type.kind) {
    case "null":
      return Uint8Array.of(0x30);
    case "boolean":
      return Uint8Array.of(value === true ? 1 : 0);
    case "integer":
      return wide(bigintOf(value), type.bits / 8);
    case "decimal":
      return wide(bigintOf(value), type.precision > 18 ? 16 : type.precision > 9 ? 8 : 4);
    case "date":
      return wide(bigintOf(value), 4);
    case "timestamp":
      return wide(bigintOf(value), 8);
    case "float":
      return new Uint8Array(
        (type.bits === 32 ? Float32Array : Float64Array).of(Number(value ?? 0)).buffer,
      );
    case "uuid":
      return uuidBytes(value);
    default:
      return textCell(shown(value));
  }
}

function bigintOf(value: Value): bigint {
  return typeof value === "bigint" ? value : 0n;
}

function shown(value: Value): string | Uint8Array {
  if (value === null) return "";
  return typeof value === "string" || value instanceof Uint8Array
    ? value
    : JSON.stringify(value, plain);
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}` : value;
}

function uuidBytes(value: Value): Uint8Array {
  const digits = typeof value === "string" ? value.replaceAll("-", "") : "0".repeat(32);
  const bytes = Buffer.from(digits, "hex");
  return Uint8Array.from([...bytes.subarray(0, 8).toReversed(), ...bytes.subarray(8).toReversed()]);
}

function wide(value: bigint, width: number): Uint8Array {
  return Uint8Array.from({ length: width }, (_, byte) =>
    Number((value >> BigInt(byte * 8)) & 0xffn),
  );
}

function textCell(text: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(text);
  return Buffer.concat([varint(bytes.length), bytes]);
}

/** A length as Native has it: seven bits a byte, the low ones first. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}
