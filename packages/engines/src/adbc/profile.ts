/**
 * What the drivers differ in, beside their options and their errors: how they read SQL, what a session
 * leaves on a connection, how a session's catalog and schema are set, which catalog they have.
 */
import type { Session } from "@gateway/core/query/query.ts";
import type { Isolation } from "@gateway/core/sql/session/statement.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { contextOptions, type Option, type ConnectionStep } from "../native/message.ts";
import type { DriverName } from "./config.ts";
import type { LimitStatements } from "./limit.ts";
import { postgresTables } from "./sql/postgresTables.ts";
import { quoteIdentifier, quoteText } from "./sql/quote.ts";
import { postgresSteps, undoneStep } from "./sql/postgresSession.ts";

export interface Profile {
  readonly name: DriverName | "other";
  /** For people. */
  readonly label: string;
  /**
   * In a process of its own, which can be killed: drivers that talk to a network, because a native call
   * that hangs can not be ended, and libraries nobody here knows.
   */
  readonly isolated: boolean;
  /** How its SQL is read here. */
  readonly dialect: Dialect;
  /** The same for records; undefined where it would be a guess. */
  readonly shownDialect: Dialect | undefined;
  /** How places for parameters are written. */
  readonly places: "dollarNumber" | "question";
  /** `new`: each statement has a connection of its own. Otherwise what makes a used one fit again; undefined when only closing it does. */
  readonly connection: "new" | { readonly cleaning: string | undefined };
  /** How a count of changed rows is had: without asking for rows, or out of the columns of an answer. */
  readonly counts: "rowless" | "columns";
  /**
   * How a transaction begins and ends: by the driver's own option, or by statements where that option leaves
   * another transaction open.
   */
  readonly transactions: "option" | "statements" | undefined;
  /** What its transactions can be isolated by: each level, set by a statement; or one, which is all that they have. */
  readonly isolation: "settable" | Isolation;
  /** Its transactions have savepoints, set by statements of their own. */
  readonly savepoints: boolean;
  /** An error inside a transaction leaves nothing to commit. */
  readonly errorAborts: boolean;
  /** It carries some types wrongly, so that a query's columns are asked for before it runs (client/carrying.ts). */
  readonly asksColumns: boolean;
  /** Says a description's columns itself; otherwise they are asked for by a query without rows. */
  readonly namesColumns: boolean;
  /**
   * Steps that give a connection the session's catalog, schema and settings; none where it has them by
   * itself.
   */
  contextSteps(session: SessionContext): readonly ConnectionStep[];
  /** What takes one of those steps back, where a connection goes on without it; absent: it is closed instead. */
  readonly undoneStep?: (step: ConnectionStep) => string | undefined;
  /**
   * What a session may choose that stays on its connections, which are then its own; absent where nothing
   * stays.
   */
  readonly choice?: Choice;
  /** What is set on a statement. */
  statementOptions(statement: {
    readonly plainQuery: boolean;
    /** The statement's own tag, then the client's. */
    readonly tag: string;
  }): readonly Option[];
  /** How its connections get the time limit of a statement; absent where nobody knows. */
  readonly limit?: LimitStatements;
  /** How a transaction becomes read-only: by its first statement, or by how it begins; undefined where there is none. */
  readonly readOnly: { readonly first: string } | { readonly begin: string } | undefined;
  /** Names of catalogs, the default first, in one column; undefined where nobody knows how to ask. */
  readonly catalogsSql: string | undefined;
  /** One row a column: catalog, schema, table, kind, column, type, nullable; then, in JSON, keys and indexes. */
  readonly tablesSql: string | undefined;
  /** The same for servers that do not understand `tablesSql`. */
  readonly plainTablesSql?: string;
  /** Texts of running statements of ours in one column; undefined where the engine can not tell. */
  readonly runningSql: string | undefined;
  /** Answers one row when the engine shows its own text among what runs. */
  readonly provingSql?: string;
  /** Ends the statements under a tag, where the engine lists them. */
  readonly endSql?: (tag: string) => string;
}

/** Names in an order of the profile's own; undefined where none was chosen. */
export type Names = readonly (string | undefined)[];

/** Sessions that chose other names than the cluster's have connections of their own (scoped.ts). */
export interface Choice {
  /** The names that a session chose and that differ from the cluster's own (`home`). */
  others(session: SessionContext, home: Names): Names;
  /** Statements that choose them. */
  statements(names: Names): readonly string[];
}

/** What of a session says where its statements look for names. */
export type SessionContext = Pick<Session, "catalog" | "schema" | "settings" | "dialect">;

