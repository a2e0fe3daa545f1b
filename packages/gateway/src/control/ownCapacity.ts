/**
 * The capacity of a process that owns the configuration: counted alone where it serves no workers,
 * leased from its own store like any worker's where it does, because both share the engines.
 */
import type { Configuration } from "@gateway/control/config/configuration.ts";
import type { Store } from "@gateway/control/store/store.ts";
import { sharedCapacity } from "@gateway/control/worker/capacity/sharedCapacity.ts";
import type { SharedCapacity } from "@gateway/control/worker/capacity/capacityPort.ts";
import { localLeases } from "@gateway/control/worker/capacity/localLeases.ts";
import { leasedCapacity } from "@gateway/core/capacity/leased.ts";
import { localCapacity } from "@gateway/core/capacity/local.ts";
import { reap } from "@gateway/core/capacity/reaper/reaper.ts";
import type { Capacity } from "@gateway/core/port/capacity.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import type { GatewayConfig } from "../config/schema.ts";
import { coordinationDefaults } from "../config/workerKeys.ts";

export interface OwnCapacity {
  readonly capacity: Capacity;
  /** What workers are served from; undefined where none are. */
  readonly shared: SharedCapacity | undefined;
  /** Gives back what is held, and asks the engines no more. Never rejects. */
  close(deadline: AbortSignal): Promise<void>;
}

export interface OwnCapacityParts {
  readonly store: Store;
  readonly configuration: Configuration;
  readonly generations: Generations;
  readonly host: Host;
  /** The drain began. */
  readonly stopping: AbortSignal;
}

const instanceBytes = 18;

/** Begins to look after the engines where workers are served. */
export function ownCapacity(
  { workerApi }: Pick<GatewayConfig, "workerApi">,
  { store, configuration, generations, host, stopping }: OwnCapacityParts,
): OwnCapacity {
  if (workerApi?.enabled !== true) {
    return { capacity: localCapacity(host), shared: undefined, close: () => Promise.resolve() };
  }
  const randomBytes = (length: number): Uint8Array => host.randomBytes(length);
  const { clock, log, metrics } = host;
  const { leaseSecs, orphanKillSecs } = workerApi.capacity;
  const shared = sharedCapacity(
    { store, config: configuration, clock, log, metrics, randomBytes, host: "container", stopping },
    { leaseMs: leaseSecs * 1_000, orphanKillMs: orphanKillSecs * 1_000 },
  );
  const instance = Buffer.from(randomBytes(instanceBytes)).toString("base64url");
  const leases = localLeases(shared, instance);
  const { leaseAhead } = coordinationDefaults;
  const capacity = leasedCapacity(host, leases, { onUnavailable: "failClosed", leaseAhead });
  const ending = new AbortController();
  const reaping = reap({ host, link: leases, generations }, ending.signal);
  return {
    capacity,
    shared,
    close: async (deadline) => {
      ending.abort();
      await reaping;
      await capacity.close(deadline);
    },
  };
}
