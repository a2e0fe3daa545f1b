/**
 * Neon, for functions: a single statement is one HTTP request, and a transaction is a WebSocket of
 * its own. Nothing stays open between two calls, so a function that was frozen finds no dead
 * connection when it wakes; the price is a handshake for each transaction, and the store's steps are
 * single statements for that reason. It can not listen: the caller polls.
 */
import { Client, neon, neonConfig, type NeonQueryFunction } from "@neondatabase/serverless";
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
import { touchedBy, transactionOn, voided, type Connection } from "./connection.ts";
import { neonFetch } from "./neonFetch.ts";
import { cellsAsText, connectionOf } from "./pgConnection.ts";
import { databaseErrorOf } from "./pgError.ts";
import { Turns } from "./turns.ts";

/** Where a stand-in for Neon listens. Neon's own places follow from the host of the URL. */
export interface NeonEndpoints {
  /** `http://127.0.0.1:4444/sql` */
  readonly fetch: string;
  /** Host, port and path, without the scheme: `127.0.0.1:4444/v2`. Not encrypted. */
  readonly webSocket: string;
}

export interface NeonOptions {
  readonly url: Secret;
  /** Transactions at once, at least 2; statements over HTTP are not counted. */
  readonly connectionsMax: number;
  readonly host: Pick<Host, "log">;
  readonly endpoints?: NeonEndpoints;
  readonly connectMs?: number;
  readonly statementMs?: number;
}

const connectMsDefault = 10_000;
const statementMsDefault = 30_000;
/** A migration outside a transaction needs one beside its lock. */
const connectionsMin = 2;

const closed: DatabaseError = { kind: "unreachable", code: "closed" };
const tooMany: DatabaseError = { kind: "unreachable", code: "tooManyStatements" };
const badUrl: DatabaseError = { kind: "unreachable", code: "badUrl" };

/** Connects when first asked; a database that is down is an error of that statement. */
export function openNeon(options: NeonOptions): Database {
  return new NeonDatabase(options);
}

class NeonDatabase implements Database {
  readonly kind = "neon";
  readonly #options: NeonOptions;
  readonly #statementMs: number;
  readonly #http: NeonQueryFunction<true, true> | undefined;
  readonly #places: number;
  readonly #turns: Turns;
  #closed = false;

  constructor(options: NeonOptions) {
    this.#options = options;
    this.#statementMs = options.statementMs ?? statementMsDefault;
    this.#http = httpOf(options);
    this.#places = Math.max(connectionsMin, options.connectionsMax);
    this.#turns = new Turns(this.#places);
  }

  async run(
    sql: string,
    parameters: readonly Parameter[] = [],
  ): Promise<Result<StatementResult, DatabaseError>> {
    if (this.#closed) return err(closed);
    if (this.#http === undefined) return err(badUrl);
    try {
      const signal = AbortSignal.timeout(this.#statementMs);
      // The parsers count with the statement only; what `neon()` is given of them is not used.
      const options = { fetchOptions: { signal }, types: cellsAsText };
      const answer = await this.#http.query(sql, parameters.map(textOf), options);
      const count = touchedBy(answer.command, answer.rowCount);
      return ok({ rows: answer.rows as StatementResult["rows"], count });
    } catch (error) {
      return err(databaseErrorOf(error));
    }
  }

  async script(sql: string): Promise<Result<void, DatabaseError>> {
    return voided(await this.#onClient((connection) => connection.script(sql)));
  }

  transaction<Value, Refusal>(
    work: (statements: Statements) => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseError>> {
    return this.#onClient((connection) => transactionOn(connection, work));
  }

  /** Waits for the transactions that run. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (let place = 0; place < this.#places; place += 1) await this.#turns.take();
  }

  async #onClient<Value, Refusal>(
    work: (connection: Connection) => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseError>> {
    const waiting = this.#closed ? undefined : this.#turns.take();
    if (waiting === undefined) return err(this.#closed ? closed : tooMany);
    using _turn = await waiting;
    if (this.#closed) return err(closed);
    const connected = await clientOf(this.#options);
    if (!connected.ok) return connected;
    const client = connected.value;
    try {
      return await work(connectionOf(client, this.#statementMs, () => {}));
    } finally {
      // Not awaited: a proxy that is gone does not answer the farewell.
      client.end().catch(() => {});
    }
  }
}

async function clientOf(options: NeonOptions): Promise<Result<Client, DatabaseError>> {
  try {
    // Only a transaction needs it.
    const { WebSocket } = await import("ws");
    const client = new Client({
      connectionString: options.url.reveal(),
      connectionTimeoutMillis: options.connectMs ?? connectMsDefault,
      types: cellsAsText,
    });
    client.neonConfig.webSocketConstructor = WebSocket;
    const { endpoints } = options;
    if (endpoints !== undefined) {
      client.neonConfig.wsProxy = () => endpoints.webSocket;
      client.neonConfig.useSecureWebSocket = false;
      client.neonConfig.pipelineConnect = false;
    }
    // Told by the next statement; unheard, it would end the process.
    client.on("error", () => {});
    await client.connect();
    return ok(client);
  } catch (error) {
    return err({ ...databaseErrorOf(error), kind: "unreachable" });
  }
}

/** Undefined when the URL is none: the library says so with a text that holds it. */
function httpOf({ url, endpoints }: NeonOptions): NeonQueryFunction<true, true> | undefined {
  try {
    const http = neon(url.reveal(), { arrayMode: true, fullResults: true });
    // Known to the library for the whole process only.
    neonConfig.fetchFunction ??= neonFetch();
    if (endpoints !== undefined) routeFetch(new URL(url.reveal()).hostname, endpoints.fetch);
    return http;
  } catch {
    return undefined;
  }
}

/**
 * Sends the requests for one host to a stand-in. The library knows this setting only for the whole
 * process; every other host keeps the place it had.
 */
function routeFetch(hostname: string, endpoint: string): void {
  const before = neonConfig.fetchEndpoint;
  neonConfig.fetchEndpoint = (host, port, options) => {
    if (host === hostname) return endpoint;
    return typeof before === "string" ? before : before(host, port, options);
  };
}

/** JSON has no bytes; PostgreSQL reads them from its own hexadecimal form. */
function textOf(parameter: Parameter): string | null {
  if (parameter === null) return null;
  return parameter instanceof Uint8Array
    ? `\\x${Buffer.from(parameter).toString("hex")}`
    : String(parameter);
}
