/** Queries by chance over the tables of `masked.ts`, in the words of each engine. */
import fc from "fast-check";
import type { Engine } from "./masked.ts";

/** What an engine says in its own words. */
interface Words {
  /** The same table under other names. */
  readonly others: readonly string[];
  /** Joins of which the left side alone is seen. */
  readonly halves: readonly string[];
  readonly alone: readonly string[];
}

const words = {
  duckdb: {
    others: ["main.orders", '"ORDERS"'],
    halves: ["SEMI JOIN", "ANTI JOIN"],
    alone: [
      "SELECT * EXCLUDE (region) FROM orders",
      "SELECT * REPLACE (upper(email) AS email) FROM orders",
      "FROM orders SELECT id WHERE amount > 2",
      "SELECT id, rowid FROM orders",
      "SELECT orders.id, orders FROM orders",
    ],
  },
  postgres: {
    others: ["public.orders", '"orders"'],
    halves: [],
    alone: ["SELECT orders.id, orders FROM orders"],
  },
  clickhouse: {
    others: ["default.orders", "`orders`"],
    halves: ["LEFT SEMI JOIN", "LEFT ANTI JOIN"],
    alone: [
      "SELECT * EXCEPT (region) FROM orders",
      "SELECT * REPLACE (upper(email) AS email) FROM orders",
      "SELECT id, COLUMNS('ema.*') FROM orders",
      "SELECT id, email FROM orders LIMIT 1 BY email",
      "SELECT id FROM orders ORDER BY email, id LIMIT 2 WITH TIES",
      "SELECT argMax(id, (email, amount, id)) AS id, groupUniqArray(email) AS m FROM orders",
      "SELECT email, count() AS id FROM orders GROUP BY email WITH TOTALS",
      "SELECT id, k FROM orders ARRAY JOIN [email, region] AS k",
      "SELECT '***' AS email, 'US' AS region, count() AS id FROM orders WHERE email = '***' AND region = 'US'",
      "SELECT id FROM orders FINAL WHERE amount > 2",
      "WITH (SELECT max(email) FROM orders) AS m SELECT id, m FROM orders",
    ],
  },
} as const satisfies Record<Engine, Words>;

/** Queries over the tables of the two: joins, subqueries, WITH, set operations, windows, correlation, stars, USING. */
export const queries = (engine: Engine): fc.Arbitrary<string> =>
  fc.letrec<{ query: string; source: string }>((tie) => ({
    source: fc.oneof(
      { maxDepth: 2, depthIdentifier: "source" },
      tables(engine),
      tie("query").map((query) => `(${query})`),
    ),
    query: fc.oneof(
      { maxDepth: 3, depthIdentifier: "query" },
      fc
        .tuple(
          tie("source"),
          conditions("x"),
          fc.constantFrom("x.*", "*", "x.id", "x.id, count(*) OVER () AS n"),
        )
        .map(([source, where, list]) => `SELECT ${list} FROM ${named(source, "x")} WHERE ${where}`),
      fc
        .tuple(joins(engine), tie("source"), tie("source"))
        .map(([join, left, right]) => joined(join, named(left, "x"), named(right, "y"))),
      // Every row with every row of one table, and not of another product: that would be a million rows now and then.
      fc.tuple(tie("source"), tables(engine), conditions("y")).map(([left, right, where]) => {
        const list = "x.id, y.id AS other";
        return `SELECT ${list} FROM ${named(left, "x")} CROSS JOIN ${named(right, "y")} WHERE ${where}`;
      }),
      fc
        .tuple(tie("source"), aggregates, conditions("x"))
        .map(
          ([source, list, where]) =>
            `SELECT ${list} FROM ${named(source, "x")} WHERE ${where} GROUP BY x.id`,
        ),
      fc
        .tuple(tie("query"), tables(engine), conditions("w"))
        .map(
          ([query, source, where]) =>
            `WITH w AS (${query}) SELECT w.id FROM w, ${named(source, "z")} WHERE ${where}`,
        ),
      fc
        .tuple(
          fc.constantFrom("UNION ALL", "UNION", "INTERSECT", "EXCEPT"),
          tie("query"),
          tie("query"),
        )
        .map(
          ([operator, left, right]) =>
            `SELECT id FROM (${left}) l ${operator} SELECT id FROM (${right}) r`,
        ),
      fc
        .tuple(tie("source"), fc.constantFrom("email", "amount", "region"))
        .map(
          ([source, column]) =>
            `SELECT x.id, (SELECT max(o.${column}) FROM orders o WHERE o.id <= x.id) AS m FROM ${named(source, "x")}`,
        ),
      fc
        .tuple(tie("source"), windows)
        .map(([source, window]) => `SELECT x.id, ${window} AS v FROM ${named(source, "x")}`),
      fc.constantFrom(
        "SELECT id, email, amount FROM orders WHERE email = 'mail4' OR email = '***'",
        "SELECT id FROM orders WHERE secret > 10",
        "SELECT id, pay, name FROM staff ORDER BY pay DESC, id LIMIT 3",
        "SELECT id FROM orders ORDER BY email, amount, id LIMIT 4",
        ...words[engine].alone,
        "SELECT DISTINCT ON (email) email, count(*) OVER (PARTITION BY email) AS id FROM orders",
      ),
    ),
  })).query;

