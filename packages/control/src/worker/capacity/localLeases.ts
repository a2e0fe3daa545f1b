/**
 * Leases for the queries of this very process, from its store: a control plane that runs queries beside
 * its workers shares their slots. It needs no registration and no HTTP.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { LeaseFailure, LeaseSource, ReaperLink } from "@gateway/core/port/leases.ts";
import type { StoreUnavailable } from "../../store/store.ts";
import type { CapacityDesk, DeskRefusal } from "./capacityPort.ts";

/** `instance` is new and random for each start: `LeaseSource.instance`. */
export function localLeases(desk: CapacityDesk, instance: string): LeaseSource & ReaperLink {
  const caller = { instance, tokenHash: undefined };
  return {
    instance,
    acquire: async (request, signal) => answered(await desk.acquire(caller, request, signal)),
    renew: async (leases) => answered(await desk.renew(caller, leases)),
    release: async (leases) => answered(await desk.release(caller, leases)),
    leave: async (queryId) => answered(await desk.leave(caller, queryId)),
    lock: async (ttlSecs) => answered(await desk.lock(instance, ttlSecs)),
    keepLock: async (token) => answered(await desk.keepLock(instance, token)),
    unlock: async (token) => {
      const unlocked = await desk.unlock(instance, token);
      return unlocked.ok ? ok(undefined) : answered(unlocked);
    },
    suspects: async () => answered(await desk.suspects()),
    observed: async (report) => answered(await desk.observed(report)),
    publish: async (cluster, count) => {
      const published = await desk.publish(cluster, count);
      if (!published.ok) return answered(published);
      return published.value ? ok(undefined) : err("refused");
    },
  };
}

function answered<Value>(
  answer: Result<Value, DeskRefusal | StoreUnavailable>,
): Result<Value, LeaseFailure> {
  if (answer.ok) return answer;
  return err(answer.error.code === "refused" ? "refused" : "unreachable");
}
