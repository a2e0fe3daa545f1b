/** F2 with leases: the control plane stands still for longer than calls last, and no slot is given twice. */
import { same, until } from "../wait.mjs";
import { idle, cap, judgeCap, load, pause, sharedFleet } from "../shared.mjs";

export const title =
  "F2: the control plane is frozen for 40 s under load; no lease is granted twice (I4)";

const frozenMs = 40_000;

export async function run(fleet) {
  const { engine, control, workers } = await sharedFleet(fleet);
  const loaded = load(workers);
  await pause(3_000);
  control.freeze();
  await pause(frozenMs);
  control.thaw();
  const { done } = loaded.state;
  await until("queries go on", () => loaded.state.done > done + 200, 90);
  await until("the cap is used in full", () => engine.running === cap, 60);
  same(await loaded.stop(), [], "queries that failed");
  await idle(engine);
  judgeCap(engine, fleet, "frozen control plane");
}
