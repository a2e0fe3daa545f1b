/**
 * ClickHouse's HTTP interface over an embedded DuckDB: an ordinary server with real SQL, which can
 * misbehave on command. The SQL is DuckDB's; requests, formats, codes and lists are ClickHouse's.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ErrorCode } from "@gateway/contract/error.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import { relex } from "@gateway/core/sql/rewrite/relex.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { open } from "@gateway/engines/duckDb/adapter.ts";
import { duckDbConfig } from "@gateway/engines/duckDb/config.ts";
import { hostOf, identifiedOf, valueOf } from "@gateway/engines/rig/backend.ts";
import { asUser, refusalOf, type Impersonation } from "./clickHouseAs.ts";
import { nativeBlock, typeText } from "./clickHouseNative.ts";

/** What it does instead of answering. */
export type Misbehaviour =
  /** Takes the request and never answers. */
  | "stall"
  /** Breaks the connection in the middle of a block. */
  | "cut"
  /** An exception as text behind the first block, the way ClickHouse writes one. */
  | "exceptionInMiddle"
  | "garbage"
  /** A block that claims more rows than there are bytes in the world. */
  | "lyingRows"
  /** Names another query in its head. */
  | "otherQuery"
  | "redirect"
  /** A proxy's page. */
  | "badGateway";

export interface FakeClickHouse extends AsyncDisposable {
  readonly endpoint: string;
  /** For every request after it that is no question about lists; undefined ends it. */
  misbehave(how: Misbehaviour | undefined): void;
  /** Statements in order, as they were received. */
  readonly seen: readonly {
    readonly sql: string;
    readonly queryId: string;
    readonly user: string;
  }[];
  /** As whom each request ran, also those about lists and the server itself; `sql` is without `EXECUTE AS`. */
  readonly requests: { readonly sql: string; readonly ran: string }[];
  /** What it does with `EXECUTE AS`. */
  impersonation: Impersonation;
  /** A statement with this text begins and goes on whoever leaves or kills it, and `KILL … SYNC` waits with it, until `endAll`. */
  deafTo: string | undefined;
  endAll(): void;
  /** Query ids that run now. */
  readonly running: ReadonlyMap<string, AbortController>;
}

/** Starts it on a free port. One login: `gateway` with `gateway-secret`. */
export async function fakeClickHouse(): Promise<FakeClickHouse> {
  const config = duckDbConfig.parse({ engine: "duckDb", poolSize: 4 });
  const backend = valueOf(await open(`fake${(count += 1)}`, config, hostOf()));
  const fake = new Fake(backend);
  await fake.listen();
  return fake;
}

let count = 0;

