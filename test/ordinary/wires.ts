/** One connection of each protocol, which answers rows as canonical texts, or the protocol's code of a refusal. */
import { Agent, request } from "node:http";
import mysql from "mysql2/promise";
import pg from "pg";
import type { Kind } from "./tables.ts";

const host = "127.0.0.1";
/** Whose name is asked for nothing. */
const nobody = "alice";

/** A cell as text of one form for all wires; null is NULL. */
export type Cell = string | null;

export type Answered =
  | { readonly kind: "rows"; readonly rows: readonly (readonly Cell[])[] }
  /** SQLSTATE, error number or error name. */
  | { readonly kind: "refused"; readonly code: string };

/** Where a gateway listens, by kind of frontend. */
export interface Listening {
  readonly ports: Readonly<Record<string, number>>;
}

export interface Wire {
  readonly name: string;
  ask(sql: string, kinds?: readonly Kind[]): Promise<Answered>;
  close(): Promise<void>;
}

/** Each protocol, and each of its ways to bring rows. */
export const wires: readonly ((gateway: Listening, user?: string) => Promise<Wire>)[] = [
  (gateway, user) => postgres(gateway, user, "PostgreSQL simple", (text) => ({ text })),
  (gateway, user) => postgres(gateway, user, "PostgreSQL prepared", withValues),
  (gateway, user) => mysqlWire(gateway, user, "query"),
  (gateway, user) => mysqlWire(gateway, user, "execute"),
  trino,
];

/** A query with values takes the extended protocol, even with none. */
function withValues(text: string): pg.QueryConfig {
  return { text, values: [] };
}

async function postgres(
  gateway: Listening,
  user: string | undefined,
  name: string,
  query: (text: string) => pg.QueryConfig,
): Promise<Wire> {
  const port = gateway.ports["postgresWire"];
  const client = new pg.Client({ host, port: port ?? 0, user: user ?? nobody });
  client.on("error", () => {});
  await client.connect();
  const types = { getTypeParser: () => (value: unknown) => value };
  return {
    name,
    ask: async (sql, kinds = []) => {
      try {
        const config = { ...query(sql), rowMode: "array", types } as pg.QueryArrayConfig;
        const { rows } = await client.query<unknown[]>(config);
        return { kind: "rows", rows: rows.map((row) => cellsOf(row, kinds)) };
      } catch (error) {
        return refused((error as { code?: unknown }).code);
      }
    },
    close: () => client.end(),
  };
}

async function mysqlWire(
  gateway: Listening,
  user: string | undefined,
  how: "query" | "execute",
): Promise<Wire> {
  const client = await mysql.createConnection({
    host,
    port: gateway.ports["mysqlWire"] ?? 0,
    user: user ?? nobody,
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    // The client's own reading of a text as a number loses the last digit.
    ...(how === "query" ? { typeCast: asText } : {}),
  });
  return {
    name: how === "query" ? "MySQL text" : "MySQL prepared",
    ask: async (sql, kinds = []) => {
      try {
        const [rows] = how === "query" ? await client.query(sql) : await client.execute(sql);
        const lists = Array.isArray(rows) ? (rows as unknown as unknown[][]) : [];
        // Each statement is another one: none is kept for later.
        if (how === "execute") client.unprepare(sql);
        return { kind: "rows", rows: lists.map((row) => cellsOf(row, kinds)) };
      } catch (error) {
        return refused((error as { errno?: unknown }).errno);
      }
    },
    close: () => client.end(),
  };
}

interface TrinoPage {
  readonly nextUri?: string;
  readonly data?: readonly (readonly unknown[])[];
  readonly error?: { readonly errorName: string };
}

async function trino(gateway: Listening, user = nobody): Promise<Wire> {
  const statement = `http://${host}:${gateway.ports["trinoHttp"]}/v1/statement`;
  const agent = new Agent({ keepAlive: true });
  return {
    name: "Trino HTTP",
    ask: async (sql, kinds = []) => {
      const rows: (readonly Cell[])[] = [];
      let page = await pageOf(agent, statement, { user, sql });
      for (;;) {
        if (page.error !== undefined) return refused(page.error.errorName);
        for (const row of page.data ?? []) rows.push(cellsOf(row, kinds));
        if (page.nextUri === undefined) return { kind: "rows", rows };
        page = await pageOf(agent, page.nextUri, { user });
      }
    },
    close: async () => agent.destroy(),
  };
}

/** Sends a statement, or asks for the next page. Node's plain client takes a third of the time of `fetch`. */
function pageOf(
  agent: Agent,
  url: string,
  { user, sql }: { readonly user: string; readonly sql?: string },
): Promise<TrinoPage> {
  const method = sql === undefined ? "GET" : "POST";
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers: { "x-trino-user": user } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const refusal = { error: { errorName: `${response.statusCode}` } };
        const text = Buffer.concat(chunks).toString();
        resolve(response.statusCode === 200 ? (JSON.parse(text) as TrinoPage) : refusal);
      });
    });
    sent.on("error", reject);
    sent.end(sql);
  });
}

function refused(code: unknown): Answered {
  return { kind: "refused", code: String(code) };
}

function cellsOf(row: readonly unknown[], kinds: readonly Kind[]): readonly Cell[] {
  return row.map((cell, index) => canonical(cell, kinds[index] ?? "text"));
}

const truths: ReadonlySet<unknown> = new Set(["t", "true", "1", 1, true]);

/** Protocols show a value in forms of their own; what is compared is the value. */
export function canonical(cell: unknown, kind: Kind): Cell {
  if (cell === null || cell === undefined) return null;
  if (kind === "boolean") return truths.has(cell) ? "true" : "false";
  const text = textOf(cell);
  // Each protocol ends a number in its own way, and none loses a digit.
  if (kind === "double") return String(Number(text));
  // A fraction of zeros may be shown or not.
  if (kind === "timestamp")
    return text.replace(/\.(\d*?)0*$/, (_, digits) => digits && `.${digits}`);
  return text;
}

function textOf(cell: unknown): string {
  if (typeof cell === "string") return cell;
  return Buffer.isBuffer(cell) ? cell.toString() : JSON.stringify(cell);
}

function asText(field: { string(encoding: "utf8"): string | null }): string | null {
  return field.string("utf8");
}
