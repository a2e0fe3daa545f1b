/** Snowflake's real ADBC driver against an emulator of its protocol: logins, statements, sessions, cancel. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { Backend } from "@gateway/core/port/backend.ts";
import { codeOf, identifiedOf, never, ran, valueOf } from "@gateway/engines/engine.suite.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterOf } from "./adbcHost.ts";

const uri = process.env["GATEWAY_TEST_SNOWFLAKE"] ?? "";
const keyFile = process.env["GATEWAY_TEST_SNOWFLAKE_KEY"] ?? "";
const p = "adbc.snowflake.sql.";
const dbKwargs = { [`${p}account`]: "emulated", [`${p}db`]: "db1", [`${p}schema`]: "s1" };
const basic = { type: "basic", username: "gateway", password: "gateway-secret" };
const cluster = (more: object = {}): Promise<Backend> =>
  clusterOf({ driver: "snowflake", uri, auth: basic, dbKwargs, ...more });

describe("Snowflake behind its driver", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await cluster();
    await ran(
      backend,
      "create or replace table real_t (id integer, label varchar, price number(12,2))",
    );
    await ran(backend, "insert into real_t values (1, 'one', 1.50), (2, 'two', null)");
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  it("answers numbers as decimals of 38 digits, with every digit", async () => {
    const { rows, columns } = await ran(backend, "select id, label, price from real_t order by id");
    expect(columns.map(({ type }) => type)).toEqual([
      { kind: "decimal", precision: 38, scale: 0 },
      { kind: "text" },
      { kind: "decimal", precision: 12, scale: 2 },
    ]);
    expect(rows).toEqual([
      [1n, "one", 150n],
      [2n, "two", null],
    ]);
  });

  it("binds parameters, and refuses another number of them", async () => {
    const parameters = [{ type: { kind: "text" }, value: "two" }] as const;
    const found = await ran(backend, "select id from real_t where label = $1", { parameters });
    expect(found.rows).toEqual([[2n]]);
    expect(codeOf(await ran(backend, "select $1"))).toBe("query.parameters");
  });

  it("counts changes by the columns of Snowflake's answer", async () => {
    const { kinds, last } = await ran(backend, "update real_t set label = label where id <= 2");
    expect(kinds).toEqual(["done"]);
    expect(last).toMatchObject({ updateType: "UPDATE", updateCount: 2 });
  });

  it("goes by vendor code and SQLSTATE", async () => {
    expect(codeOf(await ran(backend, "select * from nowhere"))).toBe("query.unknownObject");
    expect(codeOf(await ran(backend, "selec 1 frm"))).toBe("query.syntax");
    const several = await ran(backend, "delete from real_t; select 1");
    expect(codeOf(several)).toBe("query.unsupported");
  });

  it("moves no files of this host", async () => {
    for (const sql of [
      "put file:///etc/passwd @~",
      "GET @~/x file:///tmp/",
      "/* a */ put file:///etc/passwd @~",
      "-- a\nget @~ file:///tmp",
      "// a\nput file:///etc/passwd @~",
    ]) {
      expect([sql, codeOf(await ran(backend, sql))]).toEqual([sql, "query.permission"]);
    }
  });

  it("tells USE as a change of the session, and brings it along", async () => {
    await ran(backend, "create schema if not exists db1.s2");
    const events = [];
    for await (const event of backend.execute(identifiedOf("use schema s2"), never)) {
      events.push(event);
    }
    expect(events).toMatchObject([
      { kind: "session", change: { kind: "catalog", catalog: "DB1", schema: "S2" } },
      { kind: "done", updateType: "USE" },
    ]);
    const session = { catalog: "DB1", schema: "S2" };
    expect((await ran(backend, "select current_schema()", { session })).rows).toEqual([["S2"]]);
    expect((await ran(backend, "select current_schema()")).rows).toEqual([["S1"]]);
    const role = [];
    for await (const event of backend.execute(identifiedOf("use role analyst"), never)) {
      role.push(event);
    }
    expect(role[0]).toMatchObject({ change: { kind: "setting", name: "role", value: "ANALYST" } });
  });

  it("carries the tag where the service shows it", async () => {
    await fetch(`${uri}/test/log`, { method: "DELETE" });
    await ran(backend, "select 42 as seen");
    const log = await (await fetch(`${uri}/test/log`)).text();
    expect(log).toContain("/* gateway/suite/0/suite */ select 42 as seen");
  });

  it("ends a cancelled statement in the service, and answers the next one", async () => {
    const controller = new AbortController();
    const sql = "select count(*) from range(10000000000) a, range(1000) b";
    const running = ran(backend, sql, { signal: controller.signal });
    for (;;) {
      const log = await (await fetch(`${uri}/test/log`)).text();
      if (log.includes("10000000000")) break;
    }
    controller.abort();
    expect(codeOf(await running)).toBe("query.cancelled");
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });

  it("keeps and takes back what a transaction did", async () => {
    const lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    await ran(lane, "delete from real_t");
    expect((await lane.rollback(never)).ok).toBe(true);
    await lane[Symbol.asyncDispose]();
    expect((await ran(backend, "select count(*) from real_t")).rows).toEqual([[2n]]);
  });

  it("lists its tables", async () => {
    const tables = valueOf(await backend.listTables(identifiedOf("show tables"), never));
    const table = tables.find(({ name }) => name === "REAL_T");
    expect(table?.columns.map(({ name }) => name)).toEqual(["ID", "LABEL", "PRICE"]);
    expect(backend.catalogs).toEqual(["DB1"]);
  });
});

describe("a Snowflake login", () => {
  it("is taken with a token and with a key", async () => {
    const privateKeyPem = await readFile(keyFile, "utf8");
    for (const auth of [
      { type: "bearer", token: "gateway-oauth" },
      { type: "keyPair", username: "gateway", privateKeyPem },
    ]) {
      await using backend = await cluster({ auth });
      expect((await ran(backend, "select current_user() as u")).rows).toEqual([["GATEWAY"]]);
    }
  });

  it("that is refused makes the cluster unreachable, and shows no secret", async () => {
    for (const auth of [
      { ...basic, password: "wrong-secret" },
      { type: "bearer", token: "wrong-secret" },
    ]) {
      await using backend = await cluster({ auth });
      const { last } = await ran(backend, "select 1");
      expect(last).toMatchObject({ error: { code: "cluster.connectFailed" } });
      expect(JSON.stringify(last)).not.toContain("wrong-secret");
    }
  });

  it("to a service that never answers ends within the limit", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await using backend = await cluster({ uri: `http://127.0.0.1:${port}` });
    expect(codeOf(await ran(backend, "select 1"))).toBe("cluster.connectFailed");
    silent.close();
  });
});
