/** Questions about tables where the engine has no information_schema, through a listener. */
import { noModes } from "@gateway/core/sql/session/statement.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { err, ok } from "@gateway/core/result.ts";
import type { Connection } from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { tableOf } from "../rig/local.ts";
import { clientOf, doneOf, failureOf, serverOf } from "../rig/mysql.ts";

const id = {
  name: "id",
  type: { kind: "integer", bits: 64, signed: true },
  nullable: false,
} as const;
const tables = [
  tableOf("t", { columns: [id], keys: [{ kind: "primary", columns: ["id"] }] }),
  tableOf("v", { kind: "view" }),
  tableOf("u", { schema: "other" }),
];
const script = { tables, catalogs: ["lake"] };

describe("an engine without information_schema", () => {
  it("has its tables named by what the door lists, in text and prepared", async () => {
    await using server = await serverOf(script);
    await using client = await clientOf(server);
    for (const ask of [askText, askPrepared]) {
      expect(await ask(client, "SHOW TABLES FROM s LIKE 't%'")).toEqual([["t"]]);
      const full = await ask(client, "SHOW FULL TABLES FROM s");
      expect(full).toEqual([
        ["t", "BASE TABLE"],
        ["v", "VIEW"],
      ]);
      expect(await ask(client, "SHOW DATABASES")).toEqual([["other"], ["s"]]);
      expect(await ask(client, "DESCRIBE s.t")).toEqual([["id", "bigint", "NO", "PRI", null, ""]]);
    }
    const [, [column]] = await client.query({ sql: "SHOW TABLES FROM s", rowsAsArray: true });
    expect(column?.name).toBe("Tables_in_s");
    expect(await failureOf(client.query("DESCRIBE s.nothing"))).toMatchObject({ errno: 1146 });
    expect(server.bugs()).toEqual([]);
  });

  it("has its own error told where nothing can be listed", async () => {
    const list = () => Promise.resolve(err(gatewayError("cluster.unavailable")));
    await using server = await serverOf({ tables: list });
    await using client = await clientOf(server);
    const failure = await failureOf(client.query("SHOW TABLES"));
    expect(failure.message).toContain("information_schema.tables");
  });

  it("is not left while a transaction holds its slot", async () => {
    let listings = 0;
    const list = () => Promise.resolve(ok((listings += 1) > 0 ? tables : []));
    const begin = async function* () {
      const pin = { cluster: "c", group: "g", state: "open", end: async () => undefined } as const;
      yield { kind: "session", change: { kind: "pinned", modes: noModes, pin } } as const;
      yield doneOf({ updateType: "BEGIN" });
    };
    await using server = await serverOf({ ...script, tables: list, answers: { BEGIN: begin } });
    await using client = await clientOf(server);
    await client.query("BEGIN");
    await failureOf(client.query("SHOW TABLES"));
    expect(listings).toBe(0);
  });
});

it("asks the door for no listing where the engine failed otherwise", async () => {
  let listings = 0;
  const list = () => Promise.resolve(ok((listings += 1) > 0 ? tables : []));
  const error = gatewayError("engine.resources");
  const sql =
    'SELECT table_name AS "Tables_in_s" FROM information_schema.tables WHERE table_catalog = $1 AND table_schema = $2 ORDER BY table_name';
  const answers = { [sql]: [{ kind: "failed", error } as const] };
  await using server = await serverOf({ ...script, tables: list, answers });
  await using client = await clientOf(server);
  await failureOf(client.query("SHOW TABLES FROM s"));
  expect([listings, server.door.queries.length]).toEqual([0, 1]);
});

async function askText(client: Connection, sql: string): Promise<unknown> {
  const [rows] = await client.query({ sql, rowsAsArray: true });
  return rows;
}

async function askPrepared(client: Connection, sql: string): Promise<unknown> {
  const [rows] = await client.execute({ sql, rowsAsArray: true });
  return rows;
}
