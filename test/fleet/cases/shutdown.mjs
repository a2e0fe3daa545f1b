/** A worker that is asked to stop under load: what runs ends, what waits is sent, and it signs off. */
import { openLedger, recordsOf } from "../ledger.mjs";
import { metricOf, ready } from "../ops.mjs";
import { askPg } from "../ask.mjs";
import { notices, same, until } from "../wait.mjs";

export const title = "a worker that stops under load finishes, flushes and signs off (I1, I2, I3)";

const slow = "select count(*) from range(40000000) t(i) where hash(i) % 7 = 1";

const connections = 1;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, {
    shutdownDrainTimeoutSecs: 30,
  });
  await worker.open().then(ready);
  const ledger = await openLedger(worker);
  ledger.start(connections);
  await until("queries are answered", () => ledger.count > 200);
  // Beside the one of the load; a machine that is quick enough to be done with it before it was seen is asked again.
  let running = Promise.resolve("");
  let answered = true;
  await until("it runs", async () => {
    if (answered) {
      answered = false;
      running = askPg(worker, slow).finally(() => (answered = true));
    }
    return (await metricOf(worker, "gateway_running_queries")) > connections && !answered;
  });
  const ended = worker.stop();
  same(/^\d+$/.test(await running), true, "the running query is answered");
  await ledger.stop().catch(() => {});
  same(await ended, 0, "exit code");

  const records = await recordsOf(control);
  const kept = new Set(records.map(({ sql }) => sql));
  const textOf = (mark) => `insert into ledger values ('${mark}')`;
  const judge = (texts) => {
    const lost = [...ledger.complete].filter((mark) => !texts.has(textOf(mark)));
    same(lost, [], "answered queries without a record (I1)");
  };
  judge(kept);
  const less = new Set(kept);
  less.delete(textOf([...ledger.complete].at(-1)));
  await notices("a last record that was not sent", () => judge(less), /I1/);
  same(kept.has(slow), true, "the record of the query that was drained");
  same(await control.admin.all("/admin/workers"), [], "the registry");
  fleet.figure(`${ledger.complete.size} answered queries, all with a record`);
}
