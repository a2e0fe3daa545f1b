/** The capacity of a worker, by its configuration: shared through the control plane, or its own alone. */
import { leasedCapacity } from "@gateway/core/capacity/leased.ts";
import { localCapacity } from "@gateway/core/capacity/local.ts";
import { reap } from "@gateway/core/capacity/reaper/reaper.ts";
import type { Capacity } from "@gateway/core/port/capacity.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import type { CoordinationConfig } from "../../config/workerKeys.ts";
import { capacityLink, type CapacityLinkParts } from "./capacityLink.ts";
import { leasesCloseMsMax } from "../limits.ts";

export interface WorkerCapacity {
  readonly capacity: Capacity;
  /** A heartbeat says that these leases were given to others. */
  lost(leases: readonly string[]): void;
  /** Gives back what is held, and asks the engines no more. Never rejects. */
  close(deadline: AbortSignal): Promise<void>;
}

/** Begins to look after the engines, too, where capacity is shared. */
export function openCapacity(
  {
    host,
    calls,
    presence,
    generations,
  }: Omit<CapacityLinkParts, "host"> & {
    readonly host: Host;
    readonly generations: Pick<Generations, "hold">;
  },
  { mode, onUnavailable, leaseAhead }: CoordinationConfig,
): WorkerCapacity {
  if (mode === "local") {
    return { capacity: localCapacity(host), lost: () => {}, close: () => Promise.resolve() };
  }
  const link = capacityLink({ host, calls, presence });
  const capacity = leasedCapacity(host, link.source, { onUnavailable, leaseAhead });
  const stopping = new AbortController();
  const reaping = reap({ host, link: link.reaper, generations }, stopping.signal);
  return {
    capacity,
    lost: (leases) => capacity.lost(leases),
    close: async (deadline) => {
      stopping.abort();
      await reaping;
      const limit = new AbortController();
      using _timer = host.clock.timer(leasesCloseMsMax, () => limit.abort());
      await capacity.close(AbortSignal.any([deadline, limit.signal]));
    },
  };
}
