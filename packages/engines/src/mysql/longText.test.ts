/** Commands of 16 MB and more, which go in several packets: the answer is numbered behind the last of them. */
import { Home } from "@gateway/core/query/home.ts";
import type { MysqlExecution } from "@gateway/core/query/mysqlCall.ts";
import { columnType, commandCode, packetBytesMax } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open as openStarRocks } from "../starRocks/adapter.ts";
import { starRocksConfig } from "../starRocks/config.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";
import { columnOf, eofOf, preparedOf, ScriptedMysql, type Script } from "./rig/scripted.ts";

const auth = { type: "basic", username: "ann", password: "none" };
const long = `do length('${"x".repeat(packetBytesMax)}')`;

describe("a command of several packets", () => {
  it("has its answer as a text, and as it is described", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server);
    for (const sql of [long, "do 1", long])
      expect(await lastOf(backend, sql)).toMatchObject({ kind: "done" });
    expect(server.texts).toEqual([long, "do 1", long]);
    expect((await backend.describe(queryOf(long), never)).ok).toBe(true);
    const nothing = { parameters: 0, body: new Uint8Array(), longData: new Map() };
    expect(await lastOf(backend, long, nothing)).toMatchObject({ kind: "done" });
  });

  it("has its answer from every server of the family", async () => {
    await using server = await ScriptedMysql.start();
    const endpoint = `mysql://127.0.0.1:${server.port}`;
    const config = starRocksConfig.parse({ engine: "starRocks", endpoint, auth });
    await using backend = valueOf(await openStarRocks("c", config, hostOf()));
    const events = [];
    for await (const event of backend.execute(identifiedOf(long), never)) events.push(event);
    expect(events.at(-1)).toMatchObject({ kind: "done" });
  });

  it("has its answer as an execution, whose values it carries", async () => {
    const value = Buffer.alloc(packetBytesMax, "x");
    const length = Uint8Array.of(0xfd, value.length & 0xff, (value.length >> 8) & 0xff, 0xff);
    const head = Uint8Array.of(0, 1, columnType.string, 0);
    const body = Buffer.concat([head, length, value]);
    const script: Script = ({ code }) =>
      code === commandCode.stmtPrepare ? [preparedOf(9, 0, 1), columnOf("?"), eofOf()] : undefined;
    await using server = await ScriptedMysql.start(script);
    await using backend = await backendOf(server);
    const execution = { parameters: 1, body, longData: new Map() };
    for (let time = 0; time < 2; time += 1)
      expect(await lastOf(backend, "do ?", execution)).toMatchObject({ kind: "done" });
  });
});

type Backend = Awaited<ReturnType<typeof backendOf>>;

async function lastOf(backend: Backend, sql: string, execution?: MysqlExecution) {
  const events = [];
  for await (const event of backend.execute(queryOf(sql, execution), never)) events.push(event);
  return events.at(-1);
}

function queryOf(sql: string, execution?: MysqlExecution) {
  const session = { frontend: "mysqlWire", dialect: "mysql" } as const;
  const takes = ["mysqlRows", "mysqlBinaryRows", "mysqlNext"] as const;
  const mysql = { home: new Home(), foundRows: false, ignoreSpace: false, execution };
  return { ...identifiedOf(sql, [], session), mysql, takes };
}

async function backendOf(server: ScriptedMysql) {
  const hosts = [`127.0.0.1:${server.port}`];
  return valueOf(await open("c", mysqlConfig.parse({ engine: "mysql", hosts, auth }), hostOf()));
}
