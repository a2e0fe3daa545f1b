/** F13: an endpoint of its own for the history refuses; the spool overflows; then it takes again. */
import { pgClient } from "../ask.mjs";
import { startEndpoint } from "../historyEndpoint.mjs";
import { markOf, openLedger } from "../ledger.mjs";
import { metricOf, ready, statusOf } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title = "F13: the history endpoint refuses and the spool overflows (I1, I2, I8)";

/** More than wait in a fifth of a second, which is how long records wait for each other. */
const spoolMaxRecords = 400;
const queries = { taken: 300, refused: 1_000 };

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const endpoint = await startEndpoint(fleet);
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, {
    history: { endpoint: endpoint.url, spoolMaxRecords, spool: "memory" },
  });
  await worker.open().then(ready);
  const ledger = await openLedger(worker);
  const client = await pgClient(worker);

  const taken = await latencies(ledger, client, "taken");
  await ledger.settled();
  endpoint.refuses = true;
  const refused = await latencies(ledger, client, "refused");
  await client.end();
  await until("the endpoint refused", () => endpoint.refusals > 0);
  fleet.figure(`median query: ${taken} ms while taken, ${refused} ms while refused`);

  // The table was made by one more query.
  const total = queries.taken + queries.refused + 1;
  const sumOf = ({ queued, sent, dropped }) => queued + sent + dropped;
  // A record comes a moment after its answer.
  const full = await until("queued + sent + dropped are all", async () => {
    const { historyUplink } = await statusOf(worker);
    return sumOf(historyUplink) >= total && historyUplink;
  });
  same(sumOf(full), total, "queued + sent + dropped");
  same(full.queued, spoolMaxRecords, "queued");
  check(full.lastError !== null, "the status does not tell of the refusals");
  const counted = () => metricOf(worker, "gateway_history_dropped_total");
  await until("the metric tells of them", async () => (await counted()) === full.dropped);

  endpoint.refuses = false;
  await ledger.settled();
  const { sent, dropped } = (await statusOf(worker)).historyUplink;
  same(sent + dropped, total, "sent + dropped");
  const records = [...endpoint.records.values()];
  same([records.length, endpoint.count], [sent, sent], "records at the endpoint, distinct and all");
  const marks = [...ledger.sent];
  const recorded = records.map(markOf).filter((mark) => mark !== undefined);
  judgeGone(marks, recorded, dropped);
  const less = recorded.filter((mark) => mark !== marks[0]);
  await notices("a record that is gone", () => judgeGone(marks, less, dropped), /counted/);
  const early = () => judgeGone(marks, less, dropped + 1);
  await notices("one that was dropped before there were too many", early, /one stretch/);
  same(endpoint.strangers, 0, "requests with the fleet secret or another's token");
  fleet.figure(`${total} queries: ${sent} records sent, ${dropped} dropped and counted`);
}

/** What has no record is what was counted, and the oldest of what waited. */
function judgeGone(marks, recorded, dropped) {
  const kept = new Set(recorded);
  const gone = marks.map((mark, index) => (kept.has(mark) ? -1 : index)).filter((at) => at >= 0);
  same(gone.length, dropped, "queries without a record are those that were counted");
  same(gone.at(-1) - gone[0] + 1, gone.length, "the lost ones are one stretch");
  check(kept.has(marks.at(-1)), "the newest record was dropped");
}

/** Median milliseconds of so many queries, one after the other. */
async function latencies(ledger, client, word) {
  const count = queries[word];
  const times = [];
  for (let number = 0; number < count; number += 1) {
    const fromMs = performance.now();
    await ledger.query(client, `mark-${word}-0-${number}`);
    times.push(performance.now() - fromMs);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(count / 2)].toFixed(2);
}
