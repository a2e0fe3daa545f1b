/**
 * Two databases that differ only in what a policy hides: masked and hidden columns, and rows that its filter leaves
 * out. Whatever a caller asks has to give equal results in both.
 */
import { DuckDBInstance } from "@duckdb/node-api";
import { PGlite } from "@electric-sql/pglite";
import { controlOf } from "./control.ts";

export type Engine = "duckdb" | "postgres" | "clickhouse";

/** These run within the process, so that nothing is started and nothing waited for between two queries. */
export type Embedded = Exclude<Engine, "clickhouse">;

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

export async function pairOf(engine: Embedded): Promise<Pair> {
  const open = engine === "duckdb" ? databaseOf : postgresOf;
  return pairOver(engine, [await open(1), await open(2)]);
}

const schemas = { duckdb: "main", postgres: "public", clickhouse: "default" } as const;

/** Over two databases of `engine` that hold what `filling` says, for 1 and for 2; closes both with the pair. */
export function pairOver(engine: Engine, [one, other]: readonly [Opened, Opened]): Pair {
  const judged = controlOf(rulesIn(schemas[engine]));
  const judge = (sql: string): Promise<string> => judged(sql, { user: "EU", dialect: engine });
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

/** One of the two databases. */
export interface Opened {
  /** Rows as sorted texts; an error is one row, with its words. */
  readonly rows: (sql: string) => Promise<readonly string[]>;
  close(): Promise<void>;
}

/** How many rows beside the first ones a database has. */
export const moreOf = (secret: number): number => secret * 2;

async function databaseOf(secret: number, more = moreOf(secret)): Promise<Opened> {
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

async function postgresOf(secret: number, more = moreOf(secret)): Promise<Opened> {
  const pglite = await PGlite.create();
  const range = (count: number): string => `generate_series(0, ${count - 1}) r(i)`;
  for (const sql of filling({ secret, more, range })) await pglite.exec(sql);
  return {
    rows: rowsBy(async (sql) => (await pglite.query(sql, [], { rowMode: "array" })).rows),
    close: () => pglite.close(),
  };
}

export interface Filling {
  readonly secret: number;
  readonly more: number;
  /** The numbers from 0 as a column `i`. */
  readonly range: (count: number) => string;
}

/** The statements that make the tables. Databases differ by `secret` and by `more`. */
export function filling({ secret, more, range }: Filling): readonly string[] {
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

/** Rows by a function that throws what the engine refuses. */
export function rowsBy(ask: (sql: string) => Promise<readonly unknown[]>): Opened["rows"] {
  return async (sql) => {
    try {
      return (await ask(sql)).map((row) => JSON.stringify(row)).toSorted();
    } catch (error) {
      return [error instanceof Error ? `Error: ${error.message}` : String(error)];
    }
  };
}
