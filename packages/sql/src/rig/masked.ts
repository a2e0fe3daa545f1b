/**
 * Two databases that differ only in what a policy hides: masked and hidden columns, and rows that its filter leaves
 * out. Whatever a caller asks has to give equal results in both.
 */
import { DuckDBInstance } from "@duckdb/node-api";
import { PGlite } from "@electric-sql/pglite";
import fc from "fast-check";
import { controlOf } from "./control.ts";

/** Both run within the process, so that nothing is started and nothing waited for between two queries. */
export type Engine = "duckdb" | "postgres";

const rulesIn = (schema: string) => ({
  defaultSchema: schema,
  rules: [
    {
      name: "own",
      tables: [`${schema}.orders`],
      rowFilter: "region = ${user}",
      columns: ["id", "region", "email", "amount"],
      masks: { email: "'***'" },
    },
    {
      name: "staff",
      tables: [`${schema}.staff`],
      columns: ["id", "name", "pay"],
      masks: { pay: "pay % 1" },
    },
    { name: "items", tables: [`${schema}.items`] },
    { name: "notes", tables: [`${schema}.notes`], actions: ["select", "insert", "ddl"] },
  ],
});

export interface Pair extends AsyncDisposable {
  /** What the caller gets in each of the two; undefined where the query is refused. */
  ask(sql: string): Promise<readonly [string, string] | undefined>;
  /** What somebody gets who may see everything, in each of the two. */
  bare(sql: string): Promise<readonly [string, string]>;
  /** The same in the first. */
  whole(sql: string): Promise<readonly string[]>;
  /** What the caller gets in the first. */
  narrowed(sql: string): Promise<readonly string[]>;
}

export async function pairOf(engine: Engine = "duckdb"): Promise<Pair> {
  const judged = controlOf(rulesIn(engine === "duckdb" ? "main" : "public"));
  const judge = (sql: string): Promise<string> => judged(sql, { user: "EU", dialect: engine });
  const open = engine === "duckdb" ? databaseOf : postgresOf;
  const one = await open(1);
  const other = await open(2);
  return {
    ask: async (sql) => {
      const text = await judge(sql);
      if (text.startsWith("denied: ")) return undefined;
      return [(await one.rows(text)).join("\n"), (await other.rows(text)).join("\n")];
    },
    bare: async (sql) => [(await one.rows(sql)).join("\n"), (await other.rows(sql)).join("\n")],
    whole: (sql) => one.rows(sql),
    narrowed: async (sql) => one.rows(await judge(sql)),
    [Symbol.asyncDispose]: async () => {
      await one.close();
      await other.close();
    },
  };
}

/** Two databases of the same rows but for the values of these columns, in lower case by table. */
export const apartColumns: Readonly<Record<string, readonly string[]>> = {
  orders: ["email", "amount", "secret"],
  staff: ["pay"],
};

/** The answers of both to one query. */
export async function twinsOf() {
  const one = await databaseOf(1);
  const other = await databaseOf(2, 2);
  return {
    ask: async (sql: string) =>
      [(await one.rows(sql)).join("\n"), (await other.rows(sql)).join("\n")] as const,
    [Symbol.asyncDispose]: async () => {
      await one.close();
      await other.close();
    },
  };
}

interface Opened {
  /** Rows as sorted texts; an error is one row, with its words. */
  readonly rows: (sql: string) => Promise<readonly string[]>;
  close(): Promise<void>;
}