/** The most columns that a listing of tables may have: a catalog can be of any size. */
export const listedColumnsMax = 200_000;

const nowhere = (): readonly string[] => [];
const noOptions = (): readonly Option[] => [];

function listingSql(catalog: string, hidden: string): string {
  return `SELECT c.table_catalog, c.table_schema, c.table_name, t.table_type, c.column_name, c.data_type, c.is_nullable
FROM ${catalog}.columns c JOIN ${catalog}.tables t
  ON t.table_catalog = c.table_catalog AND t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE c.table_schema NOT IN (${hidden})
ORDER BY c.table_catalog, c.table_schema, c.table_name, c.ordinal_position
LIMIT ${listedColumnsMax}`;
}

const duckdb: Profile = {
  name: "duckdb",
  label: "DuckDB",
  isolated: false,
  dialect: "duckdb",
  shownDialect: "duckdb",
  places: "dollarNumber",
  connection: "new",
  counts: "columns",
  // The driver's option knows no read-only transaction.
  transactions: "statements",
  // Snapshots: two transactions may each write what the other one read.
  isolation: "repeatableRead",
  savepoints: false,
  errorAborts: true,
  asksColumns: false,
  namesColumns: true,
  contextSteps: ({ catalog, schema }) => {
    const path = [catalog, schema].filter((part) => part !== undefined);
    return path.length === 0 ? [] : [`USE ${path.map(quoteIdentifier).join(".")}`];
  },
  statementOptions: noOptions,
  readOnly: { begin: "BEGIN TRANSACTION READ ONLY" },
  catalogsSql:
    "SELECT database_name FROM duckdb_databases() WHERE NOT internal ORDER BY database_name <> current_catalog(), database_name",
  tablesSql: listingSql("information_schema", "'information_schema', 'pg_catalog'"),
  runningSql: undefined,
};

const sqlite: Profile = {
  name: "sqlite",
  label: "SQLite",
  isolated: false,
  dialect: "generic",
  shownDialect: undefined,
  places: "question",
  connection: "new",
  counts: "rowless",
  transactions: "option",
  isolation: "serializable",
  savepoints: true,
  errorAborts: false,
  asksColumns: false,
  namesColumns: false,
  // Others of this process and of this host write too.
  contextSteps: () => ["PRAGMA busy_timeout = 5000"],
  statementOptions: noOptions,
  readOnly: { first: "PRAGMA query_only = 1" },
  catalogsSql: "SELECT name FROM pragma_database_list WHERE name = 'main'",
  tablesSql: `SELECT 'main', 'main', m.name, m.type, c.name, c.type, CASE c."notnull" WHEN 0 THEN 'YES' ELSE 'NO' END
FROM sqlite_schema m JOIN pragma_table_info(m.name) c
WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~'
ORDER BY m.name, c.cid LIMIT ${listedColumnsMax}`,
  runningSql: undefined,
};

const postgresql: Profile = {
  name: "postgresql",
  label: "PostgreSQL",
  isolated: true,
  dialect: "postgres",
  shownDialect: "postgres",
  places: "dollarNumber",
  // Also what functions of a query did: set_config, locks, temporary tables.
  connection: { cleaning: "DISCARD ALL" },
  counts: "rowless",
  // Behind a failure its option refuses everything but the end, also the way back to a savepoint.
  transactions: "statements",
  isolation: "settable",
  savepoints: true,
  errorAborts: true,
  asksColumns: true,
  namesColumns: true,
  contextSteps: postgresSteps,
  undoneStep,
  // The driver reads rows through COPY, which only queries have; its batches are 16 MB otherwise.
  statementOptions: ({ plainQuery }) => [
    ["adbc.postgresql.use_copy", plainQuery ? "true" : "false"],
    ["adbc.postgresql.batch_size_hint_bytes", "1048576"],
  ],
  readOnly: { first: "SET TRANSACTION READ ONLY" },
  catalogsSql: "SELECT current_database()",
  tablesSql: postgresTables(listedColumnsMax),
  // Others speak its protocol too, and have less of its catalog.
  plainTablesSql: listingSql("information_schema", "'information_schema', 'pg_catalog'"),
  // A role always sees the statements of its own name, which is how ours run.
  runningSql: `SELECT query FROM pg_stat_activity
WHERE usename = current_user AND state <> 'idle' AND pid <> pg_backend_pid() AND query LIKE '%gateway/%'`,
  provingSql: `/* gateway/probe/shown/itself */ SELECT pid FROM pg_stat_activity
WHERE pid = pg_backend_pid() AND query LIKE '%gateway/probe/shown/itself%'`,
  endSql: (tag) => `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
WHERE usename = current_user AND pid <> pg_backend_pid() AND query LIKE ${quoteText(`%${tag.replaceAll("_", "\\_")}%`)}`,
};

