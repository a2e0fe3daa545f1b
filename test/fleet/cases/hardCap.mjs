/** I4 where each worker counts for itself: the engine's own log says what ran beside what. */
import { pgClient } from "../ask.mjs";
import { mostAtOnce, startEngine } from "../engine.mjs";
import { servingConfig } from "../fleet.mjs";
import { ready } from "../ops.mjs";
import { notices, same, until, untilFull } from "../wait.mjs";
import { setTimeout as pause } from "node:timers/promises";

export const title =
  "a worker never runs more at the engine than its cap (I4, coordination: local)";

const cap = 3;
const clients = 8;
const edits = 8;
const editEveryMs = 400;
const runMsMax = 120;
const vanishedLeast = 5;

export async function run(fleet) {
  const engine = await startEngine(fleet);
  const control = await fleet.controlPlane({ config: configOver(engine) });
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const workers = await Promise.all(["w1", "w2"].map((name) => fleet.worker(name, url)));
  await Promise.all(workers.map((worker) => worker.open().then(ready)));

  const load = { stopping: false, failures: [], vanished: 0, moreMs: 0 };
  const lives = workers.map((worker) => `${worker.name}a`);
  const running = workers.flatMap((worker, index) => loops(worker, lives[index], load));
  // Generations change under load, and the counts have to go from one to the next.
  for (let edit = 0; edit < edits; edit += 1) {
    await pause(editEveryMs);
    await control.admin.editGroup({ maxQueuedQueries: 100 + edit });
  }
  for (const life of lives) await reached(engine, life, load);
  await until("clients vanished", () => load.vanished > vanishedLeast);
  load.stopping = true;
  await Promise.all(running);
  await until("the engine has ended all", () => engine.running === 0);

  // What is killed leaves its statements to the engine, and the next life counts from none.
  const [first] = workers;
  const again = { stopping: false, failures: [], vanished: 0, moreMs: 0 };
  const killed = Promise.allSettled(loops(first, "w1b", again));
  await reached(engine, "w1b", again);
  await until("some run", () => engine.running > 0);
  again.stopping = true;
  await first.kill();
  await killed;
  await first.restart().open().then(ready);
  const reborn = { stopping: false, failures: [], vanished: 0, moreMs: 0 };
  const last = loops(first, "w1c", reborn);
  await reached(engine, "w1c", reborn);
  reborn.stopping = true;
  await Promise.all(last);

  same([...load.failures, ...reborn.failures], [], "queries that failed");
  for (const life of [...lives, "w1b", "w1c"]) {
    judgeMost(engine.statements, life);
    const [one] = ownOf(engine.statements, life);
    const over = [...engine.statements, ...Array.from({ length: cap + 1 }, () => one)];
    await notices("a cap that is passed", () => judgeMost(over, life), /I4/);
  }
  const count = engine.statements.length;
  fleet.figure(`${count} statements, ${load.vanished} clients vanished, never more than ${cap}`);
}

function ownOf(statements, life) {
  return statements.filter(({ sql }) => sql.endsWith(` ${life}'`));
}

function judgeMost(statements, life) {
  same(mostAtOnce(ownOf(statements, life)), cap, `${life}: most at once at the engine (I4)`);
}

function reached({ statements }, life, load) {
  const isFull = () => mostAtOnce(ownOf(statements, life)) >= cap;
  return untilFull(`${life} uses the cap in full`, load, isFull);
}

function configOver(engine) {
  return {
    ...servingConfig,
    clusters: { local: { engine: "trino", endpoint: engine.url, maxRunningQueries: cap } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: cap + 1 } },
  };
}

function loops(worker, life, load) {
  return Array.from({ length: clients }, (_, index) => loop(worker, life, index, load));
}

/** One client that asks again and again; every seventh time it is gone before its answer. */
async function loop(worker, life, index, load) {
  let client = await pgClient(worker);
  for (let number = index; !load.stopping; number += 1) {
    const runMs = 10 + ((number * 37 + index * 11) % runMsMax) + load.moreMs;
    const asked = client.query(`select '${runMs} ms ${life}'`);
    if (number % 7 === 6) {
      asked.catch(() => {});
      await pause(5);
      client.connection.stream.destroy();
      load.vanished += 1;
      client = await pgClient(worker);
    } else {
      await asked.catch((error) => load.failures.push(String(error.code ?? error.message)));
    }
  }
  await client.end();
}
