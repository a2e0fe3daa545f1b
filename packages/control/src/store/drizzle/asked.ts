/**
 * The border between Drizzle and the store: every statement goes out here, and every refusal comes
 * back as a value with a code.
 *
 * Drizzle throws errors whose message holds the parameters, which may be secrets. None of them leaves
 * this file.
 */
import type { SQL } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { drizzle, type PgRemoteDatabase } from "drizzle-orm/pg-proxy";
import { err, ok } from "@gateway/core/result.ts";
import {
  unavailable,
  type StatementResult,
  type Database,
  type DatabaseError,
  type Parameter,
} from "../database.ts";
import { storableText } from "../storable.ts";
import type { Stored } from "../store.ts";

export interface Asked {
  /** Builds queries. They are run by handing them to `ask`. */
  readonly db: PgRemoteDatabase;
  /** Runs a query that was built with `db`. */
  readonly ask: <Value>(query: PromiseLike<Value>) => Stored<Value>;
  /** Runs a statement that no builder can say: an atomic step. Cells are PostgreSQL's text. */
  readonly run: (statement: SQL) => Stored<StatementResult>;
}

/** Carries a refusal through Drizzle, which only knows how to pass on what was thrown. */
class Refused extends Error {
  readonly refusal: DatabaseError;
  constructor(refusal: DatabaseError) {
    super("the database refused");
    this.refusal = refusal;
  }
}

/** Statements over one database. */
export function askedOf(database: Database): Asked {
  const dialect = new PgDialect();
  const db = drizzle(async (text, parameters) => {
    const answer = await database.run(text, parametersOf(parameters));
    if (!answer.ok) throw new Refused(answer.error);
    return { rows: [...answer.value.rows] };
  });
  return {
    db,
    ask: async (query) => {
      try {
        return ok(await query);
      } catch (thrown) {
        return err(unavailable(refusalOf(thrown)));
      }
    },
    run: async (statement) => {
      const { sql, params } = dialect.sqlToQuery(statement);
      const answer = await database.run(sql, parametersOf(params));
      return answer.ok ? answer : err(unavailable(answer.error));
    },
  };
}

/** What the database said. Anything else is a bug, thrown on without the statement and its values. */
function refusalOf(thrown: unknown): DatabaseError {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (cause instanceof Refused) return cause.refusal;
  if (thrown instanceof Refused) return thrown.refusal;
  throw new Error("a query of the store could not be built or read");
}

function parametersOf(values: readonly unknown[]): readonly Parameter[] {
  return values.map((value) =>
    // A name that holds what no text can hold is the name of nothing, and no reason to fail.
    typeof value === "string" ? storableText(value) : (value as Parameter),
  );
}
