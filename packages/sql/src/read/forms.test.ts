import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formOf } from "@gateway/core/police/known/form.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { controlOf, parserHere } from "../rig/control.ts";

const config = {
  rules: [
    {
      name: "own",
      tables: ["main.orders"],
      rowFilter: "region = ${user} AND id > 5",
      columns: ["id", "region", "email"],
      masks: { email: "'***'" },
    },
    { name: "items", tables: ["main.items"], actions: ["select", "insert", "update"] },
  ],
};
const dialects: readonly Dialect[] = ["duckdb", "postgres", "mysql", "trino", "clickhouse"];

/** `ACCESS_QUERIES` asks for more, at night. */
describe("access control of a text whose form is known", () => {
  it("answers what it answers without having seen any", async () => {
    await fc.assert(
      fc.asyncProperty(
        shapes,
        values,
        values,
        fc.constantFrom(...dialects),
        async (shape, one, other, dialect) => {
          const remembering = controlOf(config);
          const caller = { dialect, user: "EU" };
          for (const given of [one, other]) {
            const sql = shape(given);
            expect(await remembering(sql, caller)).toBe(await controlOf(config)(sql, caller));
          }
        },
      ),
      { numRuns: Number(process.env["ACCESS_QUERIES"] ?? 40) },
    );
  });

  it("asks the parser no more", async () => {
    let asked = 0;
    const sql: typeof parserHere = {
      ask: (request) => {
        asked += 1;
        return parserHere.ask(request);
      },
    };
    const control = controlOf(config, { sql });
    const textOf = (id: number, name: string): string =>
      `SELECT o.email FROM orders o WHERE o.id = ${id} AND o.region IN ('${name}', 'x') AND 7 < o.id`;
    const first = await control(textOf(12, "Bonn"));
    const before = asked;
    expect(await control(textOf(34567, "Bad Homburg"))).toBe(
      first.replace("= 12 ", "= 34567 ").replace("('Bonn'", "('Bad Homburg'"),
    );
    expect(asked).toBe(before);
    await control(textOf(12, "Bonn").replace("7", "8"));
    expect(asked).toBeGreaterThan(before);
  });
});

describe("formOf", () => {
  it.each([
    ["a comment", "SELECT 1 FROM t WHERE a = 1 -- = 2"],
    ["a comment that may be code", "SELECT 1 FROM t WHERE a = 1 /*! OR 1 = 1 */"],
    ["a backslash", "SELECT 1 FROM t WHERE a = 'x\\'"],
    ["a dollar quote", "SELECT 1 FROM t WHERE a = $x$y$x$"],
    ["a quote in a string", "SELECT 1 FROM t WHERE a = 'x''y'"],
    ["a string of another kind", "SELECT 1 FROM t WHERE b = 1 AND a = E'x'"],
    ["a letter beyond ASCII", "SELECT 1 FROM t WHERE a = 'ä'"],
    ["no value", "SELECT a FROM t WHERE a > b"],
    ["a string that a table is named by", "SELECT 1 FROM 'file.csv'"],
    ["a cast", "SELECT 1 FROM t WHERE a = 'x'::regclass"],
    ["a number with a point", "SELECT 1 FROM t WHERE a = 1.5"],
    ["a large number", "SELECT 1 FROM t WHERE a = 12345678901"],
    ["a unit", "SELECT 1 FROM t WHERE a = INTERVAL '1 day'"],
  ])("is none with %s", (_, sql) => {
    expect(formOf(sql, "postgres")).toBeUndefined();
  });

  it("keeps what is no value", () => {
    const keyOf = (sql: string): string | undefined => formOf(sql, "duckdb")?.key;
    const one = keyOf("SELECT 1, 'a' FROM t WHERE a = 1 AND b IN (1, 'x') LIMIT 5");
    expect(keyOf("SELECT 1, 'a' FROM t WHERE a = 77 AND b IN (3, 'y z') LIMIT 5")).toBe(one);
    for (const other of [
      "SELECT 2, 'a' FROM t WHERE a = 1 AND b IN (1, 'x') LIMIT 5",
      "SELECT 1, 'b' FROM t WHERE a = 1 AND b IN (1, 'x') LIMIT 5",
      "SELECT 1, 'a' FROM t WHERE a = 1 AND b IN (1, 'x') LIMIT 6",
      "SELECT 1, 'a' FROM t WHERE a = 1 AND b IN (1, 2) LIMIT 5",
      "SELECT 1, 'a' FROM t WHERE a = 1 AND b IN (1, 'x', 2) LIMIT 5",
      "SELECT 1, 'a' FROM u WHERE a = 1 AND b IN (1, 'x') LIMIT 5",
      "SELECT 1, 'a'  FROM t WHERE a = 1 AND b IN (1, 'x') LIMIT 5",
    ]) {
      expect(keyOf(other)).not.toBe(one);
    }
  });
});

type Values = readonly string[];

const values: fc.Arbitrary<Values> = fc.array(
  fc.oneof(
    fc.integer({ min: 1, max: 2_000_000_000 }).map(String),
    fc.constantFrom(
      "0",
      "01",
      "1.5",
      "1e5",
      "-1",
      "?",
      "$1",
      "NULL",
      "id",
      "hr.salaries",
      "(SELECT 1 FROM items)",
    ),
    fc.string({ maxLength: 8 }).map((text) => `'${text}'`),
    fc.constantFrom(
      "'orders'",
      "'main.orders'",
      "'x'' OR '''",
      "'\\'",
      "'--'",
      "'/*'",
      '"orders"',
      "'a' 'b'",
    ),
  ),
  { minLength: 3, maxLength: 3 },
);

const shapes: fc.Arbitrary<(given: Values) => string> = fc.constantFrom<(given: Values) => string>(
  ([a, b, c]) => `SELECT id FROM orders WHERE id = ${a} AND region IN (${b}, ${c})`,
  ([a, b, c]) =>
    `SELECT ${a} FROM orders o, items i WHERE o.id >= ${b} AND i.id <> ${c} ORDER BY 1`,
  ([a, b, c]) =>
    `SELECT id FROM items WHERE ${a} < id AND id IN (SELECT id FROM orders WHERE email = ${b}) AND id=${c}`,
  ([a, b, c]) => `UPDATE items SET id = ${a} WHERE id = ${b} AND label = ${c}`,
  ([a, b, c]) =>
    `WITH w AS (SELECT id FROM orders WHERE id > ${a}) SELECT * FROM w WHERE id = ${b} OR id = ${c} LIMIT 3`,
  ([a, b, c]) =>
    `SELECT count(*) FROM orders WHERE id = ${a} GROUP BY region HAVING count(*) > ${b} UNION ALL SELECT id FROM items WHERE id = ${c}`,
);
