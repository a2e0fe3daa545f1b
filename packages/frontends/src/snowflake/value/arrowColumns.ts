/**
 * Neutral columns as the Arrow columns that Snowflake's drivers read: what a type can not say stands in the metadata of
 * its field (`logicalType`, `precision`, `scale`), as a server writes it.
 *
 * Numbers are unscaled: a decimal and a moment are counts, whose `scale` says where the point is. Moments of
 * nanoseconds are a struct of seconds and nanoseconds, because one count of 64 bits would end in the year 2262; instants of
 * microseconds are one too, because Python's driver shows others without their zone's summer time.
 */
import { cellWriter } from "@gateway/core/type/text.ts";
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";
import { isNull, type Vector } from "@gateway/core/type/vector.ts";
import type { ArrowField, ArrowType } from "@gateway/wire/flight/arrowType.ts";
import { nestedStyle, plainStyle } from "./cellStyles.ts";
import { digitsOfUnit, rowType } from "./rowType.ts";

/** One column of a record batch: nodes and buffers in the order of the format. */
export interface ArrowColumn {
  readonly nodes: readonly { readonly length: number; readonly nullCount: number }[];
  readonly buffers: readonly Uint8Array[];
}

/** False where a type has values that no Arrow column of a driver holds: such results are JSON. */
export function isArrow({ type }: Column): boolean {
  return type.kind !== "integer" || type.bits !== 128 || type.signed;
}

/** The field of a column. */
export function arrowField(column: Column): ArrowField {
  const { type, precision, scale, length, byteLength } = rowType(column);
  const facts: readonly (readonly [string, number | null])[] = [
    ["precision", precision],
    ["scale", scale],
    ["charLength", length],
    ["byteLength", byteLength],
  ];
  const metadata = new Map([["logicalType", type.toUpperCase()]]);
  for (const [name, fact] of facts) metadata.set(name, String(fact ?? 0));
  if (isInTwo(column.type)) metadata.set("scale", String(digitsOfUnit.ns));
  const { name, nullable } = column;
  const own = { name, nullable, metadata, type: arrowType(column.type) };
  return { ...own, children: own.type.kind === "struct" ? momentParts(nullable) : [] };
}

function momentParts(nullable: boolean): readonly ArrowField[] {
  const part = (name: string, bits: 32 | 64): ArrowField => {
    const type = { kind: "int", bits, signed: true } as const;
    return { name, type, nullable, children: [], metadata: new Map() };
  };
  return [part("epoch", 64), part("fraction", 32)];
}

function arrowType(type: DataType): ArrowType {
  switch (type.kind) {
    case "boolean":
      return { kind: "bool" };
    case "integer":
      return integerType(type);
    case "decimal":
      return { kind: "decimal", precision: type.precision, scale: type.scale, bits: 128 };
    case "float":
      return { kind: "float", bits: 64 };
    case "binary":
      return { kind: "binary" };
    case "date":
      return { kind: "date", unit: "day" };
    case "time":
      return { kind: "int", bits: 64, signed: true };
    case "timestamp":
      return isInTwo(type) ? { kind: "struct" } : { kind: "int", bits: 64, signed: true };
    case "null":
    case "text":
    case "json":
    case "list":
    case "struct":
    case "map":
    case "interval":
    case "uuid":
      return { kind: "utf8" };
  }
}

/** Drivers know signed integers only, so an unsigned one takes the next width. */
function integerType({ bits, signed }: Extract<DataType, { kind: "integer" }>): ArrowType {
  const digits = { kind: "decimal", precision: digitsMax, scale: 0, bits: 128 } as const;
  if (bits === 128) return digits;
  if (signed) return { kind: "int", bits, signed };
  if (bits === 64) return digits;
  return { kind: "int", bits: wider[bits], signed: true };
}

const digitsMax = 38;
const wider = { 8: 16, 16: 32, 32: 64 } as const;

/** The rows of a column. */
export function arrowColumn(vector: Vector): ArrowColumn {
  const { type, length } = vector;
  const { validity, nullCount } = validityOf(vector);
  const node = { length, nullCount };
  if (isInTwo(type)) {
    const [epoch, fraction] = momentBuffers(vector);
    return { nodes: [node, node, node], buffers: [validity, validity, epoch, validity, fraction] };
  }
  return { nodes: [node], buffers: [validity, ...valuesOf(vector)] };
}

function valuesOf(vector: Vector): readonly Uint8Array[] {
  const { type } = vector;
  switch (type.kind) {
    case "boolean":
      return [bitsOf(vector.values, vector.offset, vector.length)];
    case "integer":
      return [type.signed ? fixed(vector, type.bits / 8) : widened(vector)];
    case "decimal":
      return [fixed(vector, 16)];
    case "float":
      return [type.bits === 64 ? fixed(vector, 8) : doubles(vector)];
    case "date":
      return [fixed(vector, 4)];
    case "time":
    case "timestamp":
      return [fixed(vector, 8)];
    case "text":
    case "json":
    case "binary":
      return bytesOf(vector);
    case "list":
    case "struct":
    case "map":
      return written(vector, cellWriter(vector, nestedStyle));
    case "interval":
    case "uuid":
      return written(vector, cellWriter(vector, plainStyle));
    case "null":
      return [new Uint8Array((vector.length + 1) * 4), noBytes];
  }
}

