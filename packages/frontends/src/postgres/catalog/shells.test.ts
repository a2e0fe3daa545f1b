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
