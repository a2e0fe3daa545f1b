/** F6: every connection between worker and control plane is reset, again and again, under load. */
import { openLedger, recordsOf } from "../ledger.mjs";
import { ready, statusOf } from "../ops.mjs";
import { same, until } from "../wait.mjs";

export const title = "F6: a storm of resets on the link (I1, I2, I3)";

const resets = 12;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const link = await fleet.proxy(control.port);
  const worker = await fleet.worker("w1", link.url);
  await worker.open().then(ready);
  const ledger = await openLedger(worker);
  ledger.start();

  for (let turn = 0; turn < resets; turn += 1) {
    const taken = link.taken;
    const { count } = ledger;
    link.reset();
    await until("it connects again", () => link.taken > taken, 60);
    // Some time later, so that other calls than the first are hit.
    await until("queries go on", () => ledger.count > count + 20 * (turn % 4));
  }

  await ledger.stop();
  await ledger.settled();
  await until(
    "the link is well",
    async () => (await statusOf(worker)).consecutiveFailures === 0,
    90,
  );
  same(ledger.failures, [], "queries that failed");
  const { queries } = await ledger.judge(await recordsOf(control));
  fleet.figure(`${resets} resets, ${queries} queries, each with one record and run once`);
}
