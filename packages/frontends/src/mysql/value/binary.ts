/**
 * Cells of binary rows: fixed-width values as the vector has them, dates and times in MySQL's parts.
 *
 * Everything else is text with a length in front and is not written here.
 */
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import type { TimeUnit } from "@gateway/core/type/type.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import type { Zone } from "@gateway/core/type/zone.ts";
import { putDate, putTime } from "@gateway/wire/mysql/row.ts";
import type { BinaryForm } from "./types.ts";

/** Returned by `write` when MySQL's format can not hold the value. */
export const notRepresentable = -1;

const secondsPerDay = 86_400;
const microsPerSecond = 1_000_000;
/** Counts below this are exact in a number. */
const exactHigh = 0x20_0000;

const unitsPerSecond = { s: 1, ms: 1000, us: microsPerSecond, ns: 1_000_000_000 } as const;

/** The writer of a column's cells in binary rows. `form` is not `text`. */
export function binaryCells(
  vector: Vector,
  form: Exclude<BinaryForm, { kind: "text" }>,
  zone: Zone,
): CellWriter {
  switch (form.kind) {
    case "copy":
      return copied(vector, form.bytes);
    case "boolean":
      return booleans(vector);
    case "date":
      return dates(vector);
    case "time":
      return times(vector, form.unit);
    case "datetime":
      return datetimes(vector, form.unit, form.zoned ? zone : undefined);
  }
}

function copied(vector: Vector, width: 1 | 2 | 4 | 8): CellWriter {
  const { values, offset } = vector;
  return {
    bound: () => width,
    write: (out, at, row) => {
      const from = (offset + row) * width;
      for (let index = 0; index < width; index += 1) out[at + index] = values[from + index] ?? 0;
      return at + width;
    },
  };
}

function booleans(vector: Vector): CellWriter {
  const { values, offset } = vector;
  return {
    bound: () => 1,
    write: (out, at, row) => {
      const index = offset + row;
      out[at] = ((values[index >> 3] ?? 0) >> (index & 7)) & 1;
      return at + 1;
    },
  };
}

function dates(vector: Vector): CellWriter {
  const view = viewOf(vector);
  return {
    bound: () => 12,
    write: (out, at, row) => putDate(out, at, view.getInt32((vector.offset + row) * 4, true)),
  };
}

function times(vector: Vector, unit: TimeUnit): CellWriter {
  const view = viewOf(vector);
  const microsPerUnit = microsPerSecond / unitsPerSecond[unit];
  return {
    bound: () => 13,
    write: (out, at, row) => {
      const cell = (vector.offset + row) * 8;
      // A time of day is far below 2^53 in every unit that reaches this writer.
      const count = view.getInt32(cell + 4, true) * 2 ** 32 + view.getUint32(cell, true);
      return putTime(out, at, count * microsPerUnit);
    },
  };
}

function datetimes(vector: Vector, unit: TimeUnit, zone: Zone | undefined): CellWriter {
  const view = viewOf(vector);
  const perSecond = unitsPerSecond[unit];
  const microsPerUnit = microsPerSecond / perSecond;
  return {
    bound: () => 12,
    write: (out, at, row) => {
      const cell = (vector.offset + row) * 8;
      const high = view.getInt32(cell + 4, true);
      let seconds: number;
      let rest: number;
      if (high >= -exactHigh && high < exactHigh) {
        const count = high * 2 ** 32 + view.getUint32(cell, true);
        seconds = Math.floor(count / perSecond);
        rest = count - seconds * perSecond;
      } else {
        // Microseconds beyond the year 2255 do not fit a number exactly.
        const count = view.getBigInt64(cell, true);
        const remainder = modulo(count, BigInt(perSecond));
        seconds = Number((count - remainder) / BigInt(perSecond));
        rest = Number(remainder);
      }
      if (zone !== undefined) seconds += zone.offsetAt(seconds);
      const day = Math.floor(seconds / secondsPerDay);
      const micros = (seconds - day * secondsPerDay) * microsPerSecond + rest * microsPerUnit;
      return putDate(out, at, day, micros);
    },
  };
}

/** The remainder that is never negative. */
function modulo(count: bigint, divisor: bigint): bigint {
  const rest = count % divisor;
  return rest < 0n ? rest + divisor : rest;
}

function viewOf(vector: Vector): DataView {
  const { buffer, byteOffset, byteLength } = vector.values;
  return new DataView(buffer, byteOffset, byteLength);
}
