import { columnOf } from "@gateway/core/type/build.ts";
import type { DataType } from "@gateway/core/type/type.ts";
import { columnFlag, columnType } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { columnDefinition, mysqlTypeOf } from "./types.ts";

describe("mysqlTypeOf", () => {
  it("gives integers MySQL's own types, unsigned ones with the flag", () => {
    const shapes = ([8, 16, 32, 64, 128] as const).map((bits) => {
      const { type, length, flags } = mysqlTypeOf({ kind: "integer", bits, signed: false });
      return [type, length, (flags & columnFlag.unsigned) !== 0];
    });
    expect(shapes).toEqual([
      [columnType.tiny, 3, true],
      [columnType.short, 5, true],
      [columnType.long, 10, true],
      [columnType.longlong, 20, true],
      [columnType.newDecimal, 39, true],
    ]);
    expect(mysqlTypeOf({ kind: "integer", bits: 64, signed: true }).flags).toBe(columnFlag.binary);
  });

  it("gives a boolean the TINYINT(1) that drivers read as one", () => {
    expect(mysqlTypeOf({ kind: "boolean" })).toMatchObject({ type: columnType.tiny, length: 1 });
  });

  it("keeps precision and scale of a decimal", () => {
    expect(mysqlTypeOf({ kind: "decimal", precision: 12, scale: 2 })).toMatchObject({
      type: columnType.newDecimal,
      length: 14,
      decimals: 2,
    });
  });

  it("sends nanoseconds as text, because DATETIME would cut them", () => {
    const kinds: readonly DataType[] = [
      { kind: "timestamp", unit: "ns", zoned: false },
      { kind: "timestamp", unit: "ns", zoned: true },
      { kind: "time", unit: "ns" },
    ];
    for (const type of kinds) expect(mysqlTypeOf(type).type).toBe(columnType.varString);
    expect(mysqlTypeOf({ kind: "timestamp", unit: "us", zoned: false })).toMatchObject({
      type: columnType.datetime,
      length: 26,
      decimals: 6,
    });
    expect(mysqlTypeOf({ kind: "timestamp", unit: "ms", zoned: true })).toMatchObject({
      type: columnType.timestamp,
      length: 23,
      decimals: 3,
    });
  });

  it("marks bytes as binary and text as utf8mb4", () => {
    expect(mysqlTypeOf({ kind: "binary" })).toMatchObject({ type: columnType.blob, collation: 63 });
    expect(mysqlTypeOf({ kind: "text" })).toMatchObject({
      type: columnType.varString,
      collation: 255,
    });
  });

  it("sends what MySQL does not have as JSON or text", () => {
    const item = { kind: "text" } as const;
    expect(mysqlTypeOf({ kind: "list", item }).type).toBe(columnType.json);
    expect(mysqlTypeOf({ kind: "struct", fields: [] }).type).toBe(columnType.json);
    expect(mysqlTypeOf({ kind: "map", key: item, value: item }).type).toBe(columnType.json);
    expect(mysqlTypeOf({ kind: "interval" }).type).toBe(columnType.varString);
    expect(mysqlTypeOf({ kind: "uuid" })).toMatchObject({ type: columnType.string, length: 144 });
  });
});

describe("columnDefinition", () => {
  it("says NOT NULL only where the engine promises it", () => {
    expect(columnDefinition(columnOf("a", { kind: "date" })).flags & columnFlag.notNull).toBe(0);
    expect(
      columnDefinition(columnOf("a", { kind: "date" }, false)).flags & columnFlag.notNull,
    ).toBe(1);
  });
});
