/** A cancel of a Describe that waits for a lock, directly and through: what the connection holds stays. */
import {
  cancelOf,
  describeOf,
  fieldsOf,
  keyOf,
  letters,
  parseOf,
  queryOf,
  RawClient,
  startupOf,
  sync,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import pg from "pg";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
let watcher: pg.Client;
let holder: pg.Client;
beforeAll(async () => {
  server = await emptyDatabase("described");
  [watcher, holder] = [1, 2].map(() => new pg.Client({ connectionString: server.href })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([watcher.connect(), holder.connect()]);
  await holder.query("create table held (a int)");
  await holder.query("begin; lock table held in access exclusive mode");
});
afterAll(async () => await Promise.all([watcher.end(), holder.end()]));

it.each(["transaction", "session"])("in mode %s", async (poolMode) => {
  const local = {
    engine: "postgresql",
    hosts: [server.host],
    database: "described",
    auth: { type: "basic", username: server.username, password: "none" },
    poolMode,
  };
  await using gateway = await gatewayOf(configOf({ clusters: { local } }));
  const directly = await told(Number(server.port), server.username);
  expect(directly).toEqual(["57014 E", "25P02 E", "CZ I", "3"]);
  expect(await told(portOf(gateway, "postgresWire"), "ann")).toEqual(directly);
});

/** What its client hears of the cancel, and behind it. */
async function told(port: number, user: string): Promise<readonly string[]> {
  await using client = await RawClient.open(port);
  client.send(startupOf({ user, database: "described" }));
  const key = keyOf(await client.until("Z"));
  const heard = async (...sent: readonly Uint8Array[]) => {
    client.send(...sent);
    // The gateway tells the query's id besides.
    const seen = (await client.until("Z")).filter(({ type }) => type !== "S");
    const error = seen.find(({ type }) => type === "E");
    return `${error === undefined ? letters(seen) : fieldsOf(error)["C"]} ${seen.at(-1)?.body.toString("latin1")}`;
  };
  // It holds its connection, in each mode.
  await heard(queryOf("create temp table own as select 3 as n"));
  await heard(queryOf("begin"));
  const described = heard(parseOf("", "select * from held"), describeOf("S"), sync);
  await vi.waitUntil(waits, 10_000);
  await using canceller = await RawClient.open(port);
  canceller.send(cancelOf(key));
  const after = [
    await described,
    await heard(queryOf("select 1")),
    await heard(queryOf("rollback")),
  ];
  client.send(queryOf("select n from own"));
  const row = (await client.until("Z")).find(({ type }) => type === "D");
  return [...after, row?.body.toString("latin1").at(-1) ?? ""];
}

async function waits(): Promise<boolean> {
  const sql =
    "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%from held%'";
  return (await watcher.query(sql)).rowCount === 1;
}
