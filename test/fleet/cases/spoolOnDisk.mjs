/** Records that wait on disk outlive their worker: all of them when it was asked to stop, all but the last moment's when it was killed, and those are counted. */
import { pgClient } from "../ask.mjs";
import { markOf, openLedger, recordsOf } from "../ledger.mjs";
import { ready, statusOf } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "records wait on disk over a stop and over kill -9, and arrive once (I1, I2, I3)";
export const usualSeconds = 40;

const queries = 400;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, {
    stateDir: await fleet.folder("state"),
    lastGood: { enabled: true, maxAgeSecs: 86_400 },
    history: { spoolMaxRecords: 50_000, spool: "disk" },
    shutdownDrainTimeoutSecs: 3,
  });
  await worker.open().then(ready);
  await control.kill();

  const stopped = await asked(worker, "stopped");
  await worker.stop();
  check(worker.events("history.left").length === 1, "the log does not tell what was left on disk");
  const { queued, dropped } = await again(worker);
  same([queued, dropped], [queries + 1, 0], "queued, dropped after a stop");

  const killed = await asked(worker, "killed");
  await worker.kill();
  const { queued: waiting, dropped: counted } = await again(worker);

  control.restart();
  await control.open();
  await until(
    "everything is sent",
    async () => (await statusOf(worker)).historyUplink.queued === 0,
    90,
  );
  const kept = (await recordsOf(control)).map(markOf).filter((mark) => mark !== undefined);
  const marks = new Set(kept);
  same(kept.length, marks.size, "a query has two records (I2)");
  same(
    [...stopped].filter((mark) => !marks.has(mark)),
    [],
    "lost by a stop (I1)",
  );
  const judge = (arrived) => {
    const lost = [...killed].map((mark, at) => (arrived.has(mark) ? -1 : at));
    const at = lost.filter((index) => index >= 0);
    // What was lost is the end: from its first on nothing was kept.
    same(at.length, at.length === 0 ? 0 : killed.size - at[0], "lost by a kill, not at the end");
    same(waiting, 2 * (queries + 1) - at.length, "what waited after the kill");
    same(counted, at.length, "historyUplink.dropped after the kill");
    return at;
  };
  const gone = judge(marks);
  const [early] = killed;
  const without = new Set([...marks].filter((mark) => mark !== early));
  await notices("a record that is lost in the middle", () => judge(without), /not at the end/);
  const end = [...killed][killed.size - gone.length - 1];
  const shorter = new Set([...marks].filter((mark) => mark !== end));
  await notices("a lost record that is not counted", () => judge(shorter), /after the kill/);
  fleet.figure(`kill -9 lost the last ${gone.length} of ${killed.size} records; a stop lost none`);
}

/** Answered queries, and one more that makes their table. */
async function asked(worker, word) {
  const ledger = await openLedger(worker);
  const client = await pgClient(worker);
  for (let number = 0; number < queries; number += 1) {
    await ledger.query(client, `mark-${word}-0-${number}`);
  }
  await client.end();
  same(ledger.failures, [], "queries that failed");
  return ledger.complete;
}

async function again(worker) {
  worker.restart();
  await worker.open().then(ready);
  return (await statusOf(worker)).historyUplink;
}
