/**
 * `kill -9` under load with the spool on disk: whatever has no record afterwards is in the counter.
 * The engine keeps its data over the kill, so what it ran is known as well.
 */
import { pgClient } from "../ask.mjs";
import { servingConfig } from "../fleet.mjs";
import { markOf, openLedger, recordsOf } from "../ledger.mjs";
import { ready, statusOf } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title = "kill -9 under load: no record is lost without being counted (I1, I2, I3)";
export const usualSeconds = 35;

const kills = 4;
const connections = 3;
const queriesBetween = 250;
/** Asked one after the other, so that none runs at the last kill. */
const queriesInTurn = 150;

export async function run(fleet) {
  // One name, and for each process a file of its own: two may not open the same.
  const place = "/proc/self/cwd";
  const cluster = { ...servingConfig.clusters.local, databasePath: `${place}/ledger.duckdb` };
  const files = { allow: [place] };
  const control = await fleet.controlPlane({
    config: { ...servingConfig, clusters: { local: cluster } },
    files,
  });
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, {
    cwd: await fleet.folder("engine"),
    stateDir: await fleet.folder("state"),
    files,
    history: { spoolMaxRecords: 50_000, spool: "disk" },
  });
  await worker.open().then(ready);
  const ledger = await openLedger(worker);

  for (let life = 0; life < kills; life += 1) {
    const clients = Array.from({ length: connections }, (_, index) =>
      loop(worker, ledger, life, index),
    );
    const wanted = ledger.count + queriesBetween;
    await until("enough was asked", () => ledger.count >= wanted, 60);
    await worker.kill();
    await Promise.all(clients);
    worker.restart();
    await worker.open().then(ready);
  }
  const before = await counted(worker);
  const under = await judged(control, ledger);
  judgeCounted(before, under);
  const more = kills * connections + 1;
  const unsaid = { lost: under.lost + more, without: under.without + more };
  await notices("records that nobody counted", () => judgeCounted(before, unsaid), /counted/);
  await notices("a count of nothing", () => judgeCounted(before + more, under), /counted/);

  const client = await pgClient(worker);
  for (let number = 0; number < queriesInTurn; number += 1) {
    await ledger.query(client, `mark-turn-0-${number}`);
  }
  await worker.kill();
  await client.end().catch(() => {});
  worker.restart();
  await worker.open().then(ready);
  const after = await counted(worker);
  const inTurn = await judged(control, ledger);
  same(after - before, inTurn.lost - under.lost, "counted and lost while none ran");
  same(inTurn.without - under.without, inTurn.lost - under.lost, "lost and not answered");
  fleet.figure(
    `${kills} kills under load: ${ledger.sent.size} queries, ${before} counted as lost, ` +
      `${under.lost} answered or run and without a record; one kill in turn: ${after - before} of each`,
  );
}

/** A query that ran at a kill may have reached the gateway or not, and the engine or not. */
function judgeCounted(said, { lost, without }) {
  check(
    lost <= said && said <= without,
    `counted ${said}: at least ${lost} and at most ${without} are without a record (I1)`,
  );
  check(without - lost <= kills * connections, "more than could run is unexplained");
}

async function loop(worker, ledger, life, index) {
  const client = await pgClient(worker);
  let mark;
  for (let number = 0; mark === undefined || ledger.complete.has(mark); number += 1) {
    mark = `mark-life${life}-${index}-${number}`;
    await ledger.query(client, mark);
  }
  await client.end().catch(() => {});
}

/** The counter, as soon as nothing waits any more. */
function counted(worker) {
  return until(
    "everything that was kept is sent",
    async () => {
      const { queued, dropped } = (await statusOf(worker)).historyUplink;
      // Reading the ledger is a query as well, and its record waits a moment.
      return queued === 0 && { dropped };
    },
    60,
  ).then(({ dropped }) => dropped);
}

async function judged(control, ledger) {
  const marks = (await recordsOf(control)).map(markOf).filter((mark) => mark !== undefined);
  const kept = new Set(marks);
  same(marks.length, kept.size, "a query has two records (I2)");
  same(
    [...kept].filter((mark) => !ledger.sent.has(mark)),
    [],
    "invented records (I3)",
  );
  const engine = await ledger.engine();
  const undone = [...ledger.complete].filter((mark) => !engine.has(mark));
  same(undone, [], "answered, but the engine did not run it");
  const ran = [...new Set([...ledger.complete, ...engine])];
  return {
    lost: ran.filter((mark) => !kept.has(mark)).length,
    without: [...ledger.sent].filter((mark) => !kept.has(mark)).length,
  };
}
