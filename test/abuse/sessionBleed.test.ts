/** Attack 8, the part without engine credentials: what one session sets or makes for itself, no other sees, at once or later. */
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

const host = "127.0.0.1";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await gatewayOf(configOf());
});

afterAll(() => gateway[Symbol.asyncDispose]());

describe("a session through PostgreSQL", () => {
  it("keeps its settings to itself", async () => {
    const [one, two] = [await pgOf("alice"), await pgOf("bob")];
    await one.query("set application_name = 'canary'");
    expect(JSON.stringify((await one.query("show application_name")).rows)).toContain("canary");
    expect(JSON.stringify((await two.query("show application_name")).rows)).not.toContain("canary");
    await one.end();
    const later = await pgOf("alice");
    const shown = JSON.stringify((await later.query("show application_name")).rows);
    expect(shown).not.toContain("canary");
    await Promise.all([two.end(), later.end()]);
  });

  it.each(["commit", "rollback", "leaving"])(
    "keeps a temporary table to itself, also after %s",
    async (end) => {
      const [one, two] = [await pgOf("alice"), await pgOf("bob")];
      await one.query("begin");
      await one.query("create temp table canary as select 4711 as secret");
      expect((await one.query("select secret from canary")).rows).toEqual([{ secret: 4711 }]);
      await expect(two.query("select * from canary")).rejects.toThrow(/canary/);
      await (end === "leaving" ? one.end() : one.query(end));
      for (let attempt = 0; attempt < 8; attempt += 1) {
        await expect(two.query("select * from canary")).rejects.toThrow(/canary/);
      }
      await Promise.all([two.end(), end === "leaving" ? undefined : one.end()]);
    },
  );

  it("keeps a prepared statement to itself", async () => {
    const [one, two] = [await pgOf("alice"), await pgOf("bob")];
    await one.query({ name: "canary", text: "select 4711 as secret" });
    const other = await two.query({ name: "canary", text: "select 1 as secret" });
    expect(other.rows).toEqual([{ secret: 1 }]);
    const own = await one.query({ name: "canary", text: "select 4711 as secret" });
    expect(own.rows).toEqual([{ secret: 4711 }]);
    await Promise.all([one.end(), two.end()]);
  });
});

describe("a session through MySQL", () => {
  it("keeps its user variables and settings to itself", async () => {
    const port = portOf(gateway, "mysqlWire");
    const one = await mysql.createConnection({ host, port, user: "alice" });
    const two = await mysql.createConnection({ host, port, user: "bob" });
    await one.query("set wait_timeout = 4711");
    const [own] = await one.query("select @@wait_timeout");
    const [other] = await two.query("select @@wait_timeout");
    expect(JSON.stringify(own)).toContain("4711");
    expect(JSON.stringify(other)).not.toContain("4711");
    one.destroy();
    two.destroy();
  });
});

async function pgOf(user: string): Promise<pg.Client> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user });
  await client.connect();
  return client;
}
