import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Policy, PolicyQuestion } from "@gateway/core/port/sql/policy.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { controlOf } from "../rig/control.ts";
import { parsedOf } from "./parsed.ts";
import { readNodesOf } from "./read.ts";

/** As `orders: id, email`; `?` stands before what is not resolved, `.` before a prefix, `*` for whole rows. */
function touchedBy(sql: string, dialect: Dialect = "duckdb"): readonly string[] | string {
  const reading = readNodesOf(parsedOf(sql, dialect), { sql, functions: [], columns: true });
  if (!reading.understood) return reading.reason;
  return reading.tables.map(({ path, columns }) => {
    const { named = [], unresolved = [], prefixes = [], all = false } = columns ?? {};
    const words = [...named, ...unresolved.map((name) => `?${name}`)];
    words.push(...prefixes.map((name) => `.${name}`), ...(all ? ["*"] : []));
    return `${path.at(-1)?.name}: ${words.join(" ")}`.trim();
  });
}

describe("columns that a statement touches", () => {
  it.each([
    ["SELECT id, EMAIL FROM orders WHERE amount > 1 ORDER BY region", "amount email id region"],
    ["SELECT o.id, orders.email FROM sales.orders o", "email id"],
    ["SELECT sales.orders.email FROM sales.orders", "email .sales"],
    ["SELECT count(*) FROM orders", ""],
    ["SELECT count(*) FILTER (WHERE email = 'x') FROM orders", "email"],
    ["SELECT sum(amount) OVER w FROM orders WINDOW w AS (PARTITION BY email)", "amount email"],
    ["SELECT address.city, (o.address).zip, o.tags['k'] FROM orders o", "address tags"],
    ["SELECT list_transform(tags, x -> x || email) FROM orders", "email tags ?x"],
    ["SELECT amount AS total FROM orders ORDER BY total", "amount ?total"],
    ["SELECT amount AS email FROM orders WHERE email = 'x'", "amount ?email"],
    [
      "SELECT CASE WHEN email LIKE 'a%' THEN 1 END, struct_pack(a := region) FROM orders",
      "email region",
    ],
    ["SELECT id FROM orders GROUP BY ALL HAVING max(email) > 'a'", "email id"],
    ["SELECT 1 FROM orders QUALIFY row_number() OVER (ORDER BY email) = 1", "email"],
    ["SELECT 1 FROM orders LIMIT 1", ""],
    ["(SELECT id FROM orders) ORDER BY email", "id ?email"],
    ["SELECT s.id FROM (SELECT id, email FROM orders) s", "email id"],
    ["WITH w AS (SELECT id FROM orders) SELECT w.id, id FROM w", "id"],
    ["WITH w(a) AS (SELECT email FROM orders) SELECT a FROM w", "email"],
    ["SELECT (SELECT email) FROM orders", "email"],
    ["SELECT 1 FROM orders WHERE EXISTS (SELECT 1 WHERE email = 'x')", "email"],
    ["SELECT x FROM orders, unnest(orders.tags) AS u(x)", "tags ?x"],
  ])("%s touches of one table: %s", (sql, columns) => {
    expect(touchedBy(sql)).toEqual([`orders: ${columns}`.trim()]);
  });

  it.each([
    "SELECT * FROM orders",
    "FROM orders",
    "SELECT o.* FROM orders o",
    "SELECT count(o.*) FROM orders o",
    "SELECT orders FROM orders",
    "SELECT to_json(o) FROM orders o",
    "SELECT (o).email FROM orders o JOIN LATERAL (SELECT o) p ON true",
    "SELECT a FROM orders AS o(a, b)",
    "SELECT * EXCLUDE (email) FROM orders",
    "SELECT * FROM (SELECT * FROM orders) s",
    "SELECT id FROM orders WHERE EXISTS (SELECT * FROM orders p)",
  ])("%s touches whole rows", (sql) => {
    expect(touchedBy(sql)).toContainEqual(expect.stringMatching(/^orders:.*\*$/));
  });

  it.each([
    [
      "SELECT o.email, label FROM orders o JOIN items i ON o.id = i.order_id",
      ["orders: email id ?label .i", "items: order_id ?label .o"],
    ],
    ["SELECT 1 FROM orders JOIN items USING (id)", ["orders: id", "items: id"]],
    ["SELECT 1 FROM orders NATURAL JOIN items", ["orders: *", "items: *"]],
    ["SELECT o.* FROM orders o, items i", ["orders: *", "items:"]],
    [
      "SELECT 1 FROM (orders o JOIN items i ON o.id = i.id) AS j WHERE j.email = 'x'",
      ["orders: id ?email .i", "items: id ?email .o"],
    ],
    // An inner name that its own tables do not have is the outer one's.
    [
      "SELECT id FROM orders WHERE id IN (SELECT order_id FROM items WHERE email = 'x')",
      ["orders: id ?email ?order_id", "items: ?email ?order_id"],
    ],
    [
      "SELECT id FROM orders UNION SELECT label FROM items ORDER BY email",
      ["orders: id ?email", "items: label ?email"],
    ],
    // One name for two tables.
    [
      "SELECT x.email FROM orders x WHERE EXISTS (SELECT x.label FROM items x)",
      ["orders: ?email ?label", "items: ?email ?label"],
    ],
    // Where the part has no such column, an engine takes a field of the column email.
    ["SELECT email.x FROM orders o, (SELECT 1 AS y) email", ["orders: .email"]],
    ["SELECT email.x FROM orders o, items email", ["orders: .email", "items: x"]],
    [
      "INSERT INTO notes (id, text) SELECT id, email FROM orders",
      ["notes: id text", "orders: email id"],
    ],
    ["INSERT INTO notes SELECT id FROM orders", ["notes: *", "orders: id"]],
    ["INSERT INTO notes (id) VALUES (1) RETURNING text", ["notes: id text"]],
    ["UPDATE items SET label = 'x' WHERE id = 1 RETURNING price", ["items: id label price"]],
    [
      "UPDATE items SET label = o.email FROM orders o WHERE o.id = items.id",
      ["items: id label .o", "orders: email id .items"],
    ],
    ["DELETE FROM items WHERE id = 3", ["items: id *"]],
    ["CREATE TABLE notes AS SELECT email FROM orders", ["notes: *", "orders: email"]],
    ["DROP TABLE items", ["items: *"]],
  ])("%s touches of each table what may be its own", (sql, tables) => {
    expect(touchedBy(sql)).toEqual(tables);
  });

  it("reads names in quotes, and what they hold behind a dot", () => {
    expect(touchedBy('SELECT "EMAIL" FROM orders', "postgres")).toEqual(["orders: email"]);
    expect(touchedBy("SELECT `email.size0` FROM orders", "clickhouse")).toEqual([
      "orders: email email.size0",
    ]);
    expect(
      touchedBy("SELECT id FROM orders PREWHERE email = 'x' LIMIT 1 BY region", "clickhouse"),
    ).toEqual(["orders: email id region"]);
    expect(touchedBy("SELECT id FROM orders ARRAY JOIN tags AS t", "clickhouse")).toEqual([
      "orders: ?id ?tags",
    ]);
  });
});

