/** F14: batches of records arrive twice, and their answers get lost. */
import { openLedger, recordsOf } from "../ledger.mjs";
import { ready } from "../ops.mjs";
import { same, until } from "../wait.mjs";

export const title = "F14: batches are repeated and their answers cut (I1, I2, I3)";

const cutsWanted = 3;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  let batches = 0;
  let cuts = 0;
  const ofRecords = ({ path }) => path === "/worker/query-records";
  const relay = await fleet.relay(control.port, {
    repeat: ofRecords,
    answer: (asked, answer) => {
      if (!ofRecords(asked) || answer.status !== 200) return undefined;
      batches += 1;
      if (batches % 2 === 0) return undefined;
      cuts += 1;
      return "drop";
    },
  });
  const worker = await fleet.worker("w1", relay.url);
  await worker.open().then(ready);
  const ledger = await openLedger(worker);
  ledger.start();
  await until("answers were cut", () => cuts >= cutsWanted, 60);
  await ledger.stop();
  await ledger.settled();
  same(ledger.failures, [], "queries that failed");
  const { queries } = await ledger.judge(await recordsOf(control));
  fleet.figure(`${queries} queries in ${batches} batches, each sent twice, ${cuts} answers cut`);
}
