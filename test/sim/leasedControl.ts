/** Who gives leases in the simulation: the control plane's own shared capacity over one of its stores, or the small model with planted mistakes. */
import { TestLeases, type Flaws, type TestCaps } from "@gateway/core/capacity/rig/leases.ts";
import {
  sharedCapacity,
  type CapacityDeps,
} from "@gateway/control/worker/capacity/sharedCapacity.ts";
import { localLeases } from "@gateway/control/worker/capacity/localLeases.ts";
import { memoryStore } from "@gateway/control/store/memory.ts";
import type { Store } from "@gateway/control/store/store.ts";
import type { LeaseSource, ReaperLink } from "@gateway/core/capacity/lease/leases.ts";
import type { VirtualHost } from "@gateway/core/rig/virtual.ts";

export interface SimControl {
  readonly caps: TestCaps;
  source(instance: string): LeaseSource;
  link(instance: string): ReaperLink;
  /** A successor proved its end. */
  proveDead(instance: string): Promise<void>;
  /** What goes on while nobody asks. */
  tick(): void;
  /** As a process that is killed and started again on the same data. */
  restart(): void;
  /** What is not free. */
  left(): Promise<{ readonly slots: number; readonly waiting: number }>;
  /** Ends what it follows. */
  close(): void;
}

/** The model. */
export function modelControl(host: VirtualHost, caps: TestCaps, flaws: Flaws): SimControl {
  const leases = new TestLeases(host.clock, caps, { flaws });
  return {
    caps,
    source: (instance) => leases.source(instance),
    link: (instance) => leases.link(instance),
    proveDead: async (instance) => leases.proveDead(instance),
    tick: () => leases.tick(),
    restart: () => {},
    left: async () => ({ slots: leases.taken, waiting: leases.waiting }),
    close: () => {},
  };
}

/** The real one, over a store in memory unless told otherwise. */
export function realControl(
  host: VirtualHost,
  caps: TestCaps,
  store: Pick<Store, "capacity"> = memoryStore(host.clock),
): SimControl {
  const { clock, log, metrics } = host;
  const randomBytes = (length: number): Uint8Array => host.randomBytes(length);
  const built = builtOf(caps);
  const config = { current: () => built, onChange: () => ({ [Symbol.dispose]: () => {} }) };
  const capacityOf = (stopping: AbortSignal) => {
    const deps = { store, clock, log, metrics, randomBytes, host: "container", stopping, config };
    return sharedCapacity(deps as unknown as CapacityDeps);
  };
  let life = new AbortController();
  let shared = capacityOf(life.signal);
  const over = (instance: string) => localLeases(shared, instance);
  return {
    caps,
    source: (instance) => ({
      instance,
      acquire: (request, signal) => over(instance).acquire(request, signal),
      renew: (leases, signal) => over(instance).renew(leases, signal),
      release: (leases, signal) => over(instance).release(leases, signal),
      leave: (queryId, signal) => over(instance).leave(queryId, signal),
    }),
    link: (instance) => ({
      lock: (ttlSecs, signal) => over(instance).lock(ttlSecs, signal),
      keepLock: (token, signal) => over(instance).keepLock(token, signal),
      unlock: (token, signal) => over(instance).unlock(token, signal),
      suspects: (signal) => over(instance).suspects(signal),
      observed: (report, signal) => over(instance).observed(report, signal),
      publish: (cluster, count, signal) => over(instance).publish(cluster, count, signal),
    }),
    proveDead: async (instance) => void (await shared.dead(instance)),
    tick: () => void shared.suspects(),
    restart: () => {
      life.abort();
      life = new AbortController();
      shared = capacityOf(life.signal);
    },
    left: async () => {
      const [running, waiting] = await Promise.all([
        store.capacity.running(),
        store.capacity.waiting(),
      ]);
      if (!running.ok || !waiting.ok) throw new Error("a store of the simulation is always there");
      const held = Object.values(running.value.clusters).map((cluster) => cluster.held);
      return { slots: sum(held), waiting: sum([...waiting.value.values()]) };
    },
    close: () => {
      life.abort();
    },
  };
}

/** The part of a configuration that has limits. */
function builtOf({ cluster, group, user: maxRunningPerUser }: TestCaps) {
  const groups = [...new Set(Object.keys(group).map((key) => key.split("/")[0] ?? ""))];
  const members = Object.keys(cluster);
  return {
    revision: { epoch: 1, sequence: 1, hash: "sha256:0" },
    body: {
      clusters: Object.fromEntries(
        members.map((name) => [name, { maxRunningQueries: cluster[name] }]),
      ),
      clusterGroups: Object.fromEntries(
        groups.map((name) => [
          name,
          {
            members,
            maxRunningQueries: group[`${name}/${members[0] ?? ""}`],
            ...(maxRunningPerUser === undefined ? {} : { maxRunningPerUser }),
          },
        ]),
      ),
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