describe("docs/access-control.md", () => {
  const text = readFileSync(new URL("../../../../docs/access-control.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| `(.+?)` +\| `(\{"named".+?\})` +\|$/gm)];

  it("shows what is told of orders", () => {
    expect(rows).toHaveLength(4);
    for (const [, sql = "", told = ""] of rows) {
      const reading = readNodesOf(parsedOf(sql, "generic"), { sql, functions: [], columns: true });
      const [orders] = reading.understood ? reading.tables : [];
      expect([sql, JSON.stringify(orders?.columns)]).toEqual([sql, told]);
    }
  });
});

describe("a policy that wants columns", () => {
  it("is asked with those of each place, and one that does not want them without", async () => {
    const asked: PolicyQuestion[] = [];
    const policyOf = (wantsColumns: boolean): Policy => ({
      wantsColumns,
      audience: () => "",
      decide: (question) => {
        asked.push(question);
        const { named = [], unresolved = [], all = false } = question.columns ?? {};
        const isHidden = all || [...named, ...unresolved].includes("email");
        return isHidden
          ? { kind: "deny", rule: "hidden" }
          : { kind: "allow", rule: "open", view: undefined };
      },
    });
    const config = { rules: [{ name: "none", tables: ["*"] }] };
    const judge = controlOf(config, { policy: policyOf(true) });
    expect(await judge("SELECT o.id FROM orders o, orders p WHERE p.amount > 1")).toBe(
      "SELECT o.id FROM orders o, orders p WHERE p.amount > 1",
    );
    expect(asked.map(({ columns }) => columns?.named)).toEqual([["id"], ["amount"]]);
    for (const sql of [
      "SELECT * FROM orders",
      "SELECT id FROM orders WHERE email = 'x'",
      "UPDATE orders SET email = 'x' WHERE id = 1",
      "INSERT INTO orders SELECT id FROM items",
    ]) {
      expect(await judge(sql)).toContain("denied");
    }
    asked.length = 0;
    await controlOf(config, { policy: policyOf(false) })("SELECT email FROM orders");
    expect(asked.map(({ columns }) => columns)).toEqual([undefined]);
  });
});
