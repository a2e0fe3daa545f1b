/** I7: a query is answered by one configuration from its start to its end, and its record says which. */
import { pgClient } from "../ask.mjs";
import { recordsOf } from "../ledger.mjs";
import { activeAt, ready } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";
import { setTimeout as pause } from "node:timers/promises";

export const title = "every query sees one revision, the one that was active at its start (I7)";

const clients = 4;
const edits = 12;
const rows = 3;
/** Long enough that most revisions begin while it runs. */
const slow = `select r.range from range(${rows}) r where (select count(*) from range(60000000)) > 0`;
/** Between an activation and the line that tells of it. */
const leewayMs = 50;

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`);
  await worker.open().then(ready);

  const seen = new Map();
  const load = { stopping: false };
  const first = await control.admin.editGroup({ maxRows: rows });
  await activeAt(worker, first);
  const firstMs = Date.now();
  const running = Array.from({ length: clients }, (_, index) => loop(worker, index, load, seen));
  // By revision: whether `rows` rows are allowed, and when it became active at the earliest and the latest.
  const revisions = new Map([[first, { allows: true, fromMs: 0, byMs: firstMs }]]);
  for (let edit = 1; edit <= edits; edit += 1) {
    // Who has an answer now asks its next question under the newest revision.
    const { size } = seen;
    await until("a query ends under the newest revision", () => seen.size > size);
    await pause(100);
    const fromMs = Date.now();
    const allows = edit % 2 === 0;
    const revision = await control.admin.editGroup({ maxRows: allows ? rows : rows - 1 });
    await activeAt(worker, revision);
    revisions.set(revision, { allows, fromMs, byMs: Date.now() });
  }
  load.stopping = true;
  await Promise.all(running);

  const marked = await until("every record is kept", async () => {
    const found = (await recordsOf(control)).filter(({ sql }) => sql?.includes("mark-"));
    return found.length === seen.size && found;
  });
  const order = [...revisions.keys()];
  const spanning = marked.filter((record) => judge(record, seen, revisions, order)).length;
  check(spanning > 0, "no query ran while a revision began");
  const other = (record) => ({ ...record, revision: order.find((one) => one !== record.revision) });
  const wrongs = {
    "a record of a revision that nobody wrote": { ...marked[0], revision: "1.1.none" },
    "a record of another revision": other(marked.at(-1)),
    "a record of what began too late": {
      ...marked.find(({ revision }) => revision !== order.at(-1)),
      createdAt: new Date().toISOString(),
    },
  };
  for (const [what, wrong] of Object.entries(wrongs)) {
    await notices(what, () => judge(wrong, seen, revisions, order), /mark-/);
  }
  const used = new Set(marked.map(({ revision }) => revision));
  check(used.size > edits / 2, `only ${used.size} revisions were used`);
  fleet.figure(`${marked.length} queries, ${used.size} revisions, ${spanning} ran across an edit`);
}

/** True for a query that ended under another revision than it began. */
function judge({ sql, revision, createdAt, finishedAt }, seen, revisions, order) {
  const mark = /mark-\d+-\d+/.exec(sql)?.[0];
  const own = revisions.get(revision);
  check(own !== undefined, `${mark}: a revision that nobody wrote: ${revision}`);
  same(seen.get(mark), own.allows ? "rows" : "54000", `${mark}: the answer under ${revision}`);
  const next = revisions.get(order[order.indexOf(revision) + 1]);
  const began = new Date(createdAt).getTime();
  check(began >= own.fromMs - leewayMs, `${mark}: began before its revision`);
  check(next === undefined || began <= next.byMs + leewayMs, `${mark}: began after its revision`);
  return next !== undefined && new Date(finishedAt).getTime() > next.byMs;
}

async function loop(worker, index, load, seen) {
  const client = await pgClient(worker);
  for (let number = 0; !load.stopping; number += 1) {
    const mark = `mark-${index}-${number}`;
    try {
      const { rowCount } = await client.query(`${slow} /* ${mark} */`);
      seen.set(mark, rowCount === rows ? "rows" : `${rowCount} rows`);
    } catch (error) {
      seen.set(mark, String(error.code));
    }
  }
  await client.end();
}