const noBytes = new Uint8Array(0);

/** The cells as they lie. */
function fixed({ values, offset, length }: Vector, width: number): Uint8Array {
  return values.subarray(offset * width, (offset + length) * width);
}

/** Bits from one of them on, as a bitmap that begins with it. */
function bitsOf(bitmap: Uint8Array, offset: number, length: number): Uint8Array {
  const first = offset >> 3;
  const shift = offset & 7;
  const bytes = (length + 7) >> 3;
  const bits = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 1) {
    const low = bitmap[first + at] ?? 0;
    const high = bitmap[first + at + 1] ?? 0;
    bits[at] = (low >> shift) | (high << (8 - shift));
  }
  return bits;
}

/** Empty where no cell is NULL. */
function validityOf(vector: Vector): { readonly validity: Uint8Array; readonly nullCount: number } {
  const { type, validity: bitmap, offset, length } = vector;
  if (type.kind === "null") {
    return { validity: new Uint8Array((length + 7) >> 3), nullCount: length };
  }
  if (bitmap === undefined) return { validity: noBytes, nullCount: 0 };
  let nullCount = 0;
  for (let row = 0; row < length; row += 1) if (isNull(vector, row)) nullCount += 1;
  return { validity: bitsOf(bitmap, offset, length), nullCount };
}

/** Unsigned integers in the next width. What lies in a cell that is NULL does not count. */
function widened(vector: Vector): Uint8Array {
  const { type, values, offset, length } = vector;
  if (type.kind !== "integer") throw new TypeError("no integers");
  const width = type.bits / 8;
  const bytes = new Uint8Array(length * width * 2);
  for (let row = 0; row < length; row += 1) {
    const from = (offset + row) * width;
    bytes.set(values.subarray(from, from + width), row * width * 2);
  }
  return bytes;
}

function doubles(vector: Vector): Uint8Array {
  const { values, offset, length } = vector;
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const made = new Float64Array(length);
  for (let row = 0; row < length; row += 1) made[row] = view.getFloat32((offset + row) * 4, true);
  return new Uint8Array(made.buffer);
}

/** True for moments that are seconds and nanoseconds. */
function isInTwo(type: DataType): type is Extract<DataType, { kind: "timestamp" }> {
  if (type.kind !== "timestamp") return false;
  return type.unit === "ns" || (type.unit === "us" && type.zoned);
}

/** Seconds, and nanoseconds of the second. */
function momentBuffers({
  type,
  values,
  offset,
  length,
}: Vector): readonly [Uint8Array, Uint8Array] {
  if (!isInTwo(type)) throw new TypeError("no moments");
  const second = type.unit === "ns" ? 1_000_000_000n : 1_000_000n;
  const step = type.unit === "ns" ? 1 : 1_000;
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const epoch = new BigInt64Array(length);
  const fraction = new Int32Array(length);
  for (let row = 0; row < length; row += 1) {
    const count = view.getBigInt64((offset + row) * 8, true);
    const rest = ((count % second) + second) % second;
    epoch[row] = (count - rest) / second;
    fraction[row] = Number(rest) * step;
  }
  return [new Uint8Array(epoch.buffer), new Uint8Array(fraction.buffer)];
}

/** Offsets that begin at 0, and the bytes between them. */
function bytesOf({ values, offsets, offset, length }: Vector): readonly Uint8Array[] {
  if (offsets === undefined) throw new RangeError("a vector without its offsets");
  const start = offsets[offset] ?? 0;
  const made = new Int32Array(length + 1);
  for (let row = 0; row <= length; row += 1) made[row] = (offsets[offset + row] ?? 0) - start;
  return [new Uint8Array(made.buffer), values.subarray(start, offsets[offset + length])];
}

/** Cells as text, for types that drivers get as JSON or as text. */
function written(vector: Vector, writer: CellWriter): readonly Uint8Array[] {
  const offsets = new Int32Array(vector.length + 1);
  const texts: Uint8Array[] = [];
  let end = 0;
  for (let row = 0; row < vector.length; row += 1) {
    if (!isNull(vector, row)) {
      const scratch = Buffer.allocUnsafe(writer.bound(row));
      const text = scratch.subarray(0, writer.write(scratch, 0, row));
      texts.push(text);
      end += text.length;
    }
    offsets[row + 1] = end;
  }
  return [new Uint8Array(offsets.buffer), Buffer.concat(texts, end)];
}