class Fake implements FakeClickHouse {
  readonly seen: { sql: string; queryId: string; user: string }[] = [];
  readonly requests: { sql: string; ran: string }[] = [];
  impersonation: Impersonation = "off";
  readonly running = new Map<string, AbortController>();
  readonly #ends = new Map<string, Promise<void>>();
  readonly #backend: Backend;
  readonly #server: Server;
  deafTo: string | undefined;
  #how: Misbehaviour | undefined;
  #free: (() => void)[] = [];

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
  }

  endAll(): void {
    for (const free of this.#free.splice(0)) free();
  }

  misbehave(how: Misbehaviour | undefined): void {
    this.#how = how;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    for (const controller of this.running.values()) controller.abort();
    await this.#backend[Symbol.asyncDispose]();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://fake");
    const queryId = url.searchParams.get("query_id") ?? "none";
    const text = await bodyOf(request);
    const login = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
    const [user = ""] = login.split(":");
    response.setHeader("X-ClickHouse-Query-Id", queryId);
    if (login !== "gateway:gateway-secret") {
      return refuse(response, 516, `${user}: Authentication failed`);
    }
    const named = asUser(text);
    const refusal = named === undefined ? undefined : refusalOf(named, this.impersonation);
    if (refusal !== undefined) return refuse(response, ...refusal);
    const sql = named?.sql ?? text;
    this.requests.push({ sql, ran: named?.user ?? user });
    if (await this.#lists(sql, response, queryId)) return;
    this.seen.push({ sql: text, queryId, user });
    if (this.#how !== undefined) return this.#misbehaves(this.#how, response);
    if (sql === "SELECT currentUser(), version()") {
      return send(response, textColumns("currentUser()", "version()"), [[user, "25.8.1.2"]]);
    }
    if (/\bcurrentUser\(\)/.test(sql)) {
      return send(response, textColumns("currentUser()"), [[named?.user ?? user]]);
    }
    const read = relex(sql, "clickhouse", "duckdb");
    if (!read.ok) return refuse(response, 62, "Syntax error");
    const asked = { queryId, shift: text.length - sql.length };
    await this.#run(substituted(read.value, url.searchParams), response, asked);
  }

  /** Questions about the server itself. */
  async #lists(sql: string, response: ServerResponse, queryId: string): Promise<boolean> {
    const killed = /^KILL QUERY WHERE query_id = '([^']*)'/.exec(sql)?.[1];
    if (killed !== undefined) {
      const controller = this.running.get(killed);
      controller?.abort();
      // What SYNC means.
      await this.#ends.get(killed);
      send(response, textColumns("kill_status"), controller === undefined ? [] : [["finished"]]);
      return true;
    }
    if (sql.includes("FROM system.processes")) {
      const rows = [queryId, ...this.running.keys()].map((id) => ["fake", id]);
      send(response, textColumns("host", "query_id"), rows);
      return true;
    }
    if (sql.includes("FROM system.databases")) {
      const name = /name = '([^']*)'/.exec(sql)?.[1] ?? "";
      send(response, textColumns("name"), ["main", "default"].includes(name) ? [[name]] : []);
      return true;
    }
    if (!sql.includes("FROM system.columns")) return false;
    const tables = valueOf(
      await this.#backend.listTables(identifiedOf("show tables"), new AbortController().signal),
    );
    const rows = tables.flatMap((table) =>
      table.columns.map((column) => [
        table.schema,
        table.name,
        table.kind === "view" ? "1" : "0",
        column.name,
        typeText(column.type, true),
      ]),
    );
    send(response, textColumns("database", "table", "view", "name", "type"), rows);
    return true;
  }

  /** `shift`: bytes of the request before the statement. */
  async #run(
    sql: string,
    response: ServerResponse,
    { queryId, shift }: { readonly queryId: string; readonly shift: number },
  ): Promise<void> {
    const described = /^DESCRIBE TABLE \(([\s\S]*)\n\)$/.exec(sql)?.[1];
    if (described !== undefined) return this.#describe(described, response);
    const controller = new AbortController();
    this.running.set(queryId, controller);
    let ended = (): void => undefined;
    this.#ends.set(queryId, new Promise((resolve) => (ended = resolve)));
    // As the setting `cancel_http_readonly_queries_on_client_close` says.
    response.on("close", () => controller.abort());
    if (this.deafTo !== undefined && sql.includes(this.deafTo))
      await new Promise<void>((free) => this.#free.push(free));
    let columns: readonly Column[] = [];
    try {
      for await (const event of this.#backend.execute(identifiedOf(sql), controller.signal)) {
        if (event.kind === "columns") ({ columns } = event);
        if (event.kind === "failed") return failed(response, event.error, shift);
        if (event.kind === "batch") {
          sendBatch(response, columns, event.batch);
          await drained(response, controller.signal);
        }
        if (event.kind === "done" && !response.headersSent) {
          const { updateCount } = event;
          response.setHeader(
            "X-ClickHouse-Summary",
            JSON.stringify(updateCount === undefined ? {} : { written_rows: `${updateCount}` }),
          );
        }
      }
      begin(response);
      response.end();
    } finally {
      this.running.delete(queryId);
      this.#ends.delete(queryId);
      ended();
    }
  }

  async #describe(sql: string, response: ServerResponse): Promise<void> {
    const never = new AbortController().signal;
    const found = await this.#backend.describe(identifiedOf(sql), never);
    if (!found.ok) return failed(response, found.error);
    const rows = found.value.columns.map(({ name, type }) => [name, typeText(type, true)]);
    send(response, textColumns("name", "type"), rows);
  }

  #misbehaves(how: Misbehaviour, response: ServerResponse): void {
    const block = nativeBlock(
      textColumns("n"),
      rowsOf(1000, (row) => [`row ${row}`]),
    );
    switch (how) {
      case "stall":
        return;
      case "cut":
        begin(response);
        response.write(block.subarray(0, block.length - 5), () => response.destroy());
        return;
      case "exceptionInMiddle":
        begin(response);
        response.write(block);
        response.end(
          "Code: 395. DB::Exception: Value passed to 'throwIf' function is non-zero. (X)\n",
        );
        return;
      case "garbage":
        begin(response);
        response.end("<html>not what was asked for</html>");
        return;
      case "lyingRows":
        begin(response);
        response.end(Buffer.from([1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1, 0x6e]));
        return;
      case "otherQuery":
        response.setHeader("X-ClickHouse-Query-Id", "somebody-else");
        begin(response);
        response.end(block);
        return;
      case "redirect":
        response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
        return;
      case "badGateway":
        response.writeHead(502).end("<html>Bad Gateway</html>");
    }
  }
}

