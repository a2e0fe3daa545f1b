/** Cells in ClickHouse's binary form, row by row (RowBinary) and column by column (Native). */
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";
import { isNull, type ColumnarBatch, type Vector } from "@gateway/core/type/vector.ts";
import { plainCell } from "./cells.ts";
import { putVarint, varintBytesMax, type Output } from "./output.ts";
import { mayBeNull } from "./types.ts";

/** A writer that can also write something in the place of a NULL. */
interface BinaryWriter extends CellWriter {
  /** Zero bytes that stand for a value which nobody reads. */
  readonly blank: number;
}

/** A cell of a type without parts, without the mark of NULL. */
function scalarWriter(vector: Vector): BinaryWriter {
  const { type } = vector;
  switch (type.kind) {
    case "boolean":
      return booleanWriter(vector);
    case "integer":
    case "float":
      return fixedWriter(vector, type.bits / 8, type.bits / 8);
    case "decimal":
      return fixedWriter(vector, 16, type.precision <= 9 ? 4 : type.precision <= 18 ? 8 : 16);
    case "date":
      return fixedWriter(vector, 4, 4);
    case "timestamp":
      return fixedWriter(vector, 8, 8);
    case "uuid":
      return uuidWriter(vector);
    case "null":
      return { blank: 1, bound: () => 1, write: (out, at) => ((out[at] = 0x30), at + 1) };
    case "text":
    case "binary":
    case "json":
    case "time":
    case "interval":
    case "list":
    case "struct":
    case "map":
      return stringWriter(plainCell(vector));
  }
}

function booleanWriter({ values, offset }: Vector): BinaryWriter {
  return {
    blank: 1,
    bound: () => 1,
    write: (out, at, row) => {
      const index = offset + row;
      out[at] = ((values[index >> 3] ?? 0) >> (index & 7)) & 1;
      return at + 1;
    },
  };
}

/** The low `kept` bytes of each cell. */
function fixedWriter({ values, offset }: Vector, width: number, kept: number): BinaryWriter {
  return {
    blank: kept,
    bound: () => kept,
    write: (out, at, row) => {
      const start = (offset + row) * width;
      for (let index = 0; index < kept; index += 1) out[at + index] = values[start + index] ?? 0;
      return at + kept;
    },
  };
}

/** Two numbers of 64 bits, the high one first, each with its lowest byte first. */
function uuidWriter({ values, offset }: Vector): BinaryWriter {
  return {
    blank: 16,
    bound: () => 16,
    write: (out, at, row) => {
      const start = (offset + row) * 16;
      for (let index = 0; index < 8; index += 1) {
        out[at + index] = values[start + 7 - index] ?? 0;
        out[at + 8 + index] = values[start + 15 - index] ?? 0;
      }
      return at + 16;
    },
  };
}

function stringWriter(writer: CellWriter): BinaryWriter {
  let aside = new Uint8Array(64);
  return {
    blank: 1,
    bound: (row) => writer.bound(row) + varintBytesMax,
    write: (out, at, row) => {
      const bound = writer.bound(row);
      if (bound > aside.length) aside = new Uint8Array(bound * 2);
      const length = writer.write(aside, 0, row);
      const start = putVarint(out, at, length);
      out.set(aside.subarray(0, length), start);
      return start + length;
    },
  };
}

/** True when a list, tuple or map in the rows is NULL, for which ClickHouse's binary formats have no place. */
export function holdsNullPart(vector: Vector, from: number, to: number): boolean {
  const { type, offset, offsets, children } = vector;
  if (mayBeNull(type)) return false;
  for (let row = from; row < to; row += 1) if (isNull(vector, row)) return true;
  if (type.kind === "struct") {
    return children.some((child) => holdsNullPart(child, offset + from, offset + to));
  }
  const [first, last] = [offsets?.[offset + from] ?? 0, offsets?.[offset + to] ?? 0];
  return children.some((child) => holdsNullPart(child, first, last));
}

