import type { TableListing } from "@gateway/core/port/backend.ts";
import type { DataType } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import type { LocalAnswer } from "./answer.ts";
import type { Row } from "./filter.ts";
import { answerOf, clientOf, errnoOf, tableOf } from "../rig/local.ts";
import { columnTypeOf, columnTypeText } from "./typeText.ts";

const columns: readonly Row[] = [
  ["id", "INTEGER", "NO", null],
  ["a`b", "VARCHAR", "YES", "'it''s'"],
  ["at", "TIMESTAMP WITH TIME ZONE", "YES", "now()"],
];
const keys: readonly Row[] = [
  ["PRIMARY KEY", "t_id_pkey", "id"],
  ["UNIQUE", "u", "id"],
  ["UNIQUE", "u", "a`b"],
];

describe("questions about one table", () => {
  it("are put with every name as a parameter, however the table is named", () => {
    const described = parametersOf("DESC s.t");
    expect(described).toEqual(["lake", "s", "t"]);
    for (const sql of [
      "SHOW COLUMNS FROM t FROM s",
      "SHOW FIELDS IN s.t",
      "SHOW FULL COLUMNS FROM `s`.`t` LIKE 'a%'",
      "SHOW KEYS FROM `s`.``.`t`",
      "SHOW INDEX FROM t IN s WHERE Key_name = 'PRIMARY'",
      "SHOW CREATE TABLE s.t",
    ]) {
      expect([sql, parametersOf(sql)]).toEqual([sql, described]);
    }
    expect(parametersOf("SHOW COLUMNS FROM t")).toEqual(["lake", "t"]);
    expect(parametersOf("DESCRIBE t", "d")).toEqual(["lake", "d", "t"]);
    expect(answerOf("DESC select 1")).toBeUndefined();
  });

  it("are refused when they can not be read", () => {
    for (const sql of [
      "SHOW COLUMNS",
      "SHOW KEYS FROM",
      "SHOW CREATE TABLE a.b.c",
      "SHOW INDEX FROM t x",
    ]) {
      expect([sql, errnoOf(sql)]).toEqual([sql, 1064]);
    }
  });

  it("find no table without columns", () => {
    const answer = finished("SHOW COLUMNS FROM s.t", []);
    expect(answer.kind === "error" && answer.reply).toMatchObject({
      errno: 1146,
      message: "Table 's.t' doesn't exist",
    });
  });

  it("are answered without keys where the engine lists none", () => {
    expect(rowsFor("DESC s.t", null)).toEqual([
      ["id", "int", "NO", "", null, ""],
      ["a`b", "text", "YES", "", "it's", ""],
      ["at", "timestamp(6)", "YES", "", null, ""],
    ]);
    expect(rowsFor("SHOW KEYS FROM t", null)).toEqual([]);
  });

  it("say which columns are keys, in their order", () => {
    expect(rowsFor("SHOW FULL COLUMNS FROM t WHERE Field = 'a`b'")).toEqual([
      ["a`b", "text", "utf8mb4_0900_ai_ci", "YES", "UNI", "it's", "", "select", ""],
    ]);
    const places = rowsFor("SHOW KEYS FROM t").map((row) => row.slice(2, 5));
    expect(places).toEqual([
      ["PRIMARY", "1", "id"],
      ["u", "1", "id"],
      ["u", "2", "a`b"],
    ]);
  });

  it("show a text that tools can read as a MySQL server's", () => {
    expect(rowsFor("SHOW CREATE TABLE t")).toEqual([
      [
        "t",
        [
          "CREATE TABLE `t` (",
          "  `id` int NOT NULL,",
          "  `a``b` text DEFAULT 'it''s',",
          "  `at` timestamp(6) DEFAULT NULL,",
          "  PRIMARY KEY (`id`),",
          "  UNIQUE KEY `u` (`id`,`a``b`)",
          ") ENGINE=Gateway DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci",
        ].join("\n"),
      ],
    ]);
  });
});

