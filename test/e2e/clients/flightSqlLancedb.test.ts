/** The npm client of Flight SQL over the real pipeline and a real DuckDB; and what a client by hand sees of both. */
import { create } from "@bufbuild/protobuf";
import * as sql from "@gateway/frontends/flightSql/proto/FlightSql_pb.js";
import { FlightClient } from "@gateway/frontends/flightSql/rig/client.ts";
import { Client } from "@lancedb/arrow-flight-sql-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../gateway.ts";

const loopback = { host: "127.0.0.1", port: 0 };
let gateway: TestGateway;
let client: Client;
beforeAll(async () => {
  gateway = await gatewayOf(
    configOf({
      gateway: {
        frontends: { flightSql: loopback },
        adminApi: loopback,
        persistence: { type: "inMemory" },
      },
    }),
  );
  const host = `127.0.0.1:${portOf(gateway, "flightSql")}`;
  client = await Client.connect({ host, username: "ann", password: "x", insecure: true });
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

describe("the npm client", () => {
  it("logs in and reads rows of many batches", async () => {
    const result = await client.query(
      "SELECT i::INTEGER AS i, 'x' || i AS t FROM range(100000) r(i)",
    );
    const rows = (await result.collectToObjects()) as { readonly i: number; readonly t: string }[];
    expect(rows.length).toBe(100_000);
    expect(rows.every(({ i, t }, row) => i === row && t === `x${row}`)).toBe(true);
  });

  it("is told why a statement failed", async () => {
    await expect(client.query("SELECT * FROM nowhere")).rejects.toThrow(/nowhere/);
  });
});

describe("a client by hand", () => {
  it("keeps a transaction's changes to itself until it is committed, and takes them back", async () => {
    const own = await FlightClient.connect(portOf(gateway, "flightSql"), { user: "ann" });
    const count = async (transaction?: Uint8Array): Promise<unknown> =>
      (await own.query("SELECT count(*)::INTEGER AS n FROM t", transaction)).table.get(0)?.["n"];
    await own.update("CREATE TABLE t (n INTEGER)");
    for (const action of ["ROLLBACK", "COMMIT"] as const) {
      const { transactionId } = await own.ask(
        "BeginTransaction",
        [sql.ActionBeginTransactionRequestSchema, create(sql.ActionBeginTransactionRequestSchema)],
        sql.ActionBeginTransactionResultSchema,
      );
      expect(await own.update("INSERT INTO t VALUES (1)", transactionId)).toBe(1n);
      expect([await count(transactionId), await count()]).toEqual([1, 0]);
      const end = sql.ActionEndTransactionRequest_EndTransaction[action];
      const request = create(sql.ActionEndTransactionRequestSchema, { transactionId, action: end });
      await own.ask(
        "EndTransaction",
        [sql.ActionEndTransactionRequestSchema, request],
        sql.ActionBeginTransactionResultSchema,
      );
    }
    expect(await count()).toBe(1);
    own.destroy();
  });

  it("sees its tables with their keys and schemas", async () => {
    const own = await FlightClient.connect(portOf(gateway, "flightSql"), { user: "ann" });
    await own.update("CREATE TABLE keyed (id INTEGER PRIMARY KEY, label VARCHAR)");
    const tables = create(sql.CommandGetTablesSchema, {
      tableNameFilterPattern: "key%",
      includeSchema: true,
    });
    const { table } = await own.command(sql.CommandGetTablesSchema, tables);
    expect(table.toArray().map((row) => [row?.["table_name"], row?.["table_type"]])).toEqual([
      ["keyed", "TABLE"],
    ]);
    const keys = create(sql.CommandGetPrimaryKeysSchema, { table: "keyed" });
    const found = await own.command(sql.CommandGetPrimaryKeysSchema, keys);
    expect(
      found.table.toArray().map((row) => [row?.["column_name"], row?.["key_sequence"]]),
    ).toEqual([["id", 1]]);
    own.destroy();
  });
});
