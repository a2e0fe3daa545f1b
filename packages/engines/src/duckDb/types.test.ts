/** Every type DuckDB has, from its own list of smallest and largest values, and the names of types. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";
import { typeName } from "@gateway/core/type/name.ts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeOf, hostOf, ran, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { duckDbConfig } from "./config.ts";
import { textOf } from "./listing.ts";
import { engineTypeOf, typeOfName } from "./types.ts";

let backend: Backend;
beforeAll(async () => {
  const config = duckDbConfig.parse({ engine: "duckDb", threads: 1 });
  backend = valueOf(await open("types", config, hostOf()));
});
afterAll(() => backend[Symbol.asyncDispose]());

const days = 86_400n;

/** Column of `test_all_types()`: its neutral type, then its smallest and largest value. */
const extremes: Readonly<Record<string, readonly [type: string, least: Value, most: Value]>> = {
  bool: ["boolean", false, true],
  tinyint: ["int8", -128n, 127n],
  smallint: ["int16", -32_768n, 32_767n],
  int: ["int32", -(2n ** 31n), 2n ** 31n - 1n],
  bigint: ["int64", -(2n ** 63n), 2n ** 63n - 1n],
  hugeint: ["int128", -(2n ** 127n), 2n ** 127n - 1n],
  uhugeint: ["uint128", 0n, 2n ** 128n - 1n],
  utinyint: ["uint8", 0n, 255n],
  usmallint: ["uint16", 0n, 65_535n],
  uint: ["uint32", 0n, 2n ** 32n - 1n],
  ubigint: ["uint64", 0n, 2n ** 64n - 1n],
  date: ["date", -2_147_483_646n, 2_147_483_646n],
  time: ["time(6)", 0n, days * 1_000_000n],
  time_ns: ["time(9)", 0n, days * 1_000_000_000n],
  timestamp: ["timestamp(6)", -9_223_372_022_400_000_000n, 2n ** 63n - 2n],
  timestamp_s: ["timestamp(0)", -9_223_372_022_400n, 9_223_372_036_854n],
  timestamp_ms: ["timestamp(3)", -9_223_372_022_400_000n, 9_223_372_036_854_775n],
  timestamp_ns: ["timestamp(9)", -9_223_286_400_000_000_000n, 2n ** 63n - 2n],
  timestamp_tz: ["timestamp(6) zoned", -9_223_372_022_400_000_000n, 2n ** 63n - 2n],
  time_tz: ["text", "00:00:00+15:59:59", "24:00:00-15:59:59"],
  double: ["float64", -Number.MAX_VALUE, Number.MAX_VALUE],
  dec_4_1: ["decimal(4,1)", -9_999n, 9_999n],
  dec_9_4: ["decimal(9,4)", -999_999_999n, 999_999_999n],
  dec_18_6: ["decimal(18,6)", -(10n ** 18n) + 1n, 10n ** 18n - 1n],
  dec38_10: ["decimal(38,10)", -(10n ** 38n) + 1n, 10n ** 38n - 1n],
  uuid: ["uuid", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
  interval: [
    "interval",
    { months: 0, days: 0, nanoseconds: 0n },
    { months: 999, days: 999, nanoseconds: 999_999_999_000n },
  ],
  varchar: ["text", "🦆🦆🦆🦆🦆🦆", "goo\0se"],
  bit: ["text", "0010001001011100010101011010111", "10101"],
  small_enum: ["text", "DUCK_DUCK_ENUM", "GOOSE"],
  medium_enum: ["text", "enum_0", "enum_299"],
  large_enum: ["text", "enum_0", "enum_69999"],
  int_array: ["list(int32)", [], [42n, 999n, null, null, -42n]],
  double_array: ["list(float64)", [], [42, Number.NaN, Infinity, -Infinity, null, -42]],
  nested_int_array: [
    "list(list(int32))",
    [],
    [[], [42n, 999n, null, null, -42n], null, [], [42n, 999n, null, null, -42n]],
  ],
  struct_of_arrays: [
    'struct("a" list(int32), "b" list(text))',
    [null, null],
    [
      [42n, 999n, null, null, -42n],
      ["🦆🦆🦆🦆🦆🦆", "goose", null, ""],
    ],
  ],
  map: [
    "map(text, text)",
    [],
    [
      ["key1", "🦆🦆🦆🦆🦆🦆"],
      ["key2", "goose"],
    ],
  ],
  union: [
    'struct("tag" text, "name" text, "age" int16)',
    ["name", "Frank", null],
    ["age", null, 5n],
  ],
  fixed_int_array: ["list(int32)", [null, 2n, 3n], [4n, 5n, 6n]],
  fixed_nested_int_array: [
    "list(list(int32))",
    [[null, 2n, 3n], null, [null, 2n, 3n]],
    [
      [4n, 5n, 6n],
      [null, 2n, 3n],
      [4n, 5n, 6n],
    ],
  ],
};

describe("a value of DuckDB", () => {
  for (const [column, [type, least, most]] of Object.entries(extremes)) {
    it(`keeps every digit as ${column}`, async () => {
      const { columns, rows } = await ran(backend, `select "${column}" from test_all_types()`);
      expect(columns.map((one) => typeName(one.type))).toEqual([type]);
      expect(rows.slice(0, 2)).toEqual([[least], [most]]);
    });
  }

  it("keeps integers of any size as text", async () => {
    const { rows } = await ran(
      backend,
      "select bignum, bignum::varchar from test_all_types() where bignum is not null",
    );
    expect(rows.length).toBe(2);
    for (const [value, text] of rows) expect(value).toBe(text);
    const small = await ran(
      backend,
      "select '-255'::bignum, 0::bignum, '-12345678901234567890'::bignum",
    );
    expect(small.rows).toEqual([["-255", "0", "-12345678901234567890"]]);
  });

  it("keeps bits and times with an offset as DuckDB writes them", async () => {
    const sql = `select b::bit, b::bit::varchar, t::timetz, t::timetz::varchar
      from (values ('1', '00:00:00+00'), ('0000000', '23:59:59.5-03:30'), ('101010101', '12:00:00.000001+15:59:59')) v(b, t)`;
    const { rows } = await ran(backend, sql);
    expect(rows).toHaveLength(3);
    for (const [bit, bitText, time, timeText] of rows)
      expect([bit, time]).toEqual([bitText, timeText]);
  });

  it("is NULL in every type where DuckDB says so", async () => {
    const names = Object.keys(extremes).map((name) => `"${name}"`);
    const { rows } = await ran(
      backend,
      `select ${names.join(", ")} from test_all_types() where bool is null`,
    );
    expect(rows[0]?.filter((value) => value !== null)).toEqual([]);
  });

  it("of a type that Arrow has no layout for is refused by name", async () => {
    expect(codeOf(await ran(backend, "select 1::variant"))).toBe("query.unsupported");
  });
});

describe("engineTypeOf", () => {
  it("calls the column of a result what DuckDB's own DESCRIBE calls it", async () => {
    const { rows } = await ran(
      backend,
      "select column_name, column_type from (describe from test_all_types())",
    );
    const { columns } = await ran(backend, "select * from test_all_types()");
    const simple = rows.filter(([, type]) => !/ENUM|\[\d+\]/.test(textOf(type)));
    expect(simple.length).toBeGreaterThan(35);
    for (const [name, type] of simple) {
      // DuckDB quotes names of fields that are keywords, which differ between versions.
      const ours = columns.find((column) => column.name === name)?.engineType?.replaceAll('"', "");
      expect([name, ours]).toEqual([name, textOf(type).replaceAll('"', "")]);
    }
  });
});

describe("typeOfName", () => {
  it("understands every name in DuckDB's catalog", async () => {
    const { rows } = await ran(
      backend,
      "select column_name, column_type from (describe from test_all_types())",
    );
    const { columns } = await ran(backend, "select * from test_all_types()");
    for (const [name, type] of rows) {
      const column = columns.find((one) => one.name === name);
      expect([name, typeName(typeOfName(textOf(type)))]).toEqual([
        name,
        column && typeName(column.type),
      ]);
    }
  });

  it("takes quoted names, brackets in names and values, and unknown types", () => {
    expect(typeOfName('STRUCT("a b" INTEGER, "q""(),[" MAP(VARCHAR, DECIMAL(4,2)[]))')).toEqual({
      kind: "struct",
      fields: [
        { name: "a b", type: { kind: "integer", bits: 32, signed: true } },
        {
          name: 'q"(),[',
          type: {
            kind: "map",
            key: { kind: "text" },
            value: { kind: "list", item: { kind: "decimal", precision: 4, scale: 2 } },
          },
        },
      ],
    });
    expect(typeOfName("ENUM('it''s', ')', '(')[]")).toEqual({
      kind: "list",
      item: { kind: "text" },
    });
    for (const name of [
      "",
      "NOVELTY",
      "STRUCT(",
      "MAP(INTEGER)",
      "INTEGER[",
      "STRUCT(a INTEGER",
      "DECIMAL()",
    ]) {
      expect(typeOfName(name)).toEqual({ kind: "text" });
    }
  });

  it("reads back every name that engineTypeOf writes", () => {
    const leaf = fc.constantFrom<DataType>(
      { kind: "boolean" },
      { kind: "integer", bits: 128, signed: false },
      { kind: "decimal", precision: 12, scale: 3 },
      { kind: "timestamp", unit: "us", zoned: true },
      { kind: "text" },
      { kind: "uuid" },
    );
    const { type } = fc.letrec<{ type: DataType }>((tie) => ({
      type: fc.oneof(
        { maxDepth: 4 },
        leaf,
        tie("type").map((item): DataType => ({ kind: "list", item })),
        fc
          .tuple(tie("type"), tie("type"))
          .map(([key, value]): DataType => ({ kind: "map", key, value })),
        fc
          .array(fc.record({ name: fc.string({ minLength: 1 }), type: tie("type") }), {
            minLength: 1,
            maxLength: 3,
          })
          .map((fields): DataType => ({ kind: "struct", fields })),
      ),
    }));
    fc.assert(
      fc.property(type, (one) => {
        expect(typeOfName(engineTypeOf(one))).toEqual(one);
      }),
    );
  });
});
