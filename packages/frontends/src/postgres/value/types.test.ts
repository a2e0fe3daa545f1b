import type { DataType } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import { columnShape, parameterShape, pgTypes } from "./types.ts";

const text: DataType = { kind: "text" };
const int32: DataType = { kind: "integer", bits: 32, signed: true };

describe("columnShape", () => {
  it.each<[DataType, number, number]>([
    [{ kind: "null" }, 25, -1],
    [{ kind: "boolean" }, 16, 1],
    [{ kind: "integer", bits: 8, signed: true }, 21, 2],
    [{ kind: "integer", bits: 16, signed: true }, 21, 2],
    [int32, 23, 4],
    [{ kind: "integer", bits: 64, signed: true }, 20, 8],
    [{ kind: "integer", bits: 128, signed: true }, 1700, -1],
    [{ kind: "integer", bits: 8, signed: false }, 21, 2],
    [{ kind: "integer", bits: 16, signed: false }, 23, 4],
    [{ kind: "integer", bits: 32, signed: false }, 20, 8],
    [{ kind: "integer", bits: 64, signed: false }, 1700, -1],
    [{ kind: "integer", bits: 128, signed: false }, 1700, -1],
    [{ kind: "float", bits: 32 }, 700, 4],
    [{ kind: "float", bits: 64 }, 701, 8],
    [{ kind: "decimal", precision: 12, scale: 2 }, 1700, -1],
    [text, 25, -1],
    [{ kind: "binary" }, 17, -1],
    [{ kind: "date" }, 1082, 4],
    [{ kind: "time", unit: "us" }, 1083, 8],
    [{ kind: "timestamp", unit: "ns", zoned: false }, 1114, 8],
    [{ kind: "timestamp", unit: "us", zoned: true }, 1184, 8],
    [{ kind: "interval" }, 1186, 16],
    [{ kind: "uuid" }, 2950, 16],
    [{ kind: "json" }, 114, -1],
    [{ kind: "list", item: int32 }, 1007, -1],
    [{ kind: "list", item: { kind: "json" } }, 199, -1],
    [{ kind: "list", item: { kind: "list", item: int32 } }, 114, -1],
    [{ kind: "list", item: { kind: "struct", fields: [] } }, 114, -1],
    [{ kind: "struct", fields: [{ name: "a", type: int32 }] }, 114, -1],
    [{ kind: "map", key: text, value: int32 }, 114, -1],
  ])("announces %j as type %i of size %i", (type, oid, size) => {
    expect(columnShape(type)).toMatchObject({ oid, size });
  });

  it("carries precision and scale in the modifier, as PostgreSQL packs them", () => {
    expect(columnShape({ kind: "decimal", precision: 12, scale: 2 }).modifier).toBe(0xc0006);
    expect(columnShape({ kind: "timestamp", unit: "ms", zoned: true }).modifier).toBe(3);
    expect(columnShape({ kind: "time", unit: "s" }).modifier).toBe(0);
    expect(columnShape({ kind: "timestamp", unit: "us", zoned: true }).modifier).toBe(-1);
    expect(columnShape(text).modifier).toBe(-1);
  });
});

describe("parameterShape", () => {
  it("knows every type of the table and its array", () => {
    for (const [scalar, { oid, array }] of Object.entries(pgTypes)) {
      expect(parameterShape(oid)).toMatchObject({ scalar, array: false });
      expect(parameterShape(array)).toMatchObject({ scalar, array: true, type: { kind: "list" } });
    }
  });

  it("does not guess at a type it does not know", () => {
    expect(parameterShape(600)).toBeUndefined();
    expect(parameterShape(0)).toBeUndefined();
  });
});
