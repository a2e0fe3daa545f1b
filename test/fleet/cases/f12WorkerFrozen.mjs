/** F12: a worker stands still for longer than its leases last. Its slots stay taken while the engine runs its queries. */
import { check, same, until, untilFull } from "../wait.mjs";
import { askPg } from "../ask.mjs";
import { mostAtOnce } from "../engine.mjs";
import {
  cap,
  clientsOf,
  idle,
  judgeCap,
  load,
  longOnes,
  pause,
  sharedFleet,
  usedInFull,
} from "../shared.mjs";

export const title =
  "F12: a worker is frozen past its leases, and ends what it lost when it wakes (I4)";
export const usualSeconds = 50;

const capacity = { leaseSecs: 20, orphanKillSecs: 30 };
const held = 3;
/** Within it nothing of the frozen worker is given again: its leases last, and the engine runs its queries. */
const takenMs = 25_000;

export async function run(fleet) {
  const { engine, workers } = await sharedFleet(fleet, { capacity });
  const [first, ...others] = workers;
  const frozen = await longOnes(engine, first, { count: held, ms: 120_000, life: "frozen" });
  const loaded = load(others, { life: "others" });
  const own = () => clientsOf(engine).filter(({ sql }) => sql.endsWith(" others'"));
  const rest = () => mostAtOnce(own()) === cap - held;
  await untilFull("what it held ahead is with others", loaded.state, rest);
  first.freeze();
  const fromMs = performance.now();
  await pause(takenMs);
  same(mostAtOnce(own()), cap - held, "beside the frozen worker's statements");
  await until(
    "its statements are ended in the engine",
    () => frozen.own().every(({ untilMs }) => untilMs !== undefined),
    90,
  );
  const ended = ((performance.now() - fromMs) / 1000).toFixed(1);
  await usedInFull(engine, loaded);
  first.thaw();
  same(new Set(await frozen.ends()).size, 1, "ends of the lost queries");
  check(
    (await frozen.ends()).every((end) => end !== "done"),
    "a lost query looks complete",
  );
  same(await askPg(first, "select '5 ms again'"), "1", "a query after the thaw");
  await loaded.stop();
  await idle(engine);
  check(first.events("capacity.stoodStill").length > 0, "the worker did not notice");
  fleet.figure(`its ${held} statements were ended after ${ended} s`);
  await judgeCap(engine, fleet, "frozen");
}
