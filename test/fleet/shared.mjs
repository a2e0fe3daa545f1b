/** Workers that share one cap over an engine outside of them, clients that load them, and the judgement by the engine's own log. */
import { setTimeout as pause } from "node:timers/promises";
import { count as addCount } from "../evidence/counted.mjs";
import { pgClient } from "./ask.mjs";
import { mostAtOnce, startEngine } from "./engine.mjs";
import { servingConfig } from "./fleet.mjs";
import { ready } from "./ops.mjs";
import { check, notices, same, until, untilFull } from "./wait.mjs";

export const cap = 5;
const answerMsMax = 300_000;

/** A control plane and three workers; `coordination`, `capacity` and `control` are put into their configs. */
export async function sharedFleet(
  fleet,
  { coordination = {}, capacity, control: more, states = false, prefix = "", engineAddress } = {},
) {
  const engine = await startEngine(fleet, engineAddress);
  const config = {
    ...servingConfig,
    clusters: { local: { engine: "trino", endpoint: engine.url, maxRunningQueries: cap } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: cap } },
  };
  const control = await fleet.controlPlane({ config, capacity, name: `${prefix}control`, ...more });
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const workers = await Promise.all(
    ["w1", "w2", "w3"].map(async (short) => {
      const name = `${prefix}${short}`;
      const stateDir = states ? { stateDir: await fleet.folder(`state-${name}`) } : {};
      const mode = { mode: "controlPlane", ...coordination };
      return fleet.worker(name, url, { coordination: mode, ...stateDir });
    }),
  );
  await Promise.all(workers.map((worker) => worker.open().then(ready)));
  return { engine, control, workers };
}

/** What clients ran; the adapter's own questions are no load. */
export function clientsOf(engine) {
  return engine.statements.filter(({ sql }) => / ms /.test(sql));
}

/** I4 by the engine's log, and that the cap was used in full; neither may be overlooked. */
export async function judgeCap(engine, fleet, what) {
  const statements = clientsOf(engine);
  const most = judgedMost(statements, what);
  const [first] = statements;
  const over = Array.from({ length: cap + 1 }, () => first);
  await notices("a cap that is passed", () => judgedMost([...statements, ...over], what), /I4/);
  await notices("a cap that is not used", () => judgedMost([first], what), /I4/);
  addCount("load", statements.length);
  addCount("over", Math.max(0, most - cap));
  fleet.figure(
    `${what}: ${statements.length} statements, never more than ${cap}, and ${cap} reached`,
  );
}

function judgedMost(statements, what) {
  const most = mostAtOnce(statements);
  same(most, cap, `${what}: most at once at the engine (I4)`);
  return most;
}

/** Clients that ask again and again until `stop()`, which answers the codes of what failed. */
export function load(workers, { clients = 6, runMs = 60, life = "load" } = {}) {
  const state = { stopping: false, failures: [], done: 0, moreMs: 0 };
  const loops = workers.flatMap((worker) =>
    Array.from({ length: clients }, (_, index) => loop(worker, { state, runMs, life, index })),
  );
  return {
    state,
    stop: async () => {
      state.stopping = true;
      await Promise.all(loops);
      return state.failures;
    },
  };
}

async function loop(worker, { state, runMs, life, index }) {
  let client = await pgClient(worker).catch(() => undefined);
  for (let number = index; !state.stopping && client !== undefined; number += 1) {
    const ms = Math.round(runMs / 2 + ((number * 37) % 100) * (runMs / 100) + state.moreMs);
    try {
      await asked(client, `select '${ms} ms ${life}'`);
      state.done += 1;
    } catch (error) {
      state.failures.push(String(error.code ?? error.message));
      await client.end().catch(() => {});
      client = await pgClient(worker).catch(() => undefined);
    }
  }
  await client?.end().catch(() => {});
}

/** Statements of one worker that run for long, each on a connection of its own; waits until the engine has them. */
export async function longOnes(engine, worker, { count, ms, life }) {
  const clients = await Promise.all(Array.from({ length: count }, () => pgClient(worker)));
  const answers = clients.map((client) =>
    asked(client, `select '${ms} ms ${life}'`).then(
      () => "done",
      (error) => String(error.code ?? error.message),
    ),
  );
  const own = () => engine.statements.filter(({ sql }) => sql.endsWith(` ${life}'`));
  await until(`${count} of ${life} run`, () => own().length === count, 60);
  return {
    own,
    /** How each ended. */
    ends: async () => {
      const ends = await Promise.all(answers);
      await Promise.all(clients.map((client) => client.end().catch(() => {})));
      return ends;
    },
  };
}

/** Waits for longer than usual: a fault may hold an answer back. */
function asked(client, sql) {
  return Promise.resolve(client.query({ text: sql, query_timeout: answerMsMax }));
}

/** Seconds until so many run at once, looked at again and again. */
export async function secondsUntilFull(engine, seconds) {
  const fromMs = performance.now();
  await until(`${cap} run at the engine`, () => engine.running >= cap, seconds);
  return (performance.now() - fromMs) / 1000;
}

/** Waits until the cap is used in full under `loaded`. */
export function usedInFull(engine, loaded) {
  return untilFull("the cap is used in full", loaded.state, () => engine.running === cap);
}

/** Waits until nothing runs. */
export async function idle(engine, seconds = 30) {
  await until("the engine runs nothing", () => engine.running === 0, seconds);
}

export { check, pause };
