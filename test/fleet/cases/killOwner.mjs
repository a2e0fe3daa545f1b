/**
 * `kill -9` of a standalone gateway under load, many times: each query that was answered or run has a
 * record or is in the counter, and the log names it.
 */
import { pgClient } from "../ask.mjs";
import { servingConfig } from "../fleet.mjs";
import { markOf, openLedger, recordsOf } from "../ledger.mjs";
import { metricOf, ready } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "kill -9 of a standalone gateway: no record is lost without being counted (I1)";
export const usualSeconds = 35;

const kills = 4;
const connections = 3;
const queriesBetween = 400;

export async function run(fleet) {
  const place = "/proc/self/cwd";
  const cluster = { ...servingConfig.clusters.local, databasePath: `${place}/ledger.duckdb` };
  const owner = await fleet.controlPlane({
    name: "alone",
    role: "standalone",
    workerApi: undefined,
    config: { ...servingConfig, clusters: { local: cluster } },
    files: { allow: [place] },
  });
  await owner.open().then(ready);
  const ledger = await openLedger(owner);
  for (let life = 0; life < kills; life += 1) {
    const clients = Array.from({ length: connections }, (_, index) =>
      loop(owner, ledger, life, index),
    );
    const wanted = ledger.count + queriesBetween;
    await until("enough was asked", () => ledger.count >= wanted, 60);
    await owner.kill();
    await Promise.all(clients);
    owner.restart();
    await owner.open().then(ready);
  }
  const marks = await settledMarks(owner);
  const kept = new Set(marks);
  same(marks.length, kept.size, "a query has two records (I2)");
  const engine = await ledger.engine();
  const ran = new Set([...ledger.complete, ...engine]);
  const lost = [...ran].filter((mark) => !kept.has(mark)).length;
  const without = [...ledger.sent].filter((mark) => !kept.has(mark)).length;
  const counted = await metricOf(owner, "gateway_history_dropped_total");
  judgeCounted(counted, lost, without);
  const more = kills * connections + 1;
  const unsaid = () => judgeCounted(counted, lost + more, without + more);
  await notices("records that nobody counted", unsaid, /counted/);
  await notices("a count of nothing", () => judgeCounted(counted + more, lost, without), /counted/);
  const named = new Set(owner.text.match(/"queryId":"[^"]+","state":"(running|ended)"/g));
  same(named.size, counted, "named in the log");
  fleet.figure(
    `${kills} kills: ${ledger.sent.size} queries, ${counted} counted, ${lost} to ${without} without a record`,
  );
}

/** A query that ran at a kill may have reached the gateway or not, and the engine or not. */
function judgeCounted(counted, lost, without) {
  check(lost <= counted && counted <= without, `counted ${counted}, of ${lost} to ${without} (I1)`);
  check(without - lost <= kills * connections, "more than could run is unexplained");
}

async function settledMarks(owner) {
  await until(
    "nothing waits",
    async () => (await metricOf(owner, "gateway_history_queued")) === 0,
    60,
  );
  return (await recordsOf(owner)).map(markOf).filter((mark) => mark !== undefined);
}

async function loop(owner, ledger, life, index) {
  const client = await pgClient(owner);
  let mark;
  for (let number = 0; mark === undefined || ledger.complete.has(mark); number += 1) {
    mark = `mark-life${life}-${index}-${number}`;
    await ledger.query(client, mark);
  }
  await client.end().catch(() => {});
}
