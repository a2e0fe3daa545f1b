/** The engine itself, asked without the gateway: its own typed values, and what each protocol shows of them. */
import { DuckDBInstance, DuckDBTypeId, type DuckDBConnection } from "@duckdb/node-api";
import { cellOf, type Cell, type FormName } from "./expected/forms.ts";

export interface DirectAnswer {
  /** Names of the columns' types, without what they are made of. */
  readonly types: readonly string[];
  readonly count: number;
  /** The rows as a client of the protocol has them; made once for each form. */
  rows(form: FormName): readonly (readonly Cell[])[];
}

export interface Direct {
  answer(sql: string): Promise<DirectAnswer>;
  close(): void;
}

/** A database of its own with the same contents, or a file that the gateway reads as well. */
export async function directOf(statements: readonly string[], file?: string): Promise<Direct> {
  const options = { threads: "1", ...(file === undefined ? {} : { access_mode: "READ_ONLY" }) };
  const instance = await DuckDBInstance.create(file ?? ":memory:", options);
  const connection = await instance.connect();
  for (const sql of ["set TimeZone = 'UTC'", ...statements]) await connection.run(sql);
  return {
    answer: (sql) => answerOf(connection, sql),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function answerOf(connection: DuckDBConnection, sql: string): Promise<DirectAnswer> {
  const reader = await connection.runAndReadAll(sql);
  const types = reader.columnTypes();
  const values = reader.getRows();
  const made = new Map<FormName, readonly (readonly Cell[])[]>();
  const inForm = (form: FormName): readonly (readonly Cell[])[] =>
    values.map((row) => types.map((type, index) => cellOf(form, type, row[index] ?? null)));
  return {
    types: types.map(({ alias, typeId }) =>
      alias === "JSON" ? alias : (DuckDBTypeId[typeId] ?? ""),
    ),
    count: values.length,
    rows: (form) => {
      const rows = made.get(form) ?? inForm(form);
      made.set(form, rows);
      return rows;
    },
  };
}