const tables = (engine: Engine): fc.Arbitrary<string> =>
  fc.constantFrom("orders", "staff", "items", "orders AS q(id, a, b, c)", ...words[engine].others);

const joins = (engine: Engine): fc.Arbitrary<string> =>
  fc.constantFrom(
    ...words[engine].halves,
    "JOIN",
    "LEFT JOIN",
    "FULL JOIN",
    "RIGHT JOIN",
    "USING",
    "NATURAL JOIN",
  );

function joined(join: string, left: string, right: string): string {
  if (join === "USING") return `SELECT id FROM ${left} JOIN ${right} USING (id)`;
  if (join === "NATURAL JOIN") return `SELECT id FROM ${left} NATURAL JOIN ${right}`;
  const list = /SEMI|ANTI/.test(join) ? "x.id" : "x.id, y.id AS other";
  return `SELECT ${list} FROM ${left} ${join} ${right} ON x.id = y.id`;
}

function conditions(of: string): fc.Arbitrary<string> {
  return fc.constantFrom(
    "true",
    `${of}.id > 3`,
    `${of}.id IN (SELECT id FROM orders WHERE email LIKE 'mail%' OR amount > 3)`,
    `${of}.id NOT IN (SELECT id FROM orders)`,
    `EXISTS (SELECT 1 FROM orders o WHERE o.id = ${of}.id AND o.amount < 3)`,
    `NOT EXISTS (SELECT 1 FROM staff s WHERE s.id = ${of}.id AND s.pay > 4)`,
    `${of}.id = (SELECT max(pay) FROM staff)`,
    `${of}.id < (SELECT count(*) FROM orders)`,
    `${of}.id = ANY (SELECT amount FROM orders)`,
  );
}

const aggregates = fc.constantFrom(
  "x.id, count(*) AS n",
  "x.id, (SELECT count(DISTINCT email) FROM orders) AS n",
  "x.id, sum(x.id) FILTER (WHERE x.id > 2) AS n",
);

const windows = fc.constantFrom(
  "rank() OVER (ORDER BY x.id)",
  "sum(x.id) OVER (PARTITION BY x.id % 2)",
  "max((SELECT max(email) FROM orders)) OVER ()",
);

/** With an alias, where it has none. */
function named(source: string, alias: string): string {
  return source.includes(" AS q(")
    ? source.replace("AS q(", `AS ${alias}(`)
    : `${source} AS ${alias}`;
}
