/** One question to one gateway through each protocol: the first cell as text, or the protocol's code of the refusal. */
import mysql from "mysql2/promise";
import pg from "pg";

const host = "127.0.0.1";
const answerMs = 30_000;

/** A PostgreSQL connection. `code` of an error is its SQLSTATE. */
export async function pgClient(gateway, user = "alice", password) {
  const client = new pg.Client({
    host,
    port: gateway.ports.postgresWire,
    user,
    password,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  });
  // What ends the connection also fails the query, or comes after its answer.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

export async function askPg(gateway, sql, { user, password } = {}) {
  let client;
  try {
    client = await pgClient(gateway, user, password);
    return await cellOf(client, sql);
  } catch (error) {
    return String(error.code ?? error.message);
  } finally {
    await client?.end().catch(() => {});
  }
}

/** Over a connection that is open. */
export async function cellOf(client, sql) {
  const { rows } = await client.query({ text: sql, rowMode: "array" });
  return String(rows[0]?.[0]);
}

export async function mysqlClient(gateway, password, user = "alice") {
  const client = await mysql.createConnection({
    host,
    port: gateway.ports.mysqlWire,
    user,
    password,
    connectTimeout: answerMs,
  });
  client.on("error", () => {});
  return client;
}

export async function mysqlCell(client, sql) {
  const [rows] = await client.query({ sql, rowsAsArray: true, timeout: answerMs });
  return String(rows[0]?.[0]);
}

export async function askMysql(gateway, sql, { password } = {}) {
  let client;
  try {
    client = await mysqlClient(gateway, password);
    return await mysqlCell(client, sql);
  } catch (error) {
    return String(error.errno ?? error.message);
  } finally {
    client?.destroy();
  }
}

/** One that was kept may be closed by the other side in the moment it is used. */
const unkept = { connection: "close" };

/** A first request of Trino's protocol, as it is answered. */
export function trinoStart(gateway, sql) {
  return fetch(`http://${host}:${gateway.ports.trinoHttp}/v1/statement`, {
    method: "POST",
    headers: { "x-trino-user": "alice", ...unkept },
    body: sql,
    signal: AbortSignal.timeout(answerMs),
  });
}

export async function askTrino(gateway, sql) {
  const first = await trinoStart(gateway, sql);
  if (first.status !== 200) {
    await first.arrayBuffer();
    return String(first.status);
  }
  let page = await first.json();
  let cell;
  for (;;) {
    if (page.error !== undefined) return page.error.errorName;
    cell ??= page.data?.[0]?.[0];
    if (page.nextUri === undefined) return String(cell);
    const signal = AbortSignal.timeout(answerMs);
    const next = await fetch(page.nextUri, { headers: unkept, signal });
    if (next.status !== 200) return String(next.status);
    page = await next.json();
  }
}
