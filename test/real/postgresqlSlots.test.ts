/**
 * What a session counts as against the caps while a connection of a server stays with it: one slot for the one
 * connection, however many cursors and portals are open there. In each way of pooling.
 */
import {
  bindOf,
  executeOf,
  letters,
  parseOf,
  queryOf,
  RawClient,
  sync,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
beforeAll(async () => {
  server = await emptyDatabase("slots");
});

const names = ["a", "b", "c"];
const rowsSql = "select generate_series(1, 9)";

/** Rows of one step of each. */
const step = { cursors: names.map((name) => `fetch 2 from ${name}`), rows: 2 * names.length };

describe.each(["transaction", "session"])("in %s mode", (poolMode) => {
  it.each([
    ["cursors of a transaction", ["begin", ...names.map((name) => declared(name, ""))]],
    ["cursors that outlive theirs", names.map((name) => declared(name, "with hold"))],
  ])("counts %s as one", async (_what, statements) => {
    await using gateway = await pooled(poolMode);
    await using ann = await clientOf(gateway);
    for (const sql of statements) expect(await asked(ann, sql)).not.toContain("E");
    for (const sql of step.cursors) expect(await asked(ann, sql)).toBe("TDDCZ");
    await expectOneSlot(gateway);
    for (const sql of step.cursors) expect(await asked(ann, sql)).toBe("TDDCZ");
  });

  it("counts portals of a transaction as one", async () => {
    await using gateway = await pooled(poolMode);
    await using ann = await clientOf(gateway);
    await asked(ann, "begin");
    for (const portal of names) ann.send(parseOf("", rowsSql), bindOf({ portal }));
    expect(await stepped(ann)).toHaveLength(step.rows);
    await expectOneSlot(gateway);
    expect(await stepped(ann)).toHaveLength(step.rows);
  });
});

function declared(name: string, more: string): string {
  return `declare ${name} cursor ${more} for ${rowsSql}`;
}

/** Of the two slots of the group one is left: for another's transaction, and not for a third's. */
async function expectOneSlot(gateway: TestGateway): Promise<void> {
  const held = /^gateway_running_queries\{.*\} (\d+)$/m.exec(await gateway.metrics());
  expect(held?.[1]).toBe("1");
  await using bob = await clientOf(gateway);
  expect(await asked(bob, "begin")).toBe("CZ");
  expect(await asked(bob, "select 1")).toBe("TDCZ");
  await using third = await clientOf(gateway);
  expect(await asked(third, "select 1")).toBe("EZ");
}

/** Two rows of each portal. */
async function stepped(client: RawClient): Promise<string> {
  client.send(...names.map((name) => executeOf(name, 2)), sync);
  return letters(await client.until("Z")).replaceAll(/[^D]/g, "");
}

async function asked(client: RawClient, sql: string): Promise<string> {
  client.send(queryOf(sql));
  return letters(await client.until("Z")).replaceAll("S", "");
}

async function clientOf(gateway: TestGateway): Promise<RawClient> {
  return await RawClient.start(portOf(gateway, "postgresWire"), { database: "slots" });
}

async function pooled(poolMode: string): Promise<TestGateway> {
  const local = {
    engine: "postgresql",
    hosts: [server.host],
    database: "slots",
    auth: { type: "basic", username: server.username, password: "none" },
    poolMode,
  };
  const group = { members: ["local"], maxRunningQueries: 2, maxQueuedQueries: 0 };
  return await gatewayOf(configOf({ clusters: { local }, clusterGroups: { default: group } }));
}
