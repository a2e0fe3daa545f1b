/** What a drill asks of a control plane before it begins: `POST /admin/drills`, by an admin. */
import { z } from "zod";

/**
 * - `controlPlaneAway`: the control plane is stopped and started.
 * - `workerRestart`: a worker ends and comes back.
 * - `slowEngine`: an engine, or the way to it, is slow for a while.
 * - `engineKilled`: an engine's process ends and comes back.
 * - `userRevoked`: a user that the drill adds is removed again.
 */
export const drillNames = [
  "controlPlaneAway",
  "workerRestart",
  "slowEngine",
  "engineKilled",
  "userRevoked",
] as const;
export type DrillName = (typeof drillNames)[number];

export const drillsPath = "/admin/drills";

/** Answered with the same when it may begin: it is in the trail then. 409 `noDrills` where the config does not take drills. */
export const drillRequestSchema = z.strictObject({
  drill: z.enum(drillNames).meta({ description: "What is about to be broken." }),
});
