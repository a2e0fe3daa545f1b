/** What a Trino says that statements would read, and a guard that asks it; `npm run test:real` says where the server is. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { hostOf, identifiedOf, never, valueOf } from "@gateway/engines/rig/backend.ts";
import { open } from "@gateway/engines/trino/adapter.ts";
import { trinoConfig } from "@gateway/engines/trino/config.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { TrinoClient } from "./trinoClient.ts";

const server = process.env["GATEWAY_TEST_TRINO"] ?? "";
const local = { engine: "trino", endpoint: server, user: "alice" };
/** What TPC-H's smallest orders are by Trino's statistics, and the widest column of them. */
const orders = 1_597_294;
const comments = 802_249;
const rows = 15_000;

let backend: Backend;
beforeAll(async () => {
  backend = valueOf(await open("trino", trinoConfig.parse(local), hostOf()));
});
afterAll(() => backend[Symbol.asyncDispose]());

const asked = async (sql: string, parameters: readonly Parameter[] = []) =>
  await backend.estimateScan?.(identifiedOf(sql, parameters), never);

describe("a real Trino", () => {
  const text: Parameter = { type: { kind: "text" }, value: "x" };
  it.each<[sql: string, bytes: number, parameters?: readonly Parameter[]]>([
    ["select * from tpch.tiny.orders", orders],
    ["select * from tpch.tiny.orders limit 1", orders],
    ["select o_comment from tpch.tiny.orders", comments],
    ["select count(*) from tpch.tiny.orders where o_comment like '%y'", comments],
    ["select count(*) from tpch.tiny.orders where o_comment = ?", comments, [text]],
    ["select count(*) from tpch.tiny.orders", rows],
    ["with w as (table tpch.tiny.orders) table w union all table w", 2 * orders],
    ["create table memory.default.scanned as table tpch.tiny.orders with data", orders],
    ["insert into memory.default.nowhere (a) select o_comment from tpch.tiny.orders", comments],
    ["delete from tpch.tiny.orders where o_comment = $1", orders, [text]],
    ["update tpch.tiny.orders set o_comment = $1 where o_comment = 'y'", orders, [text]],
    [
      "update tpch.tiny.orders set o_comment = (select max(o_comment) from tpch.tiny.orders)",
      orders + comments,
    ],
    [
      "merge into tpch.tiny.orders o using (select o_comment from tpch.tiny.orders) s on o.o_comment = s.o_comment when matched then delete",
      orders + comments,
    ],
    ["select 1", 0],
    ["show tables from tpch.tiny", 0],
    ["create table memory.default.scanned (a bigint)", 0],
  ])("says of %s that it reads %i bytes", async (sql, bytes, parameters) => {
    expect(await asked(sql, parameters)).toEqual({ ok: true, value: { bytes } });
  });

  it.each([
    "select * from system.runtime.nodes",
    "select * from table(sequence(1, 10))",
    "merge into tpch.tiny.orders o using tpch.tiny.orders s on o.o_orderkey = s.o_orderkey when matched and exists (table tpch.tiny.nation) then delete",
    "explain analyze select * from tpch.tiny.orders",
  ])("does not say how much is read by %s", async (sql) => {
    expect(await asked(sql)).toHaveProperty("value.unknown");
  });

  it("runs nothing of it, and says where it is wrong", async () => {
    expect(await asked("select 1 from tpch.tiny.orders where b = 1")).toMatchObject({
      error: { code: "query.unknownObject", position: 38 },
    });
    const created = "create table memory.default.scanned as select b from tpch.tiny.orders";
    expect(await asked(created)).toMatchObject({ error: { position: 47 } });
    expect(await asked("select 1; select 2")).toMatchObject({
      error: { code: "query.unsupported" },
    });
    // Trino makes this table when it is asked for a plan of the whole statement.
    await asked("create table memory.default.scanned as select 1 as a");
    const told = await new TrinoClient(server, "way_one").run("table memory.default.scanned");
    expect(told.error).toContain("TABLE_NOT_FOUND");
  });

  it("lets a guard refuse what reads too much, in a transaction too", async () => {
    const guard = { name: "scans", type: "maxScanBytes", maxBytes: comments };
    await using gateway = await gatewayOf(
      configOf({
        clusters: { local },
        clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
        guardrails: { guards: [guard] },
      }),
    );
    const host = "127.0.0.1";
    const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "ann" });
    await client.connect();
    const message = expect.stringMatching(/would read about 1597294 bytes; at most 802249/);
    const whole = "select * from tpch.tiny.orders where o_orderkey = 1";
    const few = "select o_orderkey from tpch.tiny.orders where o_orderkey = $1";
    await expect(client.query(whole)).rejects.toMatchObject({ message });
    expect((await client.query(few, [1])).rows).toEqual([{ o_orderkey: "1" }]);
    await client.query("begin");
    expect((await client.query(few, [2])).rows).toEqual([{ o_orderkey: "2" }]);
    await expect(client.query(whole)).rejects.toMatchObject({ message });
    await client.query("rollback");
    await client.end();
    const trino = new TrinoClient(`http://${host}:${portOf(gateway, "trinoHttp")}`, "way_one");
    expect((await trino.run(whole)).message).toContain("would read about");
    expect((await trino.run("select count(*) from tpch.tiny.orders")).rows).toEqual(["[15000]"]);
  });
});
