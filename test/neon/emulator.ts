/**
 * A stand-in for Neon's two endpoints in front of a PostgreSQL server: `POST /sql`, one statement or
 * one batch per request, and `/v2`, a WebSocket that carries PostgreSQL's own wire protocol.
 *
 * It does what `@neondatabase/serverless` asks for with text cells. It does not do: TLS, tokens
 * (`Authorization`), Neon's limits on sizes and times, its pooler, its sleep and its start-up, and
 * the answers of a proxy whose database is away. User, password and database go to the server as the
 * connection string has them, so they are checked as the server checks them.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { Client, DatabaseError } from "pg";
import { createWebSocketStream, WebSocketServer } from "ws";

export interface NeonEmulator extends AsyncDisposable {
  /** Host and port: `127.0.0.1:4444`. */
  readonly place: string;
  /** As `openNeon` takes them. */
  readonly endpoints: { readonly fetch: string; readonly webSocket: string };
}

/** A PostgreSQL server, by its address. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

interface Statement {
  readonly query: string;
  readonly params?: readonly unknown[];
}

/** Starts on a free port. */
export async function startNeonEmulator(target: Target): Promise<NeonEmulator> {
  const server = createServer((request, response) => {
    answer(request, response, target).catch((error: unknown) => {
      send(response, 500, { message: error instanceof Error ? error.message : "failed" });
    });
  });
  const sockets = new WebSocketServer({ server, path: "/v2" });
  sockets.on("connection", (socket) => {
    const outer = createWebSocketStream(socket);
    const inner = connect(target.port, target.host);
    outer.on("error", () => inner.destroy());
    inner.on("error", () => socket.terminate());
    outer.pipe(inner).pipe(outer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    place,
    endpoints: { fetch: `http://${place}/sql`, webSocket: `${place}/v2` },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
): Promise<void> {
  const url = header(request, "neon-connection-string");
  if (request.method !== "POST" || request.url !== "/sql") return send(response, 404, {});
  if (url === undefined || header(request, "neon-raw-text-output") !== "true") {
    return send(response, 400, { message: "not a request of the serverless driver" });
  }
  const body = JSON.parse(await textOf(request)) as Statement | { queries: readonly Statement[] };
  const client = new Client({ ...credentialsIn(url), ...target, types: asText });
  client.on("error", () => {});
  try {
    await client.connect();
    const arrays = header(request, "neon-array-mode") === "true";
    const results =
      "queries" in body
        ? { results: await batch(client, body.queries, begin(request), arrays) }
        : await run(client, body, arrays);
    send(response, 200, results);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    // The text of an error is no field of the object.
    send(response, 400, Object.assign({}, error, { message: error.message }));
  } finally {
    await client.end();
  }
}

async function batch(
  client: Client,
  statements: readonly Statement[],
  beginSql: string,
  arrays: boolean,
): Promise<readonly unknown[]> {
  await client.query(beginSql);
  const results: unknown[] = [];
  try {
    for (const statement of statements) results.push(await run(client, statement, arrays));
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
  await client.query("commit");
  return results;
}

async function run(client: Client, { query, params = [] }: Statement, arrays: boolean) {
  // Neon takes one statement, with parameters or without.
  const statement = { text: query, values: [...params], queryMode: "extended" };
  const { command, rowCount, rows, fields } = arrays
    ? await client.query({ ...statement, rowMode: "array" })
    : await client.query(statement);
  return { command, rowCount, rows, fields, rowAsArray: arrays };
}

function begin(request: IncomingMessage): string {
  const level = {
    ReadUncommitted: "read uncommitted",
    ReadCommitted: "read committed",
    RepeatableRead: "repeatable read",
    Serializable: "serializable",
  }[header(request, "neon-batch-isolation-level") ?? "ReadCommitted"];
  const readOnly = header(request, "neon-batch-read-only") === "true" ? "read only" : "read write";
  const deferrable = header(request, "neon-batch-deferrable") === "true" ? "deferrable" : "";
  return `begin isolation level ${level ?? "read committed"} ${readOnly} ${deferrable}`;
}

const asText = { getTypeParser: () => (cell: string) => cell };

function credentialsIn(url: string) {
  const { username, password, pathname } = new URL(url);
  return {
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  };
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
