/**
 * Leases for the queries of this very process, from its store: a control plane that runs queries beside
 * its workers shares their slots. It needs no registration and no HTTP.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { LeaseFailure, LeaseSource, ReaperLink } from "@gateway/core/capacity/lease/leases.ts";
import type { StoreUnavailable } from "../../store/store.ts";
import type { SharedCapacity, CapacityRefusal } from "./capacityPort.ts";

/** `instance` is new and random for each start: `LeaseSource.instance`. */
export function localLeases(shared: SharedCapacity, instance: string): LeaseSource & ReaperLink {
  const caller = { instance, tokenHash: undefined };
  return {
    instance,
    acquire: async (request, signal) => answered(await shared.acquire(caller, request, signal)),
    renew: async (leases) => answered(await shared.renew(caller, leases)),
    release: async (leases) => answered(await shared.release(caller, leases)),
    leave: async (queryId) => answered(await shared.leave(caller, queryId)),
    lock: async (ttlSecs) => answered(await shared.lock(instance, ttlSecs)),
    keepLock: async (token) => answered(await shared.keepLock(instance, token)),
    unlock: async (token) => {
      const unlocked = await shared.unlock(instance, token);
      return unlocked.ok ? ok(undefined) : answered(unlocked);
    },
    suspects: async () => answered(await shared.suspects()),
    observed: async (report) => answered(await shared.observed(report)),
    publish: async (cluster, count) => {
      const published = await shared.publish(cluster, count);
      if (!published.ok) return answered(published);
      return published.value ? ok(undefined) : err("refused");
    },
  };
}

function answered<Value>(
  answer: Result<Value, CapacityRefusal | StoreUnavailable>,
): Result<Value, LeaseFailure> {
  if (answer.ok) return answer;
  return err(answer.error.code === "refused" ? "refused" : "unreachable");
}
