/** F2 with leases: the control plane stands still for longer than calls last, and no slot is given twice. */
import { night } from "../night.mjs";
import { same, until } from "../wait.mjs";
import { idle, judgeCap, load, pause, sharedFleet, usedInFull } from "../shared.mjs";

/** Longer than a call lasts, and shorter than leases: what expired would have to be asked for at the engine (F11). */
const frozenSecs = night ? 40 : 20;
export const title = `F2: the control plane is frozen for ${frozenSecs} s under load; no lease is granted twice (I4)`;
export const usualSeconds = 40;

export async function run(fleet) {
  const { engine, control, workers } = await sharedFleet(fleet);
  const loaded = load(workers);
  await pause(3_000);
  control.freeze();
  await pause(frozenSecs * 1_000);
  control.thaw();
  const { done } = loaded.state;
  await until("queries go on", () => loaded.state.done > done + 200, 90);
  await usedInFull(engine, loaded);
  same(await loaded.stop(), [], "queries that failed");
  await idle(engine);
  await judgeCap(engine, fleet, "frozen control plane");
}
