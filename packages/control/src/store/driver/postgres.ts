/** A PostgreSQL server through node-postgres: a pool, and one more connection for each listener. */
import { Client, Pool, type PoolClient } from "pg";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type {
  StatementResult,
  Database,
  DatabaseError,
  Parameter,
  Statements,
} from "../database.ts";
import { transactionOn, voided, type Connection } from "./connection.ts";
import { cellsAsText, connectionOf } from "./pgConnection.ts";
import { databaseErrorOf, ruins } from "./pgError.ts";
import { listenTo } from "./postgresListener.ts";

export interface PostgresOptions {
  /** `postgresql://user:password@host:port/database?sslmode=…` */
  readonly url: Secret;
  /** Connections of the pool, at least 2: a migration outside a transaction needs one beside its lock. */
  readonly connectionsMax: number;
  readonly host: Pick<Host, "clock" | "random" | "log">;
  /** Certificates to trust (PEM); the server then has to prove its name. What the URL says about TLS does not count any more. */
  readonly ca?: string;
  /** Longest time to a connection. */
  readonly connectMs?: number;
  /** Longest time of one statement. */
  readonly statementMs?: number;
}

const connectMsDefault = 10_000;
const statementMsDefault = 30_000;
/** The server gives up first and says so; the client only when the server is not there any more. */
const answerGraceMs = 5_000;
const idleMs = 30_000;
const connectionsMin = 2;

/** Connects when first asked; a server that is down is an error of that statement. */
export function openPostgres(options: PostgresOptions): Database {
  return new PostgresDatabase(options);
}

class PostgresDatabase implements Database {
  readonly kind = "postgres";
  readonly #options: PostgresOptions;
  readonly #pool: Pool;
  readonly #clientConfig;
  readonly #statementMs: number;

  constructor(options: PostgresOptions) {
    const { ca, connectMs = connectMsDefault, statementMs = statementMsDefault } = options;
    this.#options = options;
    this.#statementMs = statementMs;
    this.#clientConfig = {
      connectionString: ca === undefined ? options.url.reveal() : withoutTls(options.url.reveal()),
      ...(ca === undefined ? {} : { ssl: { ca } }),
      connectionTimeoutMillis: connectMs,
      statement_timeout: statementMs,
      // A transaction whose process hangs would hold its locks for ever.
      idle_in_transaction_session_timeout: 2 * statementMs,
      keepAlive: true,
      application_name: "gateway",
      types: cellsAsText,
    };
    this.#pool = new Pool({
      ...this.#clientConfig,
      max: Math.max(connectionsMin, options.connectionsMax),
      idleTimeoutMillis: idleMs,
    });
    // The server takes new tables for large ones, and compiles the functions of capacity anew for each call: a second
    // instead of milliseconds. Not a parameter of the start, because proxies refuse such.
    this.#pool.on("connect", (client) => void client.query("set jit = off").catch(() => {}));
    // The pool drops the connection by itself; the next statement makes a new one.
    this.#pool.on("error", (error) => {
      const { code } = databaseErrorOf(error);
      options.host.log.write("warn", "database.connectionLost", { code });
    });
  }

  run(
    sql: string,
    parameters: readonly Parameter[] = [],
  ): Promise<Result<StatementResult, DatabaseError>> {
    return this.#onClient((connection) => connection.run(sql, parameters));
  }

  async script(sql: string): Promise<Result<void, DatabaseError>> {
    const outcome = await this.#onClient(async (connection) => {
      // In a statement of its own: one text would make one transaction of both.
      const unlimited = await connection.script("set statement_timeout = 0");
      if (!unlimited.ok) return unlimited;
      const ran = await connection.script(sql);
      const limited = await connection.script("reset statement_timeout");
      return ran.ok ? limited : ran;
    });
    return voided(outcome);
  }

  transaction<Value, Refusal>(
    work: (statements: Statements) => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseError>> {
    return this.#onClient((connection) => transactionOn(connection, work));
  }

  listen(channel: string, wake: () => void): AsyncDisposable {
    const { host } = this.#options;
    return listenTo({ channel, wake, host, connect: () => new Client(this.#clientConfig) });
  }

  /** Waits for the statements that run. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #onClient<Value, Refusal>(
    work: (connection: Connection) => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseError>> {
    const connected = await this.#client();
    if (!connected.ok) return connected;
    const client = connected.value;
    let ruined = false;
    // The connection may break while it is nobody's turn to speak; unheard, that would end the process.
    const onError = (): void => {
      ruined = true;
    };
    client.on("error", onError);
    const limitMs = this.#statementMs + answerGraceMs;
    const connection = connectionOf(client, limitMs, (error) => {
      ruined ||= ruins(error);
    });
    try {
      return await work(connection);
    } finally {
      client.off("error", onError);
      client.release(ruined);
    }
  }

  async #client(): Promise<Result<PoolClient, DatabaseError>> {
    try {
      return ok(await this.#pool.connect());
    } catch (error) {
      return err({ ...databaseErrorOf(error), kind: "unreachable" });
    }
  }
}

/** TLS of the URL would win over the certificates given beside it. */
function withoutTls(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  for (const key of ["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey"]) {
    parsed.searchParams.delete(key);
  }
  return parsed.href;
}
