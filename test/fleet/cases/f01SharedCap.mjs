/** F1 with leases: the control plane is killed under load. Either nothing runs beyond the cap, or it is counted what does. */
import { check, same, until } from "../wait.mjs";
import { metricOf } from "../ops.mjs";
import { mostAtOnce } from "../engine.mjs";
import {
  cap,
  clientsOf,
  idle,
  judgeCap,
  load,
  pause,
  sharedFleet,
  usedInFull,
} from "../shared.mjs";

export const title =
  "F1: the control plane is killed under load; failClosed waits, localLimits counts (I4)";
export const usualSeconds = 75;
export const seconds = 240;

const warmMs = 3_000;
const downMs = 12_000;

export async function run(fleet) {
  await failClosed(fleet);
  await localLimits(fleet);
}

async function failClosed(fleet) {
  const { engine, control, workers } = await sharedFleet(fleet);
  const loaded = load(workers);
  await pause(warmMs);
  await control.kill();
  await idle(engine, 90);
  const atIdle = loaded.state.done;
  await pause(downMs);
  check(loaded.state.done - atIdle <= cap, "queries ran without a lease");
  await control.restart().open();
  await until("queries go on", () => loaded.state.done > atIdle + 200, 90);
  await usedInFull(engine, loaded);
  same(await loaded.stop(), [], "queries that failed");
  await idle(engine);
  await judgeCap(engine, fleet, "failClosed");
  await Promise.all([control, ...workers].map((program) => program.stop()));
}

async function localLimits(fleet) {
  const coordination = { onUnavailable: "localLimits" };
  const { engine, control, workers } = await sharedFleet(fleet, {
    coordination,
    prefix: "second-",
  });
  const loaded = load(workers, { runMs: 400 });
  await usedInFull(engine, loaded);
  await pause(warmMs);
  same(mostAtOnce(clientsOf(engine)), cap, "before the kill");
  await control.kill();
  await until("each worker counts for itself", () => engine.running > cap, 60);
  await pause(downMs);
  await control.restart().open();
  await until(
    "it is known to be back",
    () => workers.every((worker) => worker.events("capacity.unleased").length > 0),
    90,
  );
  await until("the cap holds again", () => engine.running <= cap, 60);
  const fromMs = performance.now();
  await pause(warmMs);
  const after = clientsOf(engine).filter((one) => one.fromMs > fromMs);
  same(await loaded.stop(), [], "queries that failed");
  await idle(engine);
  check(mostAtOnce(after) <= cap, "after the return more runs than the cap");
  const all = mostAtOnce(clientsOf(engine));
  check(all <= workers.length * cap, `${all} at once`);
  const counted = await Promise.all(
    workers.map((worker) => metricOf(worker, "gateway_capacity_unleased_total")),
  );
  check(
    counted.every((count) => count > 0),
    `counted: ${counted.join(", ")}`,
  );
  fleet.figure(
    `localLimits: up to ${all} at once while it was down, ${counted.join(" + ")} counted`,
  );
}
