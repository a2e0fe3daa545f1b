/** A scripted door with the real parking place behind it. */
import type { Door } from "@gateway/core/port/door.ts";
import { PolledQueries } from "@gateway/core/run/poll/polled.ts";
import { scriptedDoor, type Script, type ScriptedDoor } from "../../rig/scriptedDoor.ts";
import type { SuiteHost } from "../../rig/host.ts";

export function parkingDoor(script: Script, host: SuiteHost): ScriptedDoor {
  const door = scriptedDoor(script);
  const parking = new PolledQueries(host);
  const parked: Pick<Door, "start" | "resume" | "cancel"> = {
    start: (query) => parking.start(query, (started, signal) => door.run(started, signal)),
    resume: (id, owner) => parking.resume(id, owner),
    cancel: async (id, by) => parking.cancel(id, by),
  };
  return Object.assign(door, parked);
}