const snowflake: Profile = {
  name: "snowflake",
  label: "Snowflake",
  isolated: true,
  dialect: "generic",
  shownDialect: undefined,
  places: "question",
  connection: { cleaning: undefined },
  counts: "columns",
  transactions: "statements",
  isolation: "readCommitted",
  savepoints: false,
  errorAborts: false,
  asksColumns: false,
  namesColumns: true,
  contextSteps: (session) => snowflakeStatements(chosenInSnowflake(session)),
  choice: {
    others: (session, home) => {
      const chosen = chosenInSnowflake(session);
      const others = chosen.map((name, at) => (name === home[at] ? undefined : name));
      // In another database the cluster's own schema is another one too.
      return others[databaseAt] === undefined ? others : [...others.slice(0, -1), chosen.at(-1)];
    },
    statements: snowflakeStatements,
  },
  statementOptions: ({ tag }) => [["adbc.snowflake.statement.query_tag", tag]],
  // Counts the wait in the warehouse's queue too. A statement has no way to say its own.
  limit: {
    set: (secs) => `ALTER SESSION SET STATEMENT_TIMEOUT_IN_SECONDS = ${secs}`,
    unset: "ALTER SESSION UNSET STATEMENT_TIMEOUT_IN_SECONDS",
    secsMax: 604_800,
  },
  readOnly: undefined,
  catalogsSql: "SELECT current_database()",
  tablesSql: listingSql("information_schema", "'INFORMATION_SCHEMA'"),
  // The listing of an account lags and shows a role only what it may see, so it proves nothing.
  runningSql: undefined,
};

/** Drivers of which only the ADBC interface is known. */
const other: Profile = {
  name: "other",
  label: "the driver",
  isolated: true,
  dialect: "generic",
  shownDialect: undefined,
  places: "question",
  connection: { cleaning: undefined },
  counts: "rowless",
  transactions: undefined,
  isolation: "readUncommitted",
  savepoints: false,
  errorAborts: false,
  asksColumns: false,
  namesColumns: true,
  contextSteps: ({ catalog, schema }) => [
    ...(catalog === undefined ? [] : [[contextOptions.catalog, catalog] as const]),
    ...(schema === undefined ? [] : [[contextOptions.schema, schema] as const]),
  ],
  statementOptions: noOptions,
  readOnly: undefined,
  catalogsSql: undefined,
  tablesSql: undefined,
  runningSql: undefined,
};

const flightsql: Profile = {
  ...other,
  name: "flightsql",
  label: "Flight SQL",
  namesColumns: false,
  contextSteps: nowhere,
};

const profiles = { snowflake, duckdb, postgresql, sqlite, flightsql } as const satisfies Record<
  DriverName,
  Profile
>;

/** The profile of a driver; what is not known by name is treated with the most care. */
export function profileOf(known: DriverName | undefined): Profile {
  return known === undefined ? other : profiles[known];
}

/** In the order in which they are chosen: a role first, because it says which of the others may be. */
const snowflakeObjects = ["ROLE", "WAREHOUSE", "DATABASE", "SCHEMA"] as const;
const databaseAt = snowflakeObjects.indexOf("DATABASE");

function chosenInSnowflake({ catalog, schema, settings }: SessionContext): Names {
  return [settings.get("role"), settings.get("warehouse"), catalog, schema].map(snowflakeName);
}

function snowflakeStatements(names: Names): readonly string[] {
  return names.flatMap((name, at) =>
    name === undefined ? [] : [`USE ${snowflakeObjects[at]} ${quoteIdentifier(name)}`],
  );
}

/** The names of the cluster itself, out of its options. */
export function snowflakeHome(options: Readonly<Record<string, string | number | boolean>>): Names {
  return ["role", "warehouse", "db", "schema"].map((key) => {
    const value = options[`adbc.snowflake.sql.${key}`];
    return snowflakeName(value === undefined ? undefined : `${value}`);
  });
}

/** Snowflake keeps names without quotes in upper case; clients of other protocols say them in lower case. */
function snowflakeName(name: string | undefined): string | undefined {
  return name === undefined || name !== name.toLowerCase() ? name : name.toUpperCase();
}