describe("questions about one table of an engine without information_schema", () => {
  const tables = [
    tableOf("t", {
      columns: [
        { name: "id", type: { kind: "integer", bits: 64, signed: true }, nullable: false },
        { name: "label", type: { kind: "text" }, nullable: true },
      ],
      keys: [
        { kind: "primary", columns: ["id"] },
        { kind: "unique", columns: ["label", "id"] },
        { kind: "foreign", columns: ["id"], table: "u", tableColumns: ["id"] },
      ],
    }),
    tableOf("bare"),
  ];

  it("are answered out of what the door lists, keys among it", () => {
    expect(listedFor("DESC s.t", tables)).toMatchObject({
      rows: [
        ["id", "bigint", "NO", "PRI", null, ""],
        ["label", "text", "YES", "UNI", null, ""],
      ],
    });
    expect(listedFor("SHOW COLUMNS FROM t FROM s LIKE 'l%'", tables)).toMatchObject({
      rows: [["label", "text", "YES", "UNI", null, ""]],
    });
    const keysOf = listedFor("SHOW KEYS FROM s.t WHERE Key_name <> 'PRIMARY'", tables);
    const places = keysOf.kind === "rows" ? keysOf.rows.map((row) => row.slice(2, 5)) : keysOf;
    expect(places).toEqual([
      ["label_id", "1", "label"],
      ["label_id", "2", "id"],
    ]);
  });

  it("find a table whose columns nobody lists, and no other", () => {
    expect(listedFor("DESC s.bare", tables)).toMatchObject({ kind: "rows", rows: [] });
    expect(listedFor("DESC s.missing", tables)).toMatchObject({ reply: { errno: 1146 } });
  });
});

describe("columnTypeOf", () => {
  it("says of a neutral type what a value of it is sent as", () => {
    const integer = (bits: 8 | 64 | 128, signed: boolean) =>
      ({ kind: "integer", bits, signed }) as const;
    const cases: readonly (readonly [DataType, string])[] = [
      [{ kind: "boolean" }, "tinyint(1)"],
      [integer(8, false), "tinyint unsigned"],
      [integer(64, true), "bigint"],
      [integer(128, false), "decimal(39,0)"],
      [{ kind: "float", bits: 32 }, "float"],
      [{ kind: "decimal", precision: 12, scale: 2 }, "decimal(12,2)"],
      [{ kind: "time", unit: "us" }, "time(6)"],
      [{ kind: "timestamp", unit: "ns", zoned: false }, "varchar(29)"],
      [{ kind: "timestamp", unit: "us", zoned: true }, "timestamp(6)"],
      [{ kind: "timestamp", unit: "us", zoned: false }, "datetime(6)"],
      [{ kind: "list", item: { kind: "text" } }, "json"],
    ];
    for (const [type, wanted] of cases) expect([type, columnTypeOf(type)]).toEqual([type, wanted]);
  });
});

describe("columnTypeText", () => {
  it("knows the names of several engines", () => {
    const cases = [
      ["BOOLEAN", "tinyint(1)"],
      ["boolean", "tinyint(1)"],
      ["UBIGINT", "bigint unsigned"],
      ["HUGEINT", "decimal(39,0)"],
      ["DECIMAL(18,3)", "decimal(18,3)"],
      ["decimal(12, 2)", "decimal(12, 2)"],
      ["varchar(20)", "varchar(20)"],
      ["timestamp(3)", "datetime(6)"],
      ["timestamp(3) with time zone", "timestamp(6)"],
      ["TIMESTAMP_NS", "varchar(29)"],
      ["time(6)", "time(6)"],
      ["INTERVAL", "varchar(255)"],
      ["integer", "int"],
      ["INTEGER[]", "json"],
      ["row(a integer)", "json"],
      ["UUID", "char(36)"],
      ["something", "text"],
    ];
    for (const [engine = "", wanted] of cases) {
      expect([engine, columnTypeText(engine)]).toEqual([engine, wanted]);
    }
  });
});

function listedFor(sql: string, tables: readonly TableListing[]): LocalAnswer {
  const answer = answerOf(sql);
  const listed = answer?.kind === "asked" ? answer.listed?.(tables) : undefined;
  if (listed === undefined) throw new Error(`${sql}: ${answer?.kind ?? "not answered"}`);
  return listed;
}

function parametersOf(sql: string, schema?: string): readonly unknown[] {
  const answer = answerOf(sql, clientOf({}, schema));
  if (answer?.kind !== "asked") throw new Error(`${sql}: ${answer?.kind ?? "not answered"}`);
  return answer.parameters.map(({ value }) => value);
}

/** The answer in the end; without keys the engine refuses that question. */
function finished(sql: string, found: readonly Row[], keyRows?: readonly Row[]): LocalAnswer {
  const first = answerOf(sql);
  if (first?.kind !== "asked") throw new Error(sql);
  const second = first.make(found);
  if (second.kind !== "asked") return second;
  const last = keyRows === undefined ? second.orElse?.() : second.make(keyRows);
  if (last === undefined) throw new Error("no answer without keys");
  return last;
}

function rowsFor(sql: string, keyRows: readonly Row[] | null = keys) {
  const answer = finished(sql, columns, keyRows ?? undefined);
  if (answer.kind !== "rows") throw new Error(answer.kind);
  return answer.rows;
}
