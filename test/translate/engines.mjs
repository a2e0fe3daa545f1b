/** The engines of the differential suite, each with the same small tables. Rows come as lists of texts that can be compared. */
import { homedir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { DuckDBInstance } from "@duckdb/node-api";
import mysql from "mysql2/promise";
import { installClickHouse, startClickHouse } from "../real/clickHouseServer.mjs";
import { installMysql, startMysql } from "../real/mysqlServer.mjs";
import { installTrinoServer, startTrinoServer } from "../real/trinoServer.mjs";
import { tablesOf } from "./tables.mjs";

const cache = process.env["GATEWAY_TEST_CACHE"] ?? join(homedir(), ".cache", "gateway-test");

/** Each opens with `{ask(sql), close()}`, or says why it can not be had. */
const starters = { duckdb, postgres, mysql: mysqlServer, clickhouse, trino };

/** Those that can be had, by dialect; `missing` says why the others can not. */
export async function openEngines(wanted) {
  const engines = new Map();
  const missing = new Map();
  for (const [dialect, start] of Object.entries(starters)) {
    if (wanted.length > 0 && !wanted.includes(dialect)) continue;
    const engine = await start();
    if (typeof engine === "string") missing.set(dialect, engine);
    else {
      for (const sql of tablesOf(dialect)) await engine.ask(sql);
      engines.set(dialect, {
        ask: async (sql) => rowsOf(await engine.ask(sql)),
        close: engine.close,
      });
    }
  }
  return { engines, missing };
}

async function duckdb() {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  return {
    ask: async (sql) => (await connection.runAndReadAll(sql)).getRowsJson(),
    close: async () => connection.closeSync(),
  };
}

async function postgres() {
  const server = new PGlite();
  const asText = (value) => value;
  const parsers = { 1082: asText, 1114: asText, 1184: asText, 1083: asText, 1186: asText };
  return {
    ask: async (sql) => (await server.query(sql, [], { rowMode: "array", parsers })).rows,
    close: () => server.close(),
  };
}

async function mysqlServer() {
  const installed = await installMysql();
  if (installed !== true) return installed;
  const { port, stop } = await startMysql();
  const login = { user: "alice", password: "alice-secret", database: "demo" };
  const connection = await mysql.createConnection({
    host: "127.0.0.1",
    port,
    ...login,
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
  });
  return {
    ask: async (sql) => {
      const [rows] = await connection.query(sql);
      return Array.isArray(rows) ? rows : [];
    },
    close: async () => {
      await connection.end();
      await stop();
    },
  };
}

async function clickhouse() {
  const installed = await installClickHouse(cache);
  if (installed !== true) return installed;
  const { url, stop } = await startClickHouse(cache);
  const authorization = `Basic ${Buffer.from("gateway:gateway-secret").toString("base64")}`;
  return {
    ask: async (sql) => {
      const address = `${url}/?default_format=JSONCompact`;
      const answer = await fetch(address, {
        method: "POST",
        body: sql,
        headers: { authorization },
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(text);
      return text === "" ? [] : JSON.parse(text).data;
    },
    close: stop,
  };
}

async function trino() {
  const installed = await installTrinoServer();
  if (installed !== true) return installed;
  const { url, stop } = await startTrinoServer();
  const headers = {
    "X-Trino-User": "test",
    "X-Trino-Catalog": "memory",
    "X-Trino-Schema": "default",
    "X-Trino-Client-Capabilities": "PARAMETRIC_DATETIME",
  };
  return {
    ask: async (sql) => {
      const rows = [];
      let next = { url: `${url}/v1/statement`, init: { method: "POST", body: sql, headers } };
      while (next !== undefined) {
        const page = await (await fetch(next.url, next.init)).json();
        if (page.error !== undefined) throw new Error(page.error.message);
        rows.push(...(page.data ?? []));
        next = page.nextUri === undefined ? undefined : { url: page.nextUri, init: { headers } };
      }
      return rows;
    },
    close: stop,
  };
}

/** Numbers to twelve digits, truth as 1 and 0, a midnight as its day: what types call these differs between engines. */
function rowsOf(rows) {
  return rows.map((row) => JSON.stringify(row.map(cellOf)));
}

function cellOf(value) {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map(cellOf);
  if (typeof value === "boolean") return value ? "1" : "0";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (/^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) {
    return String(Number(Number(text).toPrecision(12)));
  }
  if (text === "true" || text === "false") return text === "true" ? "1" : "0";
  const moment = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00(?::00)?| UTC)?$/.exec(
    text,
  );
  if (moment === null) return text;
  const [, day, time, rest = ""] = moment;
  const parts = rest.replace(/0+$/, "");
  if (time === "00:00:00" && parts === "") return day;
  return `${day} ${time}${parts === "" ? "" : `.${parts}`}`;
}
