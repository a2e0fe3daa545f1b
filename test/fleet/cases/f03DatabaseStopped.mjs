/** F3: PostgreSQL ends under two replicas of the control plane. */
import { embeddedPrograms, startPostgres } from "../../real/postgresServer.mjs";
import { Skip, freePort } from "../fleet.mjs";
import { openLedger, recordsOf } from "../ledger.mjs";
import { ready, statusOf } from "../ops.mjs";
import { same, until } from "../wait.mjs";

export const title = "F3: the database stops under two control planes (I1, I2, I3)";

const queriesWhileDead = 300;

export async function run(fleet) {
  const { folder, reason } = await embeddedPrograms();
  if (folder === undefined) throw new Skip(reason);
  const server = await startPostgres(folder);
  fleet.defer(() => server.stop());
  // A listener that is gone is what clients of a stopped server meet.
  const database = await fleet.proxy(server.port);
  const persistence = {
    type: "postgres",
    url: server.url.replace(`:${server.port}/`, `:${database.port}/`),
    encryptionKey: "an encryption key of this test alone",
  };
  const ports = [await freePort(), await freePort()];
  const first = await fleet.controlPlane({ name: "first", port: ports[0], persistence });
  await first.open();
  const second = await fleet.controlPlane({ name: "second", port: ports[1], persistence });
  await second.open();
  const balancer = await fleet.proxy(...ports);
  const worker = await fleet.worker("w1", balancer.url);
  await worker.open().then(ready);
  const ledger = await openLedger(worker);
  ledger.start();
  await until("records are sent", async () => (await statusOf(worker)).historyUplink.sent > 0);

  await database.cut();
  await server.restart();
  const late = await fleet.worker("w2", balancer.url);
  await late.open().then((each) => ready(each, 60));
  same((await statusOf(late)).configSource, "controlPlane", "source of the late worker");
  for (const control of [first, second]) {
    const group = { members: ["local"], maxRunningQueries: 8, maxRows: 5 };
    const match = { "if-match": '"1"' };
    const put = await control.admin.ask("PUT", "/admin/groups/default", group, match);
    same(put.status, 503, `a write at ${control.name} (${JSON.stringify(put.body)})`);
  }
  const from = ledger.count;
  await until("queries go on", () => ledger.count >= from + queriesWhileDead);
  await until(
    "history waits",
    async () => (await statusOf(worker)).historyUplink.lastError !== null,
  );

  await database.heal();
  await ledger.stop();
  await ledger.settled();
  same(ledger.failures, [], "queries that failed");
  const { queries } = await ledger.judge(await recordsOf(second));
  fleet.figure(`${queries} queries, each with one record; the slowest took ${ledger.worstMs} ms`);
}
