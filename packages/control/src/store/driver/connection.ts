/**
 * One connection to a database, whatever leads there, and what all drivers do with one: a
 * transaction, and listening. Not a pool, and not a place that knows a driver's package.
 */
import { err, type Result } from "@gateway/core/result.ts";
import type { StatementResult, DatabaseError, Parameter, Statements } from "../database.ts";

/** An answer with the word its command tag begins with: `COMMIT`, `ROLLBACK`, `INSERT`. */
export interface Reply extends StatementResult {
  readonly command: string;
}

export interface Connection {
  run(sql: string, parameters: readonly Parameter[]): Promise<Result<Reply, DatabaseError>>;
  /** Several statements; answers the last one's reply. */
  script(sql: string): Promise<Result<Reply, DatabaseError>>;
}

/** COMMIT of a transaction that failed on the way is answered `ROLLBACK`, and is no error to a driver. */
const rolledBack: DatabaseError = { kind: "refused", code: "25P02" };

/** `Database.transaction` on a connection that nobody else uses meanwhile. */
export async function transactionOn<Value, Refusal>(
  connection: Connection,
  work: (statements: Statements) => Promise<Result<Value, Refusal>>,
): Promise<Result<Value, Refusal | DatabaseError>> {
  const begun = await connection.script("begin");
  if (!begun.ok) return begun;
  const statements = statementsOf(connection);
  let outcome: Result<Value, Refusal>;
  try {
    outcome = await work(statements);
  } catch (bug) {
    statements.end();
    await connection.script("rollback");
    throw bug;
  }
  statements.end();
  if (!outcome.ok) {
    await connection.script("rollback");
    return outcome;
  }
  const committed = await connection.script("commit");
  if (!committed.ok) return committed;
  return committed.value.command === "COMMIT" ? outcome : err(rolledBack);
}

/** Statements that end with their transaction: a later use would run inside somebody else's. */
function statementsOf(connection: Connection): Statements & { end(): void } {
  let open = true;
  const check = (): void => {
    if (!open) throw new Error("a statement after the end of its transaction");
  };
  return {
    run: (sql, parameters = []) => {
      check();
      return connection.run(sql, parameters);
    },
    script: async (sql) => {
      check();
      return voided(await connection.script(sql));
    },
    end: () => {
      open = false;
    },
  };
}

/** The same outcome without its rows. */
export function voided(result: Result<unknown, DatabaseError>): Result<void, DatabaseError> {
  return result.ok ? { ok: true, value: undefined } : result;
}

/** Rows that a command touched, from its tag. A SELECT touches none. */
export function touchedBy(command: string, count: number | null): number {
  return touching.has(command) ? (count ?? 0) : 0;
}

const touching: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** The statement that subscribes to a channel. A channel is an identifier, and quoted like one. */
export function listenSql(channel: string): string {
  return `listen "${channel.replaceAll('"', '""')}"`;
}
