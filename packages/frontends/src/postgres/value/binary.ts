/**
 * Writes cells in PostgreSQL's binary format straight from a vector's buffers.
 *
 * One writer per column and batch. Nothing is rounded: nanoseconds are cut to microseconds, and an instant
 * outside of PostgreSQL's range becomes its infinity. JSON and everything nested is text in both formats and
 * comes from the text writers.
 */
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import type { DataType, TimeUnit } from "@gateway/core/type/type.ts";
import { isNull, type Vector } from "@gateway/core/type/vector.ts";
import { putInt16, putInt32 } from "@gateway/wire/postgres/bytes.ts";
import { numericWriter } from "./numeric.ts";
import { columnShape, pgTypes } from "./types.ts";

/** Days and microseconds from 1970-01-01 to 2000-01-01, where PostgreSQL counts from. */
const epochDays = 10_957;
const epochMicros = 946_684_800_000_000;

/** The first values that PostgreSQL can not show, counted from 2000; they become infinity. */
const dayMin = -2_451_545;
const dayEnd = 2_145_031_949;
const microMin = -211_813_488_000_000_000n;
const microEnd = 9_223_371_331_200_000_000n;

const microsPer = { s: 1_000_000, ms: 1000, us: 1 } as const satisfies Partial<
  Record<TimeUnit, number>
>;

/** The writer of a vector's cells in binary; undefined where the format is the same as text. */
export function binaryWriter(vector: Vector): CellWriter | undefined {
  const { type } = vector;
  switch (type.kind) {
    case "boolean":
      return booleanWriter(vector);
    case "integer":
      return integerWriter(vector, type);
    case "float":
      return reversedWriter(vector, type.bits / 8);
    case "decimal":
      return numericWriter(vector, type.scale, { bits: 128, signed: true });
    case "binary":
      return bytesWriter(vector);
    case "date":
      return dateWriter(vector);
    case "time":
      return microsWriter(vector, type.unit, false);
    case "timestamp":
      return microsWriter(vector, type.unit, true);
    case "interval":
      return intervalWriter(vector);
    case "uuid":
      return uuidWriter(vector);
    case "list":
      return columnShape(type).array ? arrayWriter(vector) : undefined;
    case "null":
    case "text":
    case "json":
    case "struct":
    case "map":
      return undefined;
  }
}

function booleanWriter({ values, offset }: Vector): CellWriter {
  return {
    bound: () => 1,
    write: (out, at, row) => {
      const index = offset + row;
      out[at] = ((values[index >> 3] ?? 0) >> (index & 7)) & 1;
      return at + 1;
    },
  };
}

function integerWriter(vector: Vector, type: Extract<DataType, { kind: "integer" }>): CellWriter {
  const { bits, signed } = type;
  const { scalar } = columnShape(type);
  if (scalar === "numeric") return numericWriter(vector, 0, { bits, signed });
  const size = pgTypes[scalar].size;
  if (size === bits / 8 || bits === 64 || bits === 128) return reversedWriter(vector, size);

  const { values, offset } = vector;
  const view = viewOf(values);
  const read = narrowReaders[bits];
  return {
    bound: () => size,
    write: (out, at, row) => {
      const value = read(view, offset + row, signed);
      if (size === 2) return putInt16(out, at, value);
      if (size === 4) return putInt32(out, at, value);
      // Only unsigned 32-bit integers come here: the upper half is zero.
      return putInt32(out, putInt32(out, at, 0), value | 0);
    },
  };
}

/** Integers that are widened, because PostgreSQL has no unsigned and no one-byte types. */
const narrowReaders = {
  8: (view, index, signed) => (signed ? view.getInt8(index) : view.getUint8(index)),
  16: (view, index, signed) =>
    signed ? view.getInt16(index * 2, true) : view.getUint16(index * 2, true),
  32: (view, index, signed) =>
    signed ? view.getInt32(index * 4, true) : view.getUint32(index * 4, true),
} as const satisfies Record<
  8 | 16 | 32,
  (view: DataView, index: number, signed: boolean) => number
>;

/** Fixed width, little-endian in, big-endian out. */
function reversedWriter({ values, offset }: Vector, size: number): CellWriter {
  return {
    bound: () => size,
    write: (out, at, row) => {
      const last = (offset + row) * size + size - 1;
      for (let index = 0; index < size; index += 1) out[at + index] = values[last - index] ?? 0;
      return at + size;
    },
  };
}

function uuidWriter({ values, offset }: Vector): CellWriter {
  return {
    bound: () => 16,
    write: (out, at, row) => {
      const first = (offset + row) * 16;
      for (let index = 0; index < 16; index += 1) out[at + index] = values[first + index] ?? 0;
      return at + 16;
    },
  };
}

/** From this length on a copy is quicker through a view than byte by byte. */
const longCell = 48;

