/** Rules that turn one fixed-width value into another, byte by byte and without an object. */
import { unreachable } from "@gateway/core/result.ts";
import type { Widening } from "./layout.ts";

/** Bytes of one value as it arrives. */
export const sourceWidths = {
  float16: 2,
  decimal32: 4,
  decimal64: 8,
  decimal256: 32,
  date64: 8,
  time32s: 4,
  time32ms: 4,
  durationS: 8,
  durationMs: 8,
  durationUs: 8,
  durationNs: 8,
  intervalMonths: 4,
  intervalDayMs: 8,
} as const satisfies Record<Widening, number>;

/** A value as it arrives, `from` a byte of the source, and where it goes, `at` a byte of the target. */
export interface ValueMove {
  readonly source: DataView;
  readonly from: number;
  readonly target: DataView;
  readonly at: number;
}

const nanosecondsPer = {
  durationS: 1_000_000_000n,
  durationMs: 1_000_000n,
  durationUs: 1_000n,
  durationNs: 1n,
} as const;

/** Converts the value at `from` into the one at `at`. */
export function widen(rule: Widening, { source, from, target, at }: ValueMove): void {
  switch (rule) {
    case "float16":
      return target.setFloat32(at, halfFloat(source.getUint16(from, true)), true);
    case "decimal32":
      return putInt128(target, at, BigInt(source.getInt32(from, true)));
    case "decimal64":
      return putInt128(target, at, source.getBigInt64(from, true));
    case "decimal256":
      // At most 38 digits were promised, so the upper half only repeats the sign.
      target.setBigUint64(at, source.getBigUint64(from, true), true);
      return target.setBigUint64(at + 8, source.getBigUint64(from + 8, true), true);
    case "date64":
      return target.setInt32(at, Number(source.getBigInt64(from, true) / 86_400_000n), true);
    case "time32s":
      return target.setBigInt64(at, BigInt(source.getInt32(from, true)) * 1_000_000n, true);
    case "time32ms":
      return target.setBigInt64(at, BigInt(source.getInt32(from, true)) * 1_000n, true);
    case "durationS":
    case "durationMs":
    case "durationUs":
    case "durationNs":
      return putInterval(target, at, 0, 0, source.getBigInt64(from, true) * nanosecondsPer[rule]);
    case "intervalMonths":
      return putInterval(target, at, source.getInt32(from, true), 0, 0n);
    case "intervalDayMs": {
      const milliseconds = BigInt(source.getInt32(from + 4, true));
      return putInterval(target, at, 0, source.getInt32(from, true), milliseconds * 1_000_000n);
    }
    default:
      return unreachable(rule);
  }
}

function putInt128(target: DataView, at: number, value: bigint): void {
  target.setBigInt64(at, value, true);
  target.setBigInt64(at + 8, value < 0n ? -1n : 0n, true);
}

function putInterval(
  target: DataView,
  at: number,
  ...[months, days, nanoseconds]: readonly [months: number, days: number, nanoseconds: bigint]
): void {
  target.setInt32(at, months, true);
  target.setInt32(at + 4, days, true);
  target.setBigInt64(at + 8, nanoseconds, true);
}

function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