/** `more`: rows beside the first ones. */
async function databaseOf(secret: number, more = secret * 2): Promise<Opened> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  const range = (count: number): string => `range(${count}) r(i)`;
  for (const sql of filling({ secret, more, range })) await connection.run(sql);
  return {
    rows: rowsBy(async (sql) => (await connection.runAndReadAll(sql)).getRowsJson()),
    close: async () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function postgresOf(secret: number, more = secret * 2): Promise<Opened> {
  const pglite = await PGlite.create();
  const range = (count: number): string => `generate_series(0, ${count - 1}) r(i)`;
  for (const sql of filling({ secret, more, range })) await pglite.exec(sql);
  return {
    rows: rowsBy(async (sql) => (await pglite.query(sql, [], { rowMode: "array" })).rows),
    close: () => pglite.close(),
  };
}

interface Filling {
  readonly secret: number;
  readonly more: number;
  /** The numbers from 0 as a column `i`. */
  readonly range: (count: number) => string;
}

function filling({ secret, more, range }: Filling): readonly string[] {
  const hidden = `CASE WHEN i % 3 = 0 THEN i * ${secret} + ${secret} ELSE 7 * ${secret} END`;
  return [
    `CREATE TABLE orders AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'EU' ELSE 'US' END AS region,
     'mail' || (i * ${secret}) AS email, CASE WHEN i % 2 = 0 THEN i % 5 ELSE ${hidden} END AS amount, ${hidden} AS secret
     FROM ${range(12)}`,
    `INSERT INTO orders SELECT i + 100, 'US', 'more' || ${secret}, i * ${secret}, i FROM ${range(more)}`,
    `CREATE TABLE staff AS SELECT i AS id, 'n' || (i % 4) AS name, i * ${secret} AS pay FROM ${range(5)}`,
    `CREATE TABLE items AS SELECT i AS id, i % 7 AS order_id, 'l' || (i % 3) AS label FROM ${range(8)}`,
    "CREATE TABLE notes (id BIGINT, text VARCHAR)",
  ];
}

function rowsBy(ask: (sql: string) => Promise<readonly unknown[]>): Opened["rows"] {
  return async (sql) => {
    try {
      return (await ask(sql)).map((row) => JSON.stringify(row)).toSorted();
    } catch (error) {
      return [error instanceof Error ? `Error: ${error.message}` : String(error)];
    }
  };
}

/** Queries over the tables of the two: joins, subqueries, WITH, set operations, windows, correlation, stars, USING. */
export const queries = (engine: Engine = "duckdb"): fc.Arbitrary<string> =>
  fc.letrec<{ query: string; source: string }>((tie) => ({
    source: fc.oneof(
      { maxDepth: 2, depthIdentifier: "source" },
      fc.constantFrom(
        "orders",
        "staff",
        "items",
        "orders AS q(id, a, b, c)",
        ...(engine === "duckdb" ? ["main.orders", '"ORDERS"'] : ["public.orders", '"orders"']),
      ),
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
        .tuple(joins(engine), tie("source"), tie("source"), conditions("y"))
        .map(([join, left, right, where]) =>
          joined(join, named(left, "x"), named(right, "y"), where),
        ),
      fc
        .tuple(tie("source"), aggregates, conditions("x"))
        .map(
          ([source, list, where]) =>
            `SELECT ${list} FROM ${named(source, "x")} WHERE ${where} GROUP BY x.id`,
        ),
      fc
        .tuple(tie("query"), tie("source"), conditions("w"))
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
        "SELECT orders.id, orders FROM orders",
        "SELECT id FROM orders WHERE secret > 10",
        "SELECT id, pay, name FROM staff ORDER BY pay DESC, id LIMIT 3",
        "SELECT id FROM orders ORDER BY email, amount, id LIMIT 4",
        ...(engine === "duckdb" ? duckDbAlone : []),
        "SELECT DISTINCT ON (email) email, count(*) OVER (PARTITION BY email) AS id FROM orders",
      ),
    ),
  })).query;

const duckDbAlone = [
  "SELECT * EXCLUDE (region) FROM orders",
  "SELECT * REPLACE (upper(email) AS email) FROM orders",
  "FROM orders SELECT id WHERE amount > 2",
  "SELECT id, rowid FROM orders",
];

const joins = (engine: Engine): fc.Arbitrary<string> =>
  fc.constantFrom(
    ...(engine === "duckdb" ? ["SEMI JOIN", "ANTI JOIN"] : []),
    "JOIN",
    "LEFT JOIN",
    "FULL JOIN",
    "RIGHT JOIN",
    "CROSS JOIN",
    "USING",
    "NATURAL JOIN",
  );

function joined(join: string, left: string, right: string, where: string): string {
  if (join === "USING") return `SELECT id FROM ${left} JOIN ${right} USING (id)`;
  if (join === "NATURAL JOIN") return `SELECT id FROM ${left} NATURAL JOIN ${right}`;
  if (join === "CROSS JOIN")
    return `SELECT x.id, y.id AS other FROM ${left} CROSS JOIN ${right} WHERE ${where}`;
  const list = join === "SEMI JOIN" || join === "ANTI JOIN" ? "x.id" : "x.id, y.id AS other";
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
