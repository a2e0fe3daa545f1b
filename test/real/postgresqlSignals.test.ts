/** `pg_terminate_backend` and `pg_cancel_backend` of the numbers that the server told, where a connection is a session's own. */
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
let gateway: TestGateway;
let clients: pg.Client[] = [];
beforeAll(async () => {
  server = await emptyDatabase("signals");
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.end()));
  clients = [];
});

const serversPid = "select 0 + pg_backend_pid() as pid";

describe.each([
  ["session", []],
  ["transaction", ["begin"]],
])("in %s mode, behind %j", (poolMode, before) => {
  beforeAll(async () => {
    gateway = await pooled(poolMode);
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  let ann: pg.Client;
  let pid: number;
  beforeEach(async () => {
    ann = await clientOf("ann");
    for (const sql of before) await ann.query(sql);
    ({ pid } = (await ann.query<{ pid: number }>(serversPid)).rows[0] ?? { pid: 0 });
  });

  it("ends a session of one's own", async () => {
    const told = new Promise((resolve) => ann.once("error", resolve));
    const other = await clientOf("ann");
    const { rows } = await other.query(`select pg_terminate_backend(${pid}) as sent`);
    expect([rows, await told]).toMatchObject([[{ sent: true }], { code: "57P01" }]);
  });

  it("cancels what a session of one's own runs", async () => {
    const other = await clientOf("ann");
    const asleep = ann.query("select pg_sleep(100)").catch((error: unknown) => error);
    const runs = `select from pg_stat_activity where pid = ${pid} and state = 'active' and query like '%sleep(100)'`;
    await vi.waitUntil(async () => (await other.query(runs)).rowCount === 1, 10_000);
    await other.query("select pg_cancel_backend($1) as sent", [pid]);
    expect(await asleep).toMatchObject({ code: "57014" });
  });

  it("ends what a query of one's own finds, by the texts that its user knows", async () => {
    const other = await clientOf("ann");
    const text = `select pg_sleep(100), '${poolMode}'`;
    const asleep = ann.query(text).catch((error: unknown) => error);
    const cancel = {
      text: "select pid, (select pg_cancel_backend(pid)) as sent from pg_stat_activity where query = $1",
      values: [text],
    };
    const rows = async () => (await other.query(cancel)).rows;
    await vi.waitUntil(async () => (await rows()).some(({ sent }) => sent === true), 10_000);
    expect(await asleep).toMatchObject({ code: "57014" });
  });

  it("leaves alone what a query of another user finds, and says so", async () => {
    const bob = await clientOf("bob");
    const warnings: unknown[] = [];
    bob.on("notice", ({ severity, message }) => warnings.push([severity, message]));
    const found = await bob.query(
      "select pid as one, pg_terminate_backend(pid) from pg_stat_activity where pid = $1",
      [pid],
    );
    expect(found.rows).toEqual([{ one: pid, pg_terminate_backend: false }]);
    expect(found.fields.map(({ dataTypeID }) => dataTypeID)).toEqual([23, 16]);
    expect(warnings).toEqual([["WARNING", expect.stringContaining("left alone")]]);
    expect((await ann.query(serversPid)).rows).toEqual([{ pid }]);
  });

  it("is nothing for another user, who harms nobody", async () => {
    const bob = await clientOf("bob");
    await bob.query("select 1");
    for (const name of ["pg_terminate_backend", "pg_cancel_backend"])
      await expect(bob.query(`select ${name}(${pid})`)).rejects.toMatchObject({ code: "42501" });
    expect((await ann.query(serversPid)).rows).toEqual([{ pid }]);
  });
});

describe("where connections are shared", () => {
  beforeAll(async () => {
    gateway = await pooled("transaction");
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  it.each([
    ["pg_cancel_backend", "57014"],
    ["pg_terminate_backend", "57P01"],
  ])("%s finds what a session of one's own runs, while it runs", async (name, code) => {
    const [ann, other, bob] = [await clientOf("ann"), await clientOf("ann"), await clientOf("bob")];
    const text = `select pg_sleep(100), '${name}'`;
    const asleep = ann.query(text).catch((error: unknown) => error);
    const find = `select ${name}(pid) as sent from pg_stat_activity where query = '${text.replaceAll("'", "''")}'`;
    const found = async (who: pg.Client) => (await who.query<{ sent: boolean }>(find)).rows[0];
    await vi.waitUntil(async () => (await found(bob)) !== undefined, 10_000);
    expect(await found(bob)).toEqual({ sent: false });
    await vi.waitUntil(async () => (await found(other))?.sent === true, 10_000);
    expect(await asleep).toMatchObject({ code });
  });
});

async function pooled(poolMode: string): Promise<TestGateway> {
  const local = {
    engine: "postgresql",
    hosts: [server.host],
    database: "signals",
    auth: { type: "basic", username: server.username, password: "none" },
    poolMode,
  };
  return await gatewayOf(configOf({ clusters: { local } }));
}

async function clientOf(user: string): Promise<pg.Client> {
  const port = portOf(gateway, "postgresWire");
  const client = new pg.Client({ host: "127.0.0.1", port, user, database: "signals" });
  client.on("error", () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}
