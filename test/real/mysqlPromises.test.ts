/** No state of one client is seen by another, and none is lost, in each way of pooling connections to a MariaDB. */
import mysql from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { Session } from "./mysqlModel.ts";
import { password, port, user } from "./mysqlGateway.ts";
import { interleaved, turnsOf } from "./promises.ts";

const sessions = 10;

describe.each([
  // All may keep one at once, and one more is nobody's to keep. What came back last is handed on next.
  { poolMode: "transaction", pinning: "allow", poolSize: sessions + 1, share: 0.2 },
  // Fewer connections than sessions: they are handed on all the time.
  { poolMode: "transaction", pinning: "refuse", poolSize: 3, share: 0.1 },
  { poolMode: "session", pinning: "allow", poolSize: sessions, share: 0.15 },
  { poolMode: "statement", pinning: "allow", poolSize: sessions + 1, share: 0.05 },
] as const)("in mode $poolMode, pinning $pinning", ({ poolMode, pinning, poolSize, share }) => {
  it("every session finds its own state and nobody else's", async () => {
    const own = { host: "127.0.0.1", port, user, password, database: "demo" };
    const server = await mysql.createConnection(own);
    await server.query("drop table if exists own_rows");
    await server.query(
      "create table own_rows (n int auto_increment primary key, client int, key (client))",
    );
    await server.end();
    const auth = { type: "basic", username: user, password };
    const hosts = [`127.0.0.1:${port}`];
    const local = { engine: "mysql", hosts, auth, database: "demo", poolMode, pinning, poolSize };
    // Who waits for a connection has a slot, and who keeps one needs one for each statement.
    const group = { members: ["local"], maxRunningQueries: sessions };
    await using gateway = await gatewayOf(
      configOf({
        clusters: { local },
        clusterGroups: { default: { ...group, capacityWaitTimeoutSecs: 60 } },
      }),
    );
    const through = portOf(gateway, "mysqlWire");
    const transacts = poolMode !== "statement";
    const keeps = pinning === "allow";
    const all = Array.from(
      { length: sessions },
      (_, id) => new Session({ id, port: through, transacts, keeps }),
    );
    expect(await interleaved(all, turnsOf(share))).toBeUndefined();
  });
});
