/** One question through a client nobody here wrote: the first cell of the answer as text, or the protocol's code of the refusal. */
import { request } from "node:https";
import * as mariadb from "mariadb";
import * as mysql from "mysql2/promise";
import pg from "pg";
import { portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";

export interface Question {
  readonly sql: string;
  readonly user?: string;
  readonly password?: string;
  /** Tags, as each protocol carries them. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Headers of the HTTP protocol. */
  readonly headers?: Readonly<Record<string, string>>;
  /** PEM of the authority; the connection is TLS when given. */
  readonly ca?: string;
}

export type Ask = (gateway: TestGateway, question: Question) => Promise<string>;

/** Over the PostgreSQL protocol; refusals are SQLSTATEs. */
export const askPg: Ask = async (gateway, question) => {
  const { sql, user = "alice", password, tags = {}, ca } = question;
  const tagText = Object.entries(tags).map((pair) => pair.join(":"));
  const client = new pg.Client({
    host,
    port: portOf(gateway, "postgresWire"),
    user,
    ...(password === undefined ? {} : { password }),
    ...(tagText.length === 0 ? {} : { options: `-c gateway.tags=${tagText.join(",")}` }),
    ...(ca === undefined ? {} : { ssl: { ca } }),
  });
  // What ends the connection also fails the query, or comes after its answer.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query({ text: sql, rowMode: "array" });
    return String(rows[0]?.[0]);
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await client.end().catch(() => {});
  }
};

/** Over the MySQL protocol with mysql2; refusals are error numbers. */
export const askMysql2: Ask = async (gateway, question) => {
  const { sql, user = "alice", password, tags = {}, ca } = question;
  const tagText = Object.entries(tags).map((pair) => pair.join(":"));
  try {
    const client = await mysql.createConnection({
      host,
      port: portOf(gateway, "mysqlWire"),
      user,
      ...(password === undefined ? {} : { password }),
      ...(tagText.length === 0 ? {} : { connectAttributes: { gateway_tags: tagText.join(",") } }),
      ...(ca === undefined ? {} : { ssl: { ca } }),
    });
    try {
      const [rows] = await client.query({ sql, rowsAsArray: true });
      return String((rows as unknown[][])[0]?.[0]);
    } finally {
      client.destroy();
    }
  } catch (error) {
    return String((error as { errno?: unknown }).errno);
  }
};

/** Over the MySQL protocol with MariaDB's client; refusals are error numbers. */
export const askMariadb: Ask = async (gateway, question) => {
  const { sql, user = "alice", password, ca } = question;
  try {
    const client = await mariadb.createConnection({
      host,
      port: portOf(gateway, "mysqlWire"),
      user,
      allowPublicKeyRetrieval: true,
      ...(password === undefined ? {} : { password }),
      ...(ca === undefined ? {} : { ssl: { ca } }),
    });
    try {
      const rows = (await client.query({ sql, rowsAsArray: true })) as unknown[][];
      return String(rows[0]?.[0]);
    } finally {
      client.destroy();
    }
  } catch (error) {
    return String((error as { errno?: unknown }).errno);
  }
};

export interface TrinoPage {
  readonly data?: readonly (readonly unknown[])[];
  readonly nextUri?: string;
  readonly error?: { readonly errorName: string };
  readonly stats: { readonly state: string };
}

/** Over Trino's protocol; refusals are HTTP statuses or names of errors. */
export const askTrino: Ask = async (gateway, question) => {
  const { sql, user = "alice", password, tags = {}, ca } = question;
  const scheme = ca === undefined ? "http" : "https";
  const url = `${scheme}://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  const tagText = Object.entries(tags).map((pair) => pair.join(":"));
  const headers = {
    ...(password === undefined
      ? { "x-trino-user": user }
      : { authorization: basicOf(user, password) }),
    ...(tagText.length === 0 ? {} : { "x-trino-client-tags": tagText.join(",") }),
    ...question.headers,
  };
  const first = await httpOf(url, { method: "POST", headers, ca }, sql);
  return first.status === 200 ? lastOf(first.page, headers, ca) : String(first.status);
};

/** The four of them by name. */
export const clients = [
  ["pg", askPg],
  ["mysql2", askMysql2],
  ["mariadb", askMariadb],
  ["trino over HTTP", askTrino],
] as const;

/** Polls to the end. */
export async function lastOf(
  first: TrinoPage,
  headers: Readonly<Record<string, string>>,
  ca?: string,
): Promise<string> {
  let page = first;
  let cell: unknown;
  for (;;) {
    if (page.error !== undefined) return page.error.errorName;
    cell ??= page.data?.[0]?.[0];
    if (page.nextUri === undefined) return String(cell);
    const next = await httpOf(page.nextUri, { method: "GET", headers, ca });
    if (next.status !== 200) return String(next.status);
    page = next.page;
  }
}

export function basicOf(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ca: string | undefined;
}

async function httpOf(
  url: string,
  { method, headers, ca }: Sent,
  body?: string,
): Promise<{ readonly status: number; readonly page: TrinoPage }> {
  if (ca === undefined) {
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await response.text();
    return { status: response.status, page: pageOf(response.status, text) };
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, ca, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.once("end", () => {
        const status = response.statusCode ?? 0;
        resolve({ status, page: pageOf(status, Buffer.concat(pieces).toString()) });
      });
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

/** The body of a refusal is text for people. */
function pageOf(status: number, text: string): TrinoPage {
  return status === 200 ? (JSON.parse(text) as TrinoPage) : { stats: { state: "REFUSED" } };
}