function begin(response: ServerResponse): void {
  if (response.headersSent) return;
  response.setHeader("X-ClickHouse-Format", "Native");
  response.flushHeaders();
}

function send(
  response: ServerResponse,
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
): void {
  begin(response);
  response.end(rows.length === 0 ? undefined : nativeBlock(columns, rows));
}

function sendBatch(response: ServerResponse, columns: readonly Column[], given: Batch): void {
  begin(response);
  const batch = columnarOf(given);
  const rows = rowsOf(batch.rows, (row) => batch.columns.map((column) => valueAt(column, row)));
  response.write(nativeBlock(columns, rows));
}

function textColumns(...names: readonly string[]): readonly Column[] {
  return names.map((name) => ({ name, type: { kind: "text" }, nullable: true }));
}

function rowsOf(
  length: number,
  row: (index: number) => readonly Value[],
): readonly (readonly Value[])[] {
  return Array.from({ length }, (_, index) => row(index));
}

const numbers: Partial<Record<ErrorCode, number>> = {
  "query.syntax": 62,
  "query.unknownObject": 60,
  "query.data": 6,
  "query.invalid": 36,
  "query.cancelled": 394,
  "query.parameters": 456,
  "query.unsupported": 48,
  "query.permission": 497,
};

function failed(response: ServerResponse, error: GatewayError, shift = 0): void {
  const place =
    error.position === undefined
      ? ""
      : `Syntax error: failed at position ${error.position + shift}: `;
  refuse(response, numbers[error.code] ?? 1002, `${place}${error.message}`);
}

function refuse(response: ServerResponse, number: number, message: string): void {
  const text = `Code: ${number}. DB::Exception: ${message}. (NAME) (version 26.7.1 (fake))\n`;
  if (response.headersSent) {
    response.end(text);
    return;
  }
  response.setHeader("X-ClickHouse-Exception-Code", `${number}`);
  response.writeHead(number === 516 ? 403 : 500).end(text);
}

/** Waits for a client that is behind, but no longer than the statement is wanted. */
function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off("drain", go);
      response.off("close", go);
      signal.removeEventListener("abort", go);
      resolve();
    };
    response.on("drain", go);
    response.on("close", go);
    signal.addEventListener("abort", go);
    if (!response.writableNeedDrain || response.closed || signal.aborted) go();
  });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part as Uint8Array);
  return Buffer.concat(parts).toString();
}

/** ClickHouse's names of parameter types as DuckDB's. */
function duckDbType(name: string): string {
  const inner = /^Nullable\((.*)\)$/.exec(name)?.[1] ?? name;
  if (inner === "Int128") return "HUGEINT";
  if (inner === "UInt128") return "UHUGEINT";
  if (inner === "Bool") return "BOOLEAN";
  if (inner === "String") return "VARCHAR";
  if (inner === "Date32") return "DATE";
  const integer = /^(U?)Int(\d+)$/.exec(inner);
  if (integer !== null) return `${integer[1] ?? ""}${integers[integer[2] ?? ""] ?? ""}`;
  if (inner.startsWith("Float")) return inner === "Float32" ? "FLOAT" : "DOUBLE";
  if (inner.startsWith("DateTime64")) return inner.includes("UTC") ? "TIMESTAMPTZ" : "TIMESTAMP";
  return inner;
}

const integers: Readonly<Record<string, string>> = {
  "8": "TINYINT",
  "16": "SMALLINT",
  "32": "INTEGER",
  "64": "BIGINT",
};

function substituted(sql: string, fields: URLSearchParams): string {
  const casts = /CAST\(NULL, '([^']+)'\)/g;
  const cast = sql.replaceAll(casts, (_all, type: string) => `CAST(NULL AS ${duckDbType(type)})`);
  return cast.replaceAll(/\{(p\d+):((?:[^{}])+)\}/g, (_all, name: string, type: string) => {
    const text = fields.get(`param_${name}`) ?? "\\N";
    if (text === "\\N") return `CAST(NULL AS ${duckDbType(type)})`;
    const plain = text.replaceAll(
      /\\(.)/gs,
      (_escape, letter: string) => escapes[letter] ?? letter,
    );
    return `CAST('${plain.replaceAll("'", "''")}' AS ${duckDbType(type)})`;
  });
}

const escapes: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", "0": "\0" };
