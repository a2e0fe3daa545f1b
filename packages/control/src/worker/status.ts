/** Whether a worker is there, from what it reported and when. Pure: the time is an argument. */
import { missedHeartbeatsMax, type WorkerStatus } from "@gateway/contract/workerApi.ts";
import type { WorkerRow } from "../store/store.ts";

/** As reported, or `offline` after three missed heartbeats. */
export function statusOf(
  worker: Pick<WorkerRow, "status" | "lastSeenAt" | "heartbeatIntervalSecs">,
  nowUnixMs: number,
): WorkerStatus {
  const silentMs = nowUnixMs - worker.lastSeenAt;
  const silentMsMax = worker.heartbeatIntervalSecs * 1_000 * missedHeartbeatsMax;
  return silentMs > silentMsMax ? "offline" : worker.status;
}
