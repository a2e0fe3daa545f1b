import type { DataType } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import { displayName, pureInterval, resultColumn, typeSignature, typeText } from "./types.ts";

/** Neutral type, text and signature. The signatures are copied from answers of Trino 476. */
const table: readonly (readonly [DataType, string, string])[] = [
  [{ kind: "null" }, "unknown", '{"rawType":"unknown","arguments":[]}'],
  [{ kind: "boolean" }, "boolean", '{"rawType":"boolean","arguments":[]}'],
  [int(8), "tinyint", '{"rawType":"tinyint","arguments":[]}'],
  [int(16), "smallint", '{"rawType":"smallint","arguments":[]}'],
  [int(32), "integer", '{"rawType":"integer","arguments":[]}'],
  [int(64), "bigint", '{"rawType":"bigint","arguments":[]}'],
  [int(8, false), "smallint", '{"rawType":"smallint","arguments":[]}'],
  [int(16, false), "integer", '{"rawType":"integer","arguments":[]}'],
  [int(32, false), "bigint", '{"rawType":"bigint","arguments":[]}'],
  [
    int(64, false),
    "decimal(20, 0)",
    '{"rawType":"decimal","arguments":[{"kind":"LONG","value":20},{"kind":"LONG","value":0}]}',
  ],
  [
    int(128),
    "decimal(38, 0)",
    '{"rawType":"decimal","arguments":[{"kind":"LONG","value":38},{"kind":"LONG","value":0}]}',
  ],
  [{ kind: "float", bits: 32 }, "real", '{"rawType":"real","arguments":[]}'],
  [{ kind: "float", bits: 64 }, "double", '{"rawType":"double","arguments":[]}'],
  [
    { kind: "decimal", precision: 12, scale: 2 },
    "decimal(12, 2)",
    '{"rawType":"decimal","arguments":[{"kind":"LONG","value":12},{"kind":"LONG","value":2}]}',
  ],
  [
    { kind: "text" },
    "varchar",
    '{"rawType":"varchar","arguments":[{"kind":"LONG","value":2147483647}]}',
  ],
  [{ kind: "binary" }, "varbinary", '{"rawType":"varbinary","arguments":[]}'],
  [{ kind: "date" }, "date", '{"rawType":"date","arguments":[]}'],
  [
    { kind: "time", unit: "us" },
    "time(6)",
    '{"rawType":"time","arguments":[{"kind":"LONG","value":6}]}',
  ],
  [
    { kind: "timestamp", unit: "s", zoned: false },
    "timestamp(0)",
    '{"rawType":"timestamp","arguments":[{"kind":"LONG","value":0}]}',
  ],
  [
    { kind: "timestamp", unit: "us", zoned: true },
    "timestamp(6) with time zone",
    '{"rawType":"timestamp with time zone","arguments":[{"kind":"LONG","value":6}]}',
  ],
  [
    { kind: "interval" },
    "varchar",
    '{"rawType":"varchar","arguments":[{"kind":"LONG","value":2147483647}]}',
  ],
  [{ kind: "uuid" }, "uuid", '{"rawType":"uuid","arguments":[]}'],
  [{ kind: "json" }, "json", '{"rawType":"json","arguments":[]}'],
  [
    { kind: "list", item: int(32) },
    "array(integer)",
    '{"rawType":"array","arguments":[{"kind":"TYPE","value":{"rawType":"integer","arguments":[]}}]}',
  ],
  [
    { kind: "map", key: int(32), value: { kind: "boolean" } },
    "map(integer, boolean)",
    '{"rawType":"map","arguments":[{"kind":"TYPE","value":{"rawType":"integer","arguments":[]}},{"kind":"TYPE","value":{"rawType":"boolean","arguments":[]}}]}',
  ],
  [
    {
      kind: "struct",
      fields: [
        { name: "a", type: int(32) },
        { name: 'A "b"', type: { kind: "text" } },
      ],
    },
    'row(a integer, "A ""b""" varchar)',
    '{"rawType":"row","arguments":[{"kind":"NAMED_TYPE","value":{"fieldName":{"name":"a"},"typeSignature":{"rawType":"integer","arguments":[]}}},{"kind":"NAMED_TYPE","value":{"fieldName":{"name":"A \\"b\\""},"typeSignature":{"rawType":"varchar","arguments":[{"kind":"LONG","value":2147483647}]}}}]}',
  ],
  [
    { kind: "struct", fields: [{ name: "", type: int(32) }] },
    "row(integer)",
    '{"rawType":"row","arguments":[{"kind":"NAMED_TYPE","value":{"typeSignature":{"rawType":"integer","arguments":[]}}}]}',
  ],
];

describe("typeSignature", () => {
  it.each(table)("is what Trino answers for %o", (type, text, signature) => {
    expect(JSON.stringify(typeSignature(type))).toBe(signature);
    expect(typeText(type)).toBe(text);
  });

  it("keeps every digit of a time unit", () => {
    const precision = (unit: "s" | "ms" | "us" | "ns") => typeText({ kind: "time", unit });
    expect((["s", "ms", "us", "ns"] as const).map(precision)).toEqual([
      "time(0)",
      "time(3)",
      "time(6)",
      "time(9)",
    ]);
  });
});

describe("displayName", () => {
  it("leaves the space between numbers out, and only there", () => {
    const decimal: DataType = { kind: "decimal", precision: 12, scale: 2 };
    expect(displayName(decimal)).toBe("decimal(12,2)");
    expect(displayName({ kind: "map", key: decimal, value: { kind: "text" } })).toBe(
      "map(decimal(12,2), varchar)",
    );
  });
});

describe("resultColumn", () => {
  it("shows an interval as Trino's own only where the engine promises one half", () => {
    const interval = { name: "i", type: { kind: "interval" }, nullable: true } as const;
    const pure = { ...interval, engineType: "INTERVAL DAY TO SECOND" };
    expect(resultColumn(pure)).toEqual({
      name: "i",
      type: "INTERVAL DAY TO SECOND",
      typeSignature: { rawType: "interval day to second", arguments: [] },
    });
    expect(pureInterval({ ...interval, engineType: "INTERVAL" })).toBeUndefined();
    expect(resultColumn(interval).type).toBe("varchar");
  });
});

function int(bits: 8 | 16 | 32 | 64 | 128, signed = true): DataType {
  return { kind: "integer", bits, signed };
}
