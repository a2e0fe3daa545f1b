/** F2 without capacity leases: the control plane stands still for a while, holding every connection. */
import { openLedger, recordsOf } from "../ledger.mjs";
import { activeAt, ready, statusOf } from "../ops.mjs";
import { same, until } from "../wait.mjs";

export const title = "F2: the control plane is frozen and thawed (I1, I2, I3)";
export const usualSeconds = 25;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`);
  await worker.open().then(ready);
  const ledger = await openLedger(worker);
  ledger.start();
  await until("records are sent", async () => (await statusOf(worker)).historyUplink.sent > 0);

  control.freeze();
  const served = ledger.count;
  await worker.logged("worker.linkDown", 0, 40);
  await until("queries go on", () => ledger.count > served + 500);
  control.thaw();
  await worker.logged("worker.linkUp", 1, 60);
  await ledger.stop();
  await ledger.settled();
  same(ledger.failures, [], "queries that failed");
  const { queries } = await ledger.judge(await recordsOf(control));
  fleet.figure(`${queries} queries, each with one record; the slowest took ${ledger.worstMs} ms`);
  await activeAt(worker, await control.admin.editGroup({ maxRows: 1 }), 60);
}
