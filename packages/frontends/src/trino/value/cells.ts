/**
 * The writers of Trino's JSON cells: core's, with the two corrections that Trino's own clients need.
 *
 * Its Java clients refuse a float without a point or an exponent, at any depth, and its Python client
 * an interval without exactly three digits behind the second.
 */
import type { CellWriter, TextStyle } from "@gateway/core/type/cellWriter.ts";
import { cellWriter } from "@gateway/core/type/text.ts";
import { nestedWriter } from "@gateway/core/type/text/nested.ts";
import type { Interval } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import { trinoText, type PureInterval } from "./types.ts";

const quote = 0x22;
const point = 0x2e;
const zero = 0x30;
const lowerE = 0x65;

/** The writer of a vector's cells, nested ones included. NULLs are the caller's. */
export function trinoWriter(vector: Vector, style: TextStyle = trinoText): CellWriter {
  const { type } = vector;
  switch (type.kind) {
    case "float":
      return pointed(cellWriter(vector, style));
    case "list":
    case "struct":
    case "map":
      return nestedWriter(vector, type, style, trinoWriter);
    default:
      return cellWriter(vector, style);
  }
}

/** `1` becomes `1.0`. */
function pointed(writer: CellWriter): CellWriter {
  return {
    bound: (row) => writer.bound(row) + 2,
    write: (out, at, row) => {
      const end = writer.write(out, at, row);
      for (let index = at; index < end; index += 1) {
        const byte = out[index];
        if (byte === point || byte === lowerE || byte === quote) return end;
      }
      out[end] = point;
      out[end + 1] = zero;
      return end + 2;
    },
  };
}

/** Sign, 10 digits of days, 13 of hours, minutes, seconds and quotes. */
const pureBound = 48;

/** The writer of a column that the engine promises to hold one half of an interval only. */
export function pureIntervalWriter(vector: Vector, pure: PureInterval): CellWriter {
  return {
    bound: () => pureBound,
    write: (out, at, row) => {
      const text = `"${pureText(valueAt(vector, row) as Interval, pure)}"`;
      for (let index = 0; index < text.length; index += 1) out[at + index] = text.charCodeAt(index);
      return at + text.length;
    },
  };
}

const hourMs = 3_600_000n;

function pureText({ months, days, nanoseconds }: Interval, pure: PureInterval): string {
  if (pure === "interval year to month") {
    const ahead = Math.abs(months);
    return `${months < 0 ? "-" : ""}${Math.floor(ahead / 12)}-${ahead % 12}`;
  }
  const totalMs = BigInt(days) * 24n * hourMs + nanoseconds / 1_000_000n;
  const ahead = totalMs < 0n ? -totalMs : totalMs;
  const clock = `${two((ahead / hourMs) % 24n)}:${two((ahead / 60_000n) % 60n)}:${two((ahead / 1000n) % 60n)}`;
  const fraction = String(ahead % 1000n).padStart(3, "0");
  return `${totalMs < 0n ? "-" : ""}${ahead / (24n * hourMs)} ${clock}.${fraction}`;
}

function two(part: bigint): string {
  return String(part).padStart(2, "0");
}
