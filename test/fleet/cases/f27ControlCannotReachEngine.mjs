/**
 * F27: the control plane alone can not reach an engine that workers reach. A worker dies with the whole cap in
 * its hands: somebody who can ask the engine does, and its slots come back as in F11.
 */
import { leases } from "../night.mjs";
import { ready } from "../ops.mjs";
import {
  cap,
  check,
  idle,
  judgeCap,
  load,
  longOnes,
  secondsUntilFull,
  sharedFleet,
} from "../shared.mjs";

export const title =
  "F27: the control plane can not reach the engine; a dead worker's slots come back all the same (I4)";
export const usualSeconds = 50;
export const seconds = 200;

/** An address of this machine that only the control plane may not connect to. */
const engineAddress = "127.0.0.2";
const gone = 90;

export async function run(fleet) {
  const { engine, control, workers } = await sharedFleet(fleet, {
    engineAddress,
    capacity: leases,
    control: { egress: { deny: [engineAddress] } },
  });
  const [first, ...others] = workers;
  const held = await longOnes(engine, first, { count: cap, ms: 2_000, life: "held" });
  await first.kill();
  const fromMs = performance.now();
  const loaded = load(others, { life: "others", runMs: 400 });
  await idle(engine);
  await secondsUntilFull(engine, gone);
  const took = (performance.now() - fromMs) / 1000;
  const failures = await loaded.stop();
  check(failures.length === 0, `queries of others failed: ${failures.slice(0, 3).join(", ")}`);
  await held.ends();
  check(
    others.some((worker) => worker.events("capacity.reaps").length > 0),
    "no worker took the lock",
  );
  fleet.figure(`slots back after ${took.toFixed(1)} s`);
  await first.restart().open().then(ready);
  await idle(engine);
  await judgeCap(engine, fleet, "cut off");
  check(control.running, "the control plane ended");
}
