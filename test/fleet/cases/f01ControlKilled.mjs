/** F1 without capacity leases: SIGKILL of the control plane under load, and its start on the same data. */
import { ready, statusOf } from "../ops.mjs";
import { openLedger, recordsOf } from "../ledger.mjs";
import { check, same, until } from "../wait.mjs";

export const title = "F1: the control plane is killed under load and comes back (I1, I2, I3)";
export const usualSeconds = 35;

const queriesWhileDead = 500;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const workers = await Promise.all(["w1", "w2"].map((name) => fleet.worker(name, url)));
  await Promise.all(workers.map((worker) => worker.open().then(ready)));
  const ledgers = await Promise.all(workers.map(openLedger));
  for (const ledger of ledgers) ledger.start();
  await until("the first records are sent", async () => {
    const statuses = await Promise.all(workers.map(statusOf));
    return statuses.every(({ historyUplink }) => historyUplink.sent > 0);
  });

  await control.kill();
  const atDeath = ledgers.map(({ count }) => count);
  await until("workers serve without a control plane", () =>
    ledgers.every(({ count }, index) => count >= atDeath[index] + queriesWhileDead),
  );
  await until("the status tells of the failure", async () => {
    const statuses = await Promise.all(workers.map(statusOf));
    return statuses.every(
      ({ consecutiveFailures, lastError }) => consecutiveFailures > 0 && lastError,
    );
  });

  control.restart();
  await control.open();
  await until(
    "every worker has its configuration confirmed again",
    async () => {
      const statuses = await Promise.all(workers.map(statusOf));
      return statuses.every(({ consecutiveFailures }) => consecutiveFailures === 0);
    },
    60,
  );
  await Promise.all(ledgers.map((ledger) => ledger.stop()));
  await Promise.all(ledgers.map((ledger) => ledger.settled()));

  const records = await recordsOf(control);
  for (const ledger of ledgers) {
    same(ledger.failures, [], "queries that failed");
    const { queries } = await ledger.judge(records);
    fleet.figure(`${queries} queries, each with one record; the slowest took ${ledger.worstMs} ms`);
  }
  const statuses = await Promise.all(workers.map(statusOf));
  check(
    statuses.every(({ stale }) => !stale),
    "a worker is stale",
  );
}
