/**
 * `kill -9` of a standalone gateway under load, many times: each query that was answered or run has a
 * record or is in the counter, and the log names it.
 */
import { killedUnderLoad } from "../killed.mjs";

export const title =
  "kill -9 of a standalone gateway: no record is lost without being counted (I1)";

/** A start takes many seconds on a machine that has more to do. */
export const seconds = 300;

export function run(fleet) {
  return killedUnderLoad(fleet, 4, { role: "standalone", workerApi: undefined });
}
