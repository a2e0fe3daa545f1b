/** F5: packages between worker and control plane are lost, first one way, then both ways. */
import { openLedger, recordsOf } from "../ledger.mjs";
import { ready, statusOf } from "../ops.mjs";
import { same, until } from "../wait.mjs";

export const title = "F5: the link is cut one way and both ways (I1, I2, I3)";
export const usualSeconds = 30;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const link = await fleet.proxy(control.port);
  const worker = await fleet.worker("w1", link.url);
  await worker.open().then(ready);
  const ledger = await openLedger(worker);
  ledger.start();
  await until("records are sent", async () => (await statusOf(worker)).historyUplink.sent > 0);

  for (const lost of [{ toClient: true }, { toClient: true, toServer: true }]) {
    const downs = worker.events("worker.linkDown").length;
    const served = ledger.count;
    link.stall(lost);
    await worker.logged("worker.linkDown", downs, 40);
    await until("queries go on", () => ledger.count > served + 100);
    const ups = worker.events("worker.linkUp").length;
    await link.heal();
    await worker.logged("worker.linkUp", ups, 60);
  }

  await ledger.stop();
  await ledger.settled();
  same(ledger.failures, [], "queries that failed");
  const { queries } = await ledger.judge(await recordsOf(control));
  fleet.figure(`${queries} queries, each with one record; the slowest took ${ledger.worstMs} ms`);
}
