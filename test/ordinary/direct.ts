/** The engine itself, asked without the gateway: its own rows as texts that it made. */
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { canonical, type Cell } from "./wires.ts";
import type { Ordinary } from "./generate.ts";

export interface Direct {
  rows(query: Ordinary): Promise<readonly (readonly Cell[])[]>;
  close(): void;
}

/** A database of its own with the same contents. */
export async function directOf(statements: readonly string[]): Promise<Direct> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  for (const sql of ["set TimeZone = 'UTC'", ...statements]) await connection.run(sql);
  return {
    rows: (query) => rowsOf(connection, query),
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
