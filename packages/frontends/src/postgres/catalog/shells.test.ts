import { columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import { tables } from "../rig/catalog.ts";
import { defaultSchema, fillOf, shellsOf } from "./shells.ts";

const text = { kind: "text" } as const;
const tableOf = (schema: string, name: string, columns: readonly string[] = ["a"]) =>
  ({
    catalog: "c",
    schema,
    name,
    kind: "table",
    columns: columns.map((column) => columnOf(column, text)),
  }) as const;

describe("shellsOf", () => {
  it("makes tables, views and keys with the types the wire has for them", () => {
    const shells = shellsOf(tables, "memory");
    expect(shells.get('"main"."orders"')).toEqual({
      create:
        'CREATE TABLE "main"."orders" ("id" bigint NOT NULL, "customer" integer, "total" numeric(12,2), "at" timestamp with time zone, "tags" text[], "details" json, PRIMARY KEY ("id"), UNIQUE ("customer", "at"))',
      foreign: [
        'ALTER TABLE "main"."orders" ADD FOREIGN KEY ("customer") REFERENCES "main"."customers" ("id")',
      ],
    });
    expect(shells.get('"main"."recent"')?.create).toBe(
      'CREATE VIEW "main"."recent" AS SELECT NULL::integer AS "id"',
    );
    expect([...shells.keys()]).not.toContain('"main"."elsewhere"');
  });

  it("gives texts the length that their engine tells", () => {
    const typed = [
      "varchar(25)",
      "CHAR(3)",
      "character varying(30)",
      "NVARCHAR2 (7)",
      "varchar(2147483646)",
      "varchar(0)",
      "varchar",
      "text",
    ];
    const columns = typed.map((engineType, index) => ({
      ...columnOf(`c${index}`, text),
      engineType,
    }));
    const number = { ...columnOf("n", { kind: "date" } as const), engineType: "varchar(5)" };
    const listed = [{ ...tableOf("s", "t", []), columns: [...columns, number] }];
    expect(shellsOf(listed, "c").get('"s"."t"')?.create).toBe(
      'CREATE TABLE "s"."t" ("c0" varchar(25), "c1" char(3), "c2" varchar(30), "c3" varchar(7), "c4" text, "c5" text, "c6" text, "c7" text, "n" date)',
    );
  });

  it("keeps the names of keys and indexes, and types that only PostgreSQL has", () => {
    const columns = [
      { ...columnOf("a", text), engineType: "numeric" },
      { ...columnOf("b", text), engineType: "inet" },
      { ...columnOf("c", { kind: "list", item: text } as const), engineType: "numeric[]" },
      { ...columnOf("d", text), engineType: "mood" },
    ];
    const listed = [
      {
        ...tableOf("s", "t", []),
        columns,
        keys: [
          { kind: "primary", name: "t_pk", columns: ["a"] },
          { kind: "foreign", name: "t_fk", columns: ["b"], table: "u", tableColumns: ["b"] },
        ],
        indexes: [
          { name: "t_b", unique: false, columns: ["b", "d"] },
          { name: "t_gone", unique: true, columns: ["nowhere"] },
        ],
      } as const,
    ];
    expect(shellsOf(listed, "c").get('"s"."t"')).toEqual({
      create:
        'CREATE TABLE "s"."t" ("a" numeric, "b" inet, "c" numeric[], "d" text, CONSTRAINT "t_pk" PRIMARY KEY ("a"));\nCREATE INDEX "t_b" ON "s"."t" ("b", "d")',
      foreign: [
        'ALTER TABLE "s"."t" ADD CONSTRAINT "t_fk" FOREIGN KEY ("b") REFERENCES "s"."u" ("b")',
      ],
    });
  });

  it("quotes what it is told, and leaves out what PostgreSQL can not hold", () => {
    const listed = [
      tableOf('a"b', 'x"; DROP TABLE y; --', ['c"d', "ctid", "n".repeat(64)]),
      tableOf("pg_catalog", "mine"),
      tableOf("information_schema", "mine"),
      tableOf("a", "é".repeat(32)),
    ];
    const shells = [...shellsOf(listed, "c")];
    expect(shells.map(([name, { create }]) => [name, create])).toEqual([
      [
        '"a""b"."x""; DROP TABLE y; --"',
        'CREATE TABLE "a""b"."x""; DROP TABLE y; --" ("c""d" text)',
      ],
    ]);
  });
});

describe("fillOf", () => {
  it("touches only what changed", () => {
    const before = shellsOf([tableOf("s", "same"), tableOf("s", "gone"), tableOf("s", "new")], "c");
    const after = shellsOf([tableOf("s", "same"), tableOf("s", "new", ["a", "b"])], "c");
    const { before: first, shells } = fillOf(before, after, ["c"]);
    expect(first.filter((sql) => sql.startsWith("DROP"))).toEqual([
      'DROP TABLE IF EXISTS "s"."gone" CASCADE',
      'DROP TABLE IF EXISTS "s"."new" CASCADE',
    ]);
    expect(shells).toEqual(['CREATE TABLE "s"."new" ("a" text, "b" text)']);
  });
});

describe("defaultSchema", () => {
  it("is the only schema, or one that is an engine's default by custom", () => {
    expect(defaultSchema([tableOf("sales", "t")], "c")).toBe("sales");
    expect(defaultSchema([tableOf("a", "t"), tableOf("main", "t")], "c")).toBe("main");
    expect(defaultSchema([tableOf("a", "t"), tableOf("b", "t")], "c")).toBeUndefined();
  });
});
