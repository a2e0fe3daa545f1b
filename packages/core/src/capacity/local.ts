/**
 * Slots counted in this process: the capacity of a gateway that shares its clusters with nobody.
 * Who waits and who is next is admissions.ts.
 */
import type { Capacity } from "../port/capacity.ts";
import type { Host } from "../port/host.ts";
import { CountedText } from "../tool/countedText.ts";
import { Admissions } from "./queue/admissions.ts";
import { Scopes } from "./queue/scopes.ts";
import type { TakenSlot } from "./queue/slotSource.ts";

/** Enough that two processes never share a name. */
const instanceBytes = 8;

/** A class, because a function that each query makes anew is looked up anew, too. */
class CountedSlot implements TakenSlot {
  readonly fence: number;
  readonly holder: string;
  readonly #scopes: Scopes;
  readonly #group: string;
  readonly #cluster: string;

  constructor(scopes: Scopes, { group, cluster, fence, holder }: Counting) {
    this.fence = fence;
    this.holder = holder;
    this.#scopes = scopes;
    this.#group = group;
    this.#cluster = cluster;
  }

  give(): void {
    this.#scopes.give(this.#group, this.#cluster);
  }
}

interface Counting {
  readonly group: string;
  readonly cluster: string;
  readonly fence: number;
  readonly holder: string;
}

/** Makes a capacity without any slot taken. */
export function localCapacity(host: Host): Capacity {
  const instance = [...host.randomBytes(instanceBytes)]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  const scopes = new Scopes();
  let fence = 0;
  const holders = new CountedText(`${instance}/`, "0", "", 36);
  return new Admissions(host, {
    load: (cluster) => scopes.load(cluster),
    hear: (group, candidates, sequence) => scopes.hear(group, candidates, sequence),
    forgetStatements: () => scopes.forgetStatements(),
    hasRoom: ({ group }, cluster) => scopes.hasRoom(group, cluster),
    take: ({ group }, cluster) => {
      scopes.take(group, cluster);
      fence += 1;
      return new CountedSlot(scopes, { group, cluster, fence, holder: holders.next() });
    },
    counts: () => scopes.counts(),
    ordersHere: () => true,
  });
}
