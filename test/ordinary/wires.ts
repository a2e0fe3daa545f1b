/** One connection of each protocol, which answers rows as the protocol brings them, or its code of a refusal. */
import { Agent, request } from "node:http";
import mysql from "mysql2/promise";
import pg from "pg";
import type { Cell, FormName } from "./expected/forms.ts";

const host = "127.0.0.1";
/** Whose name is asked for nothing. */
const nobody = "alice";

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
  /** How its cells look. */
  readonly form: FormName;
  ask(sql: string): Promise<Answered>;
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
    form: "postgres",
    ask: async (sql) => {
      try {
        const config = { ...query(sql), rowMode: "array", types } as pg.QueryArrayConfig;
        const { rows } = await client.query<Cell[]>(config);
        return { kind: "rows", rows };
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
    jsonStrings: true,
    ...(how === "query" ? { typeCast: asText } : {}),
  });
  return {
    name: how === "query" ? "MySQL text" : "MySQL prepared",
    form: how === "query" ? "mysql" : "mysqlPrepared",
    ask: async (sql) => {
      try {
        const [rows] = how === "query" ? await client.query(sql) : await client.execute(sql);
        const lists = Array.isArray(rows) ? (rows as unknown as ClientValue[][]) : [];
        // Each statement is another one: none is kept for later.
        if (how === "execute") client.unprepare(sql);
        return { kind: "rows", rows: lists.map((row) => row.map(textOf)) };
      } catch (error) {
        return refused((error as { errno?: unknown }).errno);
      }
    },
    close: () => client.end(),
  };
}

interface TrinoPage {
  readonly nextUri?: string;
  readonly error?: { readonly errorName: string };
  readonly rows: readonly (readonly Cell[])[];
}

async function trino(gateway: Listening, user = nobody): Promise<Wire> {
  const statement = `http://${host}:${gateway.ports["trinoHttp"]}/v1/statement`;
  const agent = new Agent({ keepAlive: true });
  return {
    name: "Trino HTTP",
    form: "trino",
    ask: async (sql) => {
      const rows: (readonly Cell[])[] = [];
      let page = await pageOf(agent, statement, { user, sql });
      for (;;) {
        if (page.error !== undefined) return refused(page.error.errorName);
        for (const row of page.rows) rows.push(row);
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
        const refusal = { error: { errorName: `${response.statusCode}` }, rows: [] };
        resolve(response.statusCode === 200 ? readPage(Buffer.concat(chunks).toString()) : refusal);
      });
    });
    sent.on("error", reject);
    sent.end(sql);
  });
}

function refused(code: unknown): Answered {
  return { kind: "refused", code: String(code) };
}

/** A number in JavaScript has lost digits, so the cells stay the text that came. */
function readPage(text: string): TrinoPage {
  const start = text.indexOf(dataKey);
  if (start < 0) return { ...(JSON.parse(text) as Omit<TrinoPage, "rows">), rows: [] };
  const { rows, end } = readRows(text, start + dataKey.length - 2);
  const rest = `${text.slice(0, start)}"data":[]${text.slice(end)}`;
  return { ...(JSON.parse(rest) as Omit<TrinoPage, "rows">), rows };
}

/** Within a text of JSON its quotes would have backslashes. */
const dataKey = '"data":[[';

/** Cells of the list of rows that begins at `start`, and where it ends. */
function readRows(text: string, start: number) {
  const mark = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},]/g;
  const rows: Cell[][] = [];
  mark.lastIndex = start;
  let depth = 0;
  let cell = 0;
  for (;;) {
    const found = mark.exec(text)?.[0] ?? "]";
    const at = mark.lastIndex;
    if (found === "[" || found === "{") depth += 1;
    if (depth === 2 && found === "[") {
      rows.push([]);
      cell = at;
    }
    if (depth === 2 && (found === "," || found === "]")) {
      const shown = text.slice(cell, at - 1);
      if (shown !== "") rows.at(-1)?.push(shown === "null" ? null : shown);
      cell = at;
    }
    if (found === "]" || found === "}") depth -= 1;
    if (depth === 0) return { rows, end: at };
  }
}

type ClientValue = string | number | Buffer | null | undefined;

/** A cell that the client made a value of. Bytes are compared by their digits. */
function textOf(cell: ClientValue): Cell {
  if (cell === null || cell === undefined) return null;
  if (Buffer.isBuffer(cell)) return cell.toString("hex");
  // `String` forgets the sign of a zero.
  return Object.is(cell, -0) ? "-0" : String(cell);
}

/** The client's own reading of a text as a number would lose the last digit. */
function asText(field: MysqlField): Cell {
  return field.type === "BLOB" ? (field.buffer()?.toString("hex") ?? null) : field.string("utf8");
}

interface MysqlField {
  readonly type: string;
  string(encoding: "utf8"): string | null;
  buffer(): Buffer | null;
}
