/** One value of every neutral type, for the tests that every frontend shares. */
import { columnOf } from "@gateway/core/type/build.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";

interface Sample {
  readonly type: DataType;
  readonly value: Value;
}

const integer = (bits: 8 | 16 | 32 | 64 | 128, signed: boolean): DataType => ({
  kind: "integer",
  bits,
  signed,
});

/** Where a type has limits, its value is one of them; where it has digits, all of them count. */
export const samples = {
  boolean: { type: { kind: "boolean" }, value: true },
  int8: { type: integer(8, true), value: -128n },
  int16: { type: integer(16, true), value: 32_767n },
  int32: { type: integer(32, true), value: -2_147_483_648n },
  int64: { type: integer(64, true), value: 9_223_372_036_854_775_807n },
  int128: { type: integer(128, true), value: -(2n ** 127n) },
  uint8: { type: integer(8, false), value: 255n },
  uint16: { type: integer(16, false), value: 65_535n },
  uint32: { type: integer(32, false), value: 4_294_967_295n },
  uint64: { type: integer(64, false), value: 18_446_744_073_709_551_615n },
  /** The float32 nearest to 0.1. */
  float32: { type: { kind: "float", bits: 32 }, value: Math.fround(0.1) },
  float64: { type: { kind: "float", bits: 64 }, value: 0.1 + 0.2 },
  /** -1234567890.12 */
  decimal: { type: { kind: "decimal", precision: 12, scale: 2 }, value: -123_456_789_012n },
  /** 38 digits, ten of them behind the point. */
  wideDecimal: {
    type: { kind: "decimal", precision: 38, scale: 10 },
    value: 12_345_678_901_234_567_890_123_456_789_012_345_678n,
  },
  text: { type: { kind: "text" }, value: 'né "q" \\ \n😀' },
  binary: { type: { kind: "binary" }, value: Uint8Array.of(0, 255, 92, 65) },
  /** 2024-02-29 */
  date: { type: { kind: "date" }, value: 19_782n },
  /** 23:59:59.999999 */
  time: { type: { kind: "time", unit: "us" }, value: 86_399_999_999n },
  /** 2024-02-29 12:34:56.123456 */
  timestamp: {
    type: { kind: "timestamp", unit: "us", zoned: false },
    value: 1_709_210_096_123_456n,
  },
  /** 2024-02-29 12:34:56.123456789 */
  timestampNs: {
    type: { kind: "timestamp", unit: "ns", zoned: false },
    value: 1_709_210_096_123_456_789n,
  },
  /** 2024-02-29 12:34:56.5 UTC */
  instant: {
    type: { kind: "timestamp", unit: "us", zoned: true },
    value: 1_709_210_096_500_000n,
  },
  /** 1 year, 2 months, 3 days, 4 hours, 5 minutes, 6.789 seconds. */
  interval: {
    type: { kind: "interval" },
    value: { months: 14, days: 3, nanoseconds: 14_706_789_000_000n },
  },
  uuid: { type: { kind: "uuid" }, value: "0190163d-8694-739b-aea5-966c26f8ad91" },
  json: { type: { kind: "json" }, value: '{"a":[1,null]}' },
  list: { type: { kind: "list", item: { kind: "text" } }, value: ["a b", null, ""] },
  struct: {
    type: {
      kind: "struct",
      fields: [
        { name: "n", type: integer(32, true) },
        { name: "t", type: { kind: "text" } },
      ],
    },
    value: [1n, "x"],
  },
  map: {
    type: { kind: "map", key: { kind: "text" }, value: integer(32, true) },
    value: [["k", 1n]],
  },
} as const satisfies Record<string, Sample>;

export type SampleName = keyof typeof samples;

/** Names in the order of `sampleColumns`. */
export const sampleNames = Object.keys(samples) as readonly SampleName[];

/** A column for each sample, in the order of `sampleNames`, and one of type null at the end. */
export const sampleColumns = [
  ...sampleNames.map((name) => columnOf(name, samples[name].type)),
  columnOf("nothing", { kind: "null" }),
];

/** One row with every value, and one of NULLs. */
export const sampleRows: readonly (readonly Value[])[] = [
  [...sampleNames.map((name): Value => samples[name].value), null],
  sampleColumns.map(() => null),
];
