/** F11: a worker is killed with the whole cap in its hands: nothing runs beyond it, and its slots come back. */
import { leases } from "../night.mjs";
import { ready } from "../ops.mjs";
import { patience } from "../wait.mjs";
import {
  check,
  cap,
  idle,
  judgeCap,
  load,
  longOnes,
  secondsUntilFull,
  sharedFleet,
} from "../shared.mjs";

export const title = "F11: a worker with a full cap is killed; its slots come back (I4)";
export const usualSeconds = 65;

/** Ten in the night. */
const rounds = Number(process.env.FLEET_KILLS ?? 2);
export const seconds = 60 + 110 * rounds;

const gone = 90;
const reborn = 30;
const runMs = 2_000;
/** Long enough that all of them run at once now and then, however busy the machine is. */
const loadMs = 400;

export async function run(fleet) {
  const { engine, workers } = await sharedFleet(fleet, { states: true, capacity: leases });
  const [first, ...others] = workers;
  for (let round = 0; round < rounds; round += 1) {
    const returns = round % 2 === 0;
    const held = await longOnes(engine, first, { count: cap, ms: runMs, life: `held${round}` });
    await first.kill();
    // What a successor takes to start is the machine's and not the leases'.
    if (returns) await first.restart().open();
    const fromMs = performance.now();
    const loaded = load(others, { life: `others${round}`, runMs: loadMs });
    await idle(engine);
    await secondsUntilFull(engine, returns ? reborn : gone);
    const took = (performance.now() - fromMs) / 1000;
    const limit = (returns ? reborn : gone) * patience;
    check(took <= limit, `the slots were back after ${took.toFixed(1)} s`);
    fleet.figure(
      `slots back after ${took.toFixed(1)} s ${returns ? "with its successor" : "without one"}`,
    );
    const failures = await loaded.stop();
    check(failures.length === 0, `queries of others failed: ${failures.slice(0, 3).join(", ")}`);
    await held.ends();
    if (!returns) first.restart();
    await first.open().then(ready);
    await idle(engine);
  }
  await judgeCap(engine, fleet, "killed");
}
