import { describe, expect, it } from "vitest";
import type { Catalog, CatalogAnswer } from "@gateway/core/port/sql/catalog.ts";
import type { Policy, PolicyQuestion } from "@gateway/core/port/sql/policy.ts";
import { controlOf } from "../rig/control.ts";

const columns = ["id", "Region", "email"];

function catalogOf(more: Readonly<Record<string, CatalogAnswer>> = {}, says?: CatalogAnswer) {
  const asked: string[] = [];
  const known: Readonly<Record<string, CatalogAnswer>> = {
    "main.orders": { kind: "known", isView: false, columns },
    "main.recent": { kind: "known", isView: true, columns },
    ...more,
  };
  const catalog: Catalog = {
    nameParts: 2,
    table: (table) => {
      asked.push(table.join("."));
      return says ?? known[table.join(".")] ?? { kind: "unknown" };
    },
  };
  return { catalog, asked };
}

const masks = [
  { name: "masked", tables: ["main.*"], masks: { EMAIL: "'***'" }, rowFilter: "id > 0" },
];
const open = [
  { name: "all", tables: ["main.*"], actions: ["select", "insert", "ddl"] },
  { name: "none", tables: ["closed.*"], effect: "deny" },
];

describe("masks without a list of columns", () => {
  const shown =
    "(SELECT id, Region, ('***') AS email FROM (SELECT * FROM main.orders WHERE (id > 0)) AS gateway_rows)";

  it("show every column that the catalog knows, and no other", async () => {
    const judge = controlOf({ rules: masks }, catalogOf());
    expect(await judge("SELECT * FROM orders")).toBe(`SELECT * FROM ${shown} AS orders`);
  });

  it.each<[string, Parameters<typeof catalogOf>[1]]>([
    ["does not know the table", { kind: "unknown" }],
    ["knows no such column", { kind: "known", isView: false, columns: ["id"] }],
  ])("deny where the catalog %s", async (_what, says) => {
    const judge = controlOf({ rules: masks }, catalogOf({}, says));
    expect(await judge("SELECT * FROM orders")).toContain("is not allowed");
  });

  it("deny without a catalog, and wait for one that is not there", async () => {
    expect(await controlOf({ rules: masks })("SELECT 1 FROM orders")).toContain("is not allowed");
    const judge = controlOf({ rules: masks }, catalogOf({}, { kind: "unavailable" }));
    expect(await judge("SELECT 1 FROM orders")).not.toContain("is not allowed");
    expect(await judge("SELECT 1 FROM orders")).toContain("denied: ");
  });
});

describe("views: deny", () => {
  const config = { rules: open, views: "deny" };

  it.each([
    ["SELECT id FROM orders", "SELECT id FROM main.orders"],
    [
      "CREATE TABLE notes AS SELECT id FROM orders",
      "CREATE TABLE main.notes AS SELECT id FROM main.orders",
    ],
  ])("lets pass what the catalog knows as a table: %s", async (sql, runs) => {
    expect(await controlOf(config, catalogOf())(sql)).toBe(runs);
  });

  it.each([
    "SELECT id FROM recent",
    "SELECT id FROM orders WHERE id IN (SELECT id FROM recent)",
    "SELECT id FROM nobody_knows",
    "INSERT INTO recent SELECT id FROM orders",
  ])("refuses %s", async (sql) => {
    expect(await controlOf(config, catalogOf())(sql)).toContain("is not allowed");
  });

  it("asks the catalog about nothing that a rule denies", async () => {
    const { catalog, asked } = catalogOf();
    await controlOf(config, { catalog })("SELECT id FROM closed.books");
    expect(asked).toEqual([]);
  });
});

describe("what a catalog said", () => {
  it("counts until it is too old", async () => {
    let nowMs = 0;
    const answers: CatalogAnswer[] = [
      { kind: "known", isView: false, columns, untilMs: 5 },
      { kind: "known", isView: false, columns: [...columns, "added"], untilMs: 10 },
    ];
    const catalog: Catalog = {
      nameParts: 1,
      table: () => answers.shift() ?? { kind: "unavailable" },
    };
    const judge = controlOf({ rules: masks }, { catalog, nowMs: () => nowMs });
    const sql = "SELECT * FROM orders";
    expect(await judge(sql)).not.toContain("added");
    nowMs = 4;
    expect(await judge(sql)).not.toContain("added");
    nowMs = 5;
    expect(await judge(sql)).toContain("added");
    nowMs = 10;
    expect(await judge(sql)).toContain("denied: ");
  });

  it("tells a policy whose column a name is", async () => {
    const asked: PolicyQuestion[] = [];
    const policy: Policy = {
      wantsColumns: true,
      audience: () => "",
      decide: (question) => {
        asked.push(question);
        return { kind: "allow", rule: "all", view: undefined };
      },
    };
    const { catalog } = catalogOf({
      "main.items": { kind: "known", isView: false, columns: ["order_id", "label"] },
    });
    const judge = controlOf({ rules: open }, { policy, catalog });
    await judge("SELECT email, label FROM orders o JOIN items i ON o.id = order_id");
    await judge("SELECT * FROM items");
    await judge("SELECT email FROM unknown u, orders o");
    const none = { unresolved: [], prefixes: [], all: false };
    expect(asked.map((one) => one.columns)).toEqual([
      { ...none, named: ["email", "id"] },
      { ...none, named: ["label", "order_id"] },
      { ...none, named: ["label", "order_id"], all: true },
      { ...none, named: [], unresolved: ["email"] },
      { ...none, named: ["email"] },
    ]);
  });
});
