/** The worker registry in memory. Rows go when they are forgotten; a name may have several instances. */
import { byNameAndId } from "../keyset.ts";
import type {
  CancelRequest,
  WorkerRegistration,
  WorkerReport,
  WorkerRow,
  WorkerStore,
} from "../store.ts";
import { pageOf, stored } from "./order.ts";

/** A registry that keeps its instances in `rows`, for others to look at. */
export function memoryWorkers(rows = new Map<string, WorkerRow>()): WorkerStore {
  const cancels = new Map<string, CancelRequest>();

  function register(worker: WorkerRegistration, nowMs: number) {
    rows.set(worker.instanceId, newRow(worker, nowMs));
    const sameName = [...rows.values()].filter(
      ({ name, instanceId }) => name === worker.name && instanceId !== worker.instanceId,
    );
    return { sameName };
  }

  function heartbeat(report: WorkerReport, tokenHash: string, nowMs: number) {
    const there = rows.get(report.instanceId);
    if (there?.tokenHash !== tokenHash) return undefined;
    rows.set(there.instanceId, { ...there, ...report, lastSeenAt: nowMs });
    return { cancel: report.queries.map(({ id }) => id).filter((id) => cancels.has(id)) };
  }

  return {
    register: (worker, nowMs) => stored(register(worker, nowMs)),
    heartbeat: (report, tokenHash, nowMs) => stored(heartbeat(report, tokenHash, nowMs)),
    nameOf: (instanceId, tokenHash) => {
      const there = rows.get(instanceId);
      return stored(there?.tokenHash === tokenHash ? there.name : undefined);
    },
    remove: (instanceId) => stored(rows.delete(instanceId)),
    list: (page) =>
      stored(
        pageOf(rows.values(), page, {
          keyset: byNameAndId,
          keyOf: ({ name, instanceId }) => [name, instanceId],
          newestFirst: false,
        }),
      ),
    get: (instanceId) => stored(rows.get(instanceId)),
    countAlone: (since) => {
      const alone = [...rows.values()].filter(
        ({ coordination, lastSeenAt }) => coordination === "local" && lastSeenAt >= since,
      );
      return stored(alone.length);
    },
    requestCancel: (request) => {
      if (!cancels.has(request.queryId)) cancels.set(request.queryId, request);
      return stored(undefined);
    },
    forget: (before) => {
      const gone = [...rows.values()].filter(({ lastSeenAt }) => lastSeenAt < before);
      const old = [...cancels.values()].filter(({ requestedAt }) => requestedAt < before);
      for (const { instanceId } of gone) rows.delete(instanceId);
      for (const { queryId } of old) cancels.delete(queryId);
      return stored(gone.length + old.length);
    },
  };
}

/** An instance before its first heartbeat. */
function newRow(worker: WorkerRegistration, nowMs: number): WorkerRow {
  return {
    ...worker,
    status: "starting",
    activeRevision: undefined,
    downloadedRevision: undefined,
    configSource: undefined,
    stale: false,
    lastError: undefined,
    coordination: undefined,
    queries: [],
    registeredAt: nowMs,
    lastSeenAt: nowMs,
  };
}
