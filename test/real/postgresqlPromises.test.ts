/** No state of one client is seen by another, and none is lost, in each way of pooling connections to a PostgreSQL. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";
import { Session } from "./postgresqlModel.ts";
import { interleaved, turnsOf } from "./promises.ts";

let server: URL;
let watcher: pg.Client;
beforeAll(async () => {
  server = await emptyDatabase("promises");
  watcher = new pg.Client({ connectionString: server.href });
  await watcher.connect();
  await watcher.query("create table own_rows (client int, n serial, primary key (client, n))");
});
afterAll(async () => await watcher.end());

const sessions = 10;

describe.each([
  // Fewer connections than sessions: they are handed on all the time.
  { poolMode: "transaction", pinning: "allow", poolSize: 4, share: 0.2 },
  { poolMode: "transaction", pinning: "refuse", poolSize: 3, share: 0.05 },
  { poolMode: "session", pinning: "allow", poolSize: sessions, share: 0.1 },
  { poolMode: "statement", pinning: "allow", poolSize: 3, share: 0.15 },
] as const)("in mode $poolMode, pinning $pinning", ({ poolMode, pinning, poolSize, share }) => {
  it("every session finds its own state and nobody else's", async () => {
    await watcher.query("truncate own_rows");
    const auth = { type: "basic", username: server.username, password: "none" };
    const own = { engine: "postgresql", hosts: [server.host], database: "promises", auth };
    const group = { members: ["local"], maxRunningQueries: poolSize };
    await using gateway = await gatewayOf(
      configOf({
        clusters: { local: { ...own, poolMode, pinning, poolSize } },
        clusterGroups: { default: { ...group, capacityWaitTimeoutSecs: 60 } },
      }),
    );
    const port = portOf(gateway, "postgresWire");
    const keeps = poolMode !== "statement" && pinning === "allow";
    const all = Array.from(
      { length: sessions },
      (_, id) => new Session({ id, port, poolMode, keeps }),
    );
    expect(await interleaved(all, turnsOf(share))).toBeUndefined();
  });
});
