import { vectorOf } from "@gateway/core/type/build.ts";
import { typeName } from "@gateway/core/type/name.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";
import { utc } from "@gateway/core/type/zone.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { binaryWriter } from "./binary.ts";
import { readParameter } from "./parameter.ts";
import { columnShape } from "./types.ts";

const int = (bits: 8 | 16 | 32 | 64, signed = true): DataType => ({
  kind: "integer",
  bits,
  signed,
});

const goldens: readonly (readonly [DataType, Value, string])[] = [
  [{ kind: "boolean" }, true, "01"],
  [{ kind: "boolean" }, false, "00"],
  [int(8), -1n, "ffff"],
  [int(16), -2n, "fffe"],
  [int(32), 1n, "00000001"],
  [int(64), -2n, "fffffffffffffffe"],
  [int(8, false), 255n, "00ff"],
  [int(16, false), 65_535n, "0000ffff"],
  [int(32, false), 4_294_967_295n, "00000000ffffffff"],
  [{ kind: "float", bits: 32 }, 1.5, "3fc00000"],
  [{ kind: "float", bits: 64 }, -2, "c000000000000000"],
  [{ kind: "binary" }, Uint8Array.of(0, 255), "00ff"],
  [{ kind: "date" }, 10_957n, "00000000"],
  [{ kind: "date" }, 0n, "ffffd533"],
  [{ kind: "time", unit: "s" }, 1n, "00000000000f4240"],
  [{ kind: "time", unit: "ms" }, 1n, "00000000000003e8"],
  [{ kind: "time", unit: "us" }, 1n, "0000000000000001"],
  [{ kind: "time", unit: "ns" }, 1999n, "0000000000000001"],
  [{ kind: "timestamp", unit: "us", zoned: true }, 946_684_800_000_000n, "0000000000000000"],
  [{ kind: "timestamp", unit: "us", zoned: false }, 0n, "fffca2fec4c82000"],
  [{ kind: "timestamp", unit: "s", zoned: false }, 946_684_801n, "00000000000f4240"],
  [{ kind: "timestamp", unit: "ns", zoned: false }, 946_684_799_999_999_999n, "ffffffffffffffff"],
  [
    { kind: "interval" },
    { months: 14, days: -3, nanoseconds: 1_500_000n },
    "00000000000005dcfffffffd0000000e",
  ],
  [{ kind: "uuid" }, "00112233-4455-6677-8899-aabbccddeeff", "00112233445566778899aabbccddeeff"],
  [
    { kind: "list", item: int(16) },
    [1n, null],
    "0000000100000001000000150000000200000001000000020001ffffffff",
  ],
  [{ kind: "list", item: int(16) }, [], "000000000000000000000015"],
  [
    { kind: "list", item: { kind: "text" } },
    ["a"],
    "00000001000000000000001900000001000000010000000161",
  ],
];

describe("binaryWriter", () => {
  it.each(goldens.map(([type, value, hex]) => ({ name: typeName(type), type, value, hex })))(
    "writes $name as $hex like PostgreSQL",
    ({ type, value, hex }) => {
      expect(hexOf(written(type, value))).toBe(hex);
    },
  );

  it("shows what PostgreSQL's range can not hold as infinity", () => {
    const micros: DataType = { kind: "timestamp", unit: "us", zoned: true };
    expect(hexOf(written(micros, -(2n ** 63n)))).toBe("8000000000000000");
    expect(hexOf(written({ kind: "timestamp", unit: "s", zoned: true }, 2n ** 62n))).toBe(
      "7fffffffffffffff",
    );
    expect(hexOf(written({ kind: "date" }, 2n ** 31n - 1n))).toBe("7fffffff");
    expect(hexOf(written({ kind: "date" }, -(2n ** 31n)))).toBe("80000000");
  });

  it("leaves to the text writers what has no form of its own", () => {
    const types: DataType[] = [
      { kind: "text" },
      { kind: "json" },
      { kind: "struct", fields: [{ name: "a", type: int(32) }] },
      { kind: "map", key: { kind: "text" }, value: int(32) },
      { kind: "list", item: { kind: "list", item: int(32) } },
    ];
    for (const type of types) expect(binaryWriter(vectorOf(type, [null]))).toBeUndefined();
  });

  it("writes cells that its own parameter reader reads back, for every scalar type", () => {
    const cell = fc.oneof(
      cellOf({ kind: "boolean" }, fc.boolean()),
      cellOf(int(16), bigints(16)),
      cellOf(int(32), bigints(32)),
      cellOf(int(64), bigints(64)),
      cellOf({ kind: "float", bits: 64 }, fc.double({ noNaN: true })),
      cellOf({ kind: "binary" }, fc.uint8Array({ maxLength: 100 })),
      cellOf({ kind: "date" }, fc.bigInt({ min: -2_000_000n, max: 2_000_000_000n })),
      cellOf({ kind: "time", unit: "us" }, fc.bigInt({ min: 0n, max: 86_400_000_000n })),
      cellOf(
        { kind: "timestamp", unit: "us", zoned: true },
        fc.bigInt({ min: -(2n ** 57n), max: 2n ** 62n }),
      ),
      cellOf({ kind: "uuid" }, fc.uuid()),
      cellOf(
        { kind: "interval" },
        fc.record({
          months: fc.integer(),
          days: fc.integer(),
          nanoseconds: fc.bigInt({ min: -(2n ** 50n), max: 2n ** 50n }).map((n) => n * 1000n),
        }),
      ),
      cellOf({ kind: "list", item: int(32) }, fc.array(fc.option(bigints(32)), { maxLength: 8 })),
      cellOf(
        { kind: "list", item: { kind: "text" } },
        fc.array(fc.option(fc.string({ maxLength: 8 }).map(withoutNul)), { maxLength: 8 }),
      ),
    );
    const readsBack = fc.property(cell, ({ type, value }) => {
      const read = readParameter(
        written(type, value),
        1,
        { oid: columnShape(type).oid, type },
        { number: 1, zone: utc },
      );
      expect(read).toEqual({ ok: true, value: { type, value } });
    });
    fc.assert(readsBack, { numRuns: 500 });
  });
});

function cellOf(type: DataType, value: fc.Arbitrary<Value>) {
  return value.map((made) => ({ type, value: made }));
}

function bigints(bits: number): fc.Arbitrary<bigint> {
  return fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n });
}

function withoutNul(text: string): string {
  return text.replaceAll("\0", "");
}

/** The cell as the second of three, so that an offset that is forgotten shows. */
function written(type: DataType, value: Value): Uint8Array {
  const vector = vectorOf(type, [value, value, value]);
  const shifted = { ...vector, offset: 1, length: 2, validity: undefined };
  const writer = binaryWriter(shifted);
  if (writer === undefined) throw new Error(`no binary form of ${type.kind}`);
  const out = new Uint8Array(4096).fill(0xee);
  const bytes = out.subarray(5, writer.write(out, 5, 0));
  expect(bytes.length).toBeLessThanOrEqual(writer.bound(0));
  return bytes.slice();
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