/** Writes a cell of RowBinary. `nullable` as the name of its type says. */
type PutCell = (out: Output, row: number) => void;

/** The writers of a batch for RowBinary, in the order of its columns. */
export function rowBinaryCells(
  batch: ColumnarBatch,
  columns: readonly Column[],
): readonly PutCell[] {
  return batch.columns.map((vector, index) =>
    cellOf(vector, isNullable(vector.type, columns[index]?.nullable ?? true)),
  );
}

function isNullable(type: DataType, nullable: boolean): boolean {
  return type.kind === "null" || (nullable && mayBeNull(type));
}

function cellOf(vector: Vector, nullable: boolean): PutCell {
  const put = presentOf(vector);
  if (!nullable) return put;
  return (out, row) => {
    const absent = isNull(vector, row);
    out.reserve(1);
    out.bytes[out.length] = absent ? 1 : 0;
    out.length += 1;
    if (!absent) put(out, row);
  };
}

function presentOf(vector: Vector): PutCell {
  const { type, offset, offsets, children } = vector;
  if (mayBeNull(type)) {
    const writer = scalarWriter(vector);
    return (out, row) => {
      out.reserve(writer.bound(row));
      out.length = writer.write(out.bytes, out.length, row);
    };
  }
  const parts = children.map((child, index) =>
    cellOf(child, isNullable(child.type, type.kind !== "map" || index > 0)),
  );
  if (type.kind === "struct") {
    return (out, row) => {
      for (const part of parts) part(out, offset + row);
    };
  }
  return (out, row) => {
    const from = offsets?.[offset + row] ?? 0;
    const to = offsets?.[offset + row + 1] ?? 0;
    out.varint(to - from);
    for (let item = from; item < to; item += 1) for (const part of parts) part(out, item);
  };
}

/** The values of rows of a column as Native has them, behind its name and type. */
export function putNativeColumn(vector: Vector, nullable: boolean, span: NativeSpan): void {
  const { out, from, to } = span;
  const { type, offset, offsets, children } = vector;
  const marks = isNullable(type, nullable);
  if (marks) putNullMarks(vector, span);
  if (mayBeNull(type)) return putNativeScalars(vector, marks, span);
  if (type.kind === "struct") {
    for (const child of children) {
      putNativeColumn(child, true, { out, from: offset + from, to: offset + to });
    }
    return;
  }
  const [first, last] = [offsets?.[offset + from] ?? 0, offsets?.[offset + to] ?? 0];
  out.reserve((to - from) * 8);
  const view = new DataView(out.bytes.buffer, out.bytes.byteOffset);
  for (let row = from; row < to; row += 1) {
    view.setUint32(out.length, (offsets?.[offset + row + 1] ?? 0) - first, true);
    view.setUint32(out.length + 4, 0, true);
    out.length += 8;
  }
  for (const [index, child] of children.entries()) {
    const nullablePart = type.kind !== "map" || index > 0;
    putNativeColumn(child, nullablePart, { out, from: first, to: last });
  }
}

interface NativeSpan {
  readonly out: Output;
  readonly from: number;
  readonly to: number;
}

function putNullMarks(vector: Vector, { out, from, to }: NativeSpan): void {
  out.reserve(to - from);
  for (let row = from; row < to; row += 1) out.bytes[out.length++] = isNull(vector, row) ? 1 : 0;
}

function putNativeScalars(vector: Vector, marks: boolean, { out, from, to }: NativeSpan): void {
  const writer = scalarWriter(vector);
  const isNothing = vector.type.kind === "null";
  for (let row = from; row < to; row += 1) {
    if (marks && !isNothing && isNull(vector, row)) {
      out.reserve(writer.blank);
      out.bytes.fill(0, out.length, out.length + writer.blank);
      out.length += writer.blank;
      continue;
    }
    out.reserve(writer.bound(row));
    out.length = writer.write(out.bytes, out.length, row);
  }
}