function bytesWriter({ values, offset, offsets }: Vector): CellWriter {
  const start = (row: number): number => offsets?.[offset + row] ?? 0;
  return {
    bound: (row) => start(row + 1) - start(row),
    write: (out, at, row) => {
      const first = start(row);
      const end = start(row + 1);
      if (end - first > longCell) {
        out.set(values.subarray(first, end), at);
        return at + end - first;
      }
      for (let index = first; index < end; index += 1) out[at + index - first] = values[index] ?? 0;
      return at + end - first;
    },
  };
}

function dateWriter({ values, offset }: Vector): CellWriter {
  const view = viewOf(values);
  return {
    bound: () => 4,
    write: (out, at, row) => {
      const days = view.getInt32((offset + row) * 4, true) - epochDays;
      if (days >= dayEnd) return putInt32(out, at, 0x7fffffff);
      if (days < dayMin) return putInt32(out, at, -0x80000000);
      return putInt32(out, at, days);
    },
  };
}

/** Times count from midnight, timestamps (`instant`) from 2000; both in microseconds. */
function microsWriter({ values, offset }: Vector, unit: TimeUnit, instant: boolean): CellWriter {
  const view = viewOf(values);
  const epoch = instant ? epochMicros : 0;
  return {
    bound: () => 8,
    write: (out, at, row) => {
      const place = (offset + row) * 8;
      const high = view.getInt32(place + 4, true);
      const count = high * 2 ** 32 + view.getUint32(place, true);
      const micros = (unit === "ns" ? Math.floor(count / 1000) : count * microsPer[unit]) - epoch;
      // The count itself must be an exact number, not only what is made of it.
      if (Math.abs(count) > Number.MAX_SAFE_INTEGER || !Number.isSafeInteger(micros)) {
        return putWideMicros(out, at, { value: view.getBigInt64(place, true), unit, instant });
      }
      return putInt32(out, putInt32(out, at, Math.floor(micros / 2 ** 32)), (micros % 2 ** 32) | 0);
    },
  };
}

interface Wide {
  readonly value: bigint;
  readonly unit: TimeUnit;
  readonly instant: boolean;
}

function putWideMicros(out: Uint8Array, at: number, { value, unit, instant }: Wide): number {
  const counted = unit === "ns" ? floorThousandth(value) : value * BigInt(microsPer[unit]);
  const micros = instant ? counted - BigInt(epochMicros) : counted;
  if (micros >= microEnd) return putInt64(out, at, 2n ** 63n - 1n);
  if (micros < microMin) return putInt64(out, at, -(2n ** 63n));
  return putInt64(out, at, micros);
}

function floorThousandth(value: bigint): bigint {
  return (value - (((value % 1000n) + 1000n) % 1000n)) / 1000n;
}

function putInt64(out: Uint8Array, at: number, value: bigint): number {
  const high = Number(BigInt.asIntN(32, value >> 32n));
  return putInt32(out, putInt32(out, at, high), Number(BigInt.asIntN(32, value)));
}

function intervalWriter({ values, offset }: Vector): CellWriter {
  const view = viewOf(values);
  return {
    bound: () => 16,
    write: (out, at, row) => {
      const place = (offset + row) * 16;
      const next = putInt64(out, at, view.getBigInt64(place + 8, true) / 1000n);
      return putInt32(
        out,
        putInt32(out, next, view.getInt32(place + 4, true)),
        view.getInt32(place, true),
      );
    },
  };
}

/** One dimension, its length, lower bound 1; then the items, each with its length. */
function arrayWriter({ offset, offsets, children, type }: Vector): CellWriter {
  const items = children[0];
  if (items === undefined || type.kind !== "list") throw new Error("a list without its items");
  const oid = pgTypes[columnShape(type).scalar].oid;
  const writer = binaryWriter(items) ?? bytesWriter(items);
  const start = (row: number): number => offsets?.[offset + row] ?? 0;
  const headBytes = 20;
  return {
    bound: (row) => {
      let bytes = headBytes;
      for (let item = start(row); item < start(row + 1); item += 1) {
        bytes += 4 + (isNull(items, item) ? 0 : writer.bound(item));
      }
      return bytes;
    },
    write: (out, at, row) => {
      const first = start(row);
      const end = start(row + 1);
      let place = putInt32(out, at, end > first ? 1 : 0);
      const flagPlace = place;
      let nulls = 0;
      place = putInt32(out, putInt32(out, place, 0), oid);
      if (end > first) place = putInt32(out, putInt32(out, place, end - first), 1);
      for (let item = first; item < end; item += 1) {
        if (isNull(items, item)) {
          nulls = 1;
          place = putInt32(out, place, -1);
          continue;
        }
        const after = writer.write(out, place + 4, item);
        putInt32(out, place, after - place - 4);
        place = after;
      }
      putInt32(out, flagPlace, nulls);
      return place;
    },
  };
}

function viewOf(values: Uint8Array): DataView {
  return new DataView(values.buffer, values.byteOffset, values.byteLength);
}
