/** The engine itself, asked without the gateway: its own rows as texts that it made. */
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { canonical, type Cell } from "./wires.ts";
import type { Ordinary } from "./generate.ts";
import type { Kind } from "./tables.ts";

export interface Direct {
  rows(query: Ordinary): Promise<readonly (readonly Cell[])[]>;
  /** How the columns of a statement are compared. */
  kinds(sql: string): Promise<readonly Kind[]>;
  close(): void;
}

/** A database of its own with the same contents, or a file that the gateway reads as well. */
export async function directOf(statements: readonly string[], file?: string): Promise<Direct> {
  const options = { threads: "1", ...(file === undefined ? {} : { access_mode: "READ_ONLY" }) };
  const instance = await DuckDBInstance.create(file ?? ":memory:", options);
  const connection = await instance.connect();
  for (const sql of ["set TimeZone = 'UTC'", ...statements]) await connection.run(sql);
  return {
    rows: (query) => rowsOf(connection, query),
    kinds: (sql) => kindsOf(connection, sql),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function rowsOf(
  connection: DuckDBConnection,
  { sql, kinds }: Ordinary,
): Promise<readonly (readonly Cell[])[]> {
  const names = kinds.map((_, index) => `k${index}`);
  const texts = names.map((name) => `${name}::varchar`).join(", ");
  const reader = await connection.runAndReadAll(
    `select ${texts} from (${sql}) q(${names.join(", ")})`,
  );
  return reader
    .getRows()
    .map((row) => row.map((cell, index) => canonical(cell, kinds[index] ?? "text")));
}

async function kindsOf(connection: DuckDBConnection, sql: string): Promise<readonly Kind[]> {
  const reader = await connection.runAndReadAll(`describe ${sql}`);
  return reader
    .getRows()
    .map(([, type]) => (/^(DOUBLE|FLOAT)$/.test(String(type)) ? "double" : "text"));
}
