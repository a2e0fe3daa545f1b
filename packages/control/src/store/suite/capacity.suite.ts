/** Shared capacity: rows are the cap, leases are known by their name, and a slot is given again only when it is known to be free. */
import { expect } from "vitest";
import type { Check } from "../store.suite.ts";
import {
  acquireOf,
  acquired,
  capsOf,
  granted,
  heldOf,
  leasesOf,
  local,
  named,
  release,
  stepped,
  terms,
  waitFor,
} from "../rig/capacitySamples.ts";
import { answered, registrationOf, startMs } from "../rig/samples.ts";

export function capacitySuite(check: Check): void {
  check(
    "gives as many slots as the smaller of both caps, each lease once",
    async ({ capacity }) => {
      await capsOf(capacity, { clusters: { c: 3 }, members: { g: { c: 2 }, h: { c: 2 } } });
      const g = await Promise.all(
        [1, 2, 3].map((at) => acquired(capacity, { requestId: `g${at}` })),
      );
      expect(g.flatMap(leasesOf)).toHaveLength(2);
      const h = await acquired(capacity, { group: "h", count: 5 });
      expect(h.granted).toHaveLength(1);
      const leases = [...g.flatMap(leasesOf), ...leasesOf(h)];
      expect(new Set(leases).size).toBe(3);
      expect(h.granted[0]).toMatchObject({ cluster: "c", slot: 0, expiresInMs: terms.leaseMs });
    },
  );

  check("takes no slot in one scope when another has none", async ({ capacity }) => {
    await capsOf(capacity, { clusters: { c: 1 }, members: { g: { c: 5 }, h: { c: 5 } } });
    const first = await acquired(capacity, {});
    expect((await acquired(capacity, { group: "h" })).granted).toEqual([]);
    await release(capacity, first);
    expect((await acquired(capacity, { group: "h", count: 2 })).granted).toHaveLength(1);
    expect((await acquired(capacity, { count: 1 })).granted).toEqual([]);
  });

  check(
    "goes through the candidates in their order, and knows none that has no cap",
    async (store) => {
      const { capacity } = store;
      await capsOf(capacity, { members: { g: { a: 1, b: 1 } } });
      const candidates = ["unknown", "b", "a"];
      const { granted: both } = await acquired(capacity, { candidates, count: 3 });
      expect(both.map(({ cluster }) => cluster)).toEqual(["b", "a"]);
      expect((await acquired(capacity, { group: "unknown" })).granted).toEqual([]);
    },
  );

  check("answers a repeated request with the same lease and no other", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 5 } } });
    const first = await acquired(capacity, { requestId: "repeated", count: 2 });
    const again = await acquired(capacity, { requestId: "repeated", count: 2 });
    expect(leasesOf(again)).toEqual(leasesOf(first));
    const others = acquireOf({ requestId: "repeated", caller: local("other") });
    const { acquires } = await stepped(capacity, { acquires: [others] });
    expect(leasesOf(granted(acquires[0]))).not.toEqual(leasesOf(first).slice(0, 1));
    await release(capacity, first);
    // Late, when the query has long ended: it gets nothing that nobody would give back.
    expect((await acquired(capacity, { requestId: "repeated" })).granted).toEqual([]);
    expect(await heldOf(capacity, "c")).toBe(1);
  });

  check("frees by the lease itself, once, and only for its holder", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 } } });
    const first = await acquired(capacity, {});
    expect(await release(capacity, first, local("other"))).toBe(0);
    const wrong = { ...named(first), lease: "0".repeat(32) };
    const { releases } = await stepped(capacity, {
      releases: [
        { caller: local("w"), leases: [wrong, { ...named(first), slot: 7 }] },
        { caller: local("w"), leases: [{ ...named(first), cluster: "d" }] },
      ],
    });
    expect(releases).toEqual([0, 0]);
    expect(await release(capacity, first)).toBe(1);
    const second = await acquired(capacity, {});
    // The slot is the same; the lease is another one, and a late release of the first is about nothing.
    expect(named(second).slot).toBe(named(first).slot);
    expect(await release(capacity, first)).toBe(0);
    expect(await heldOf(capacity, "c")).toBe(1);
  });

  check("counts a lease that is named twice in one call once", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 2 } } });
    const lease = named(await acquired(capacity, {}));
    const { releases } = await stepped(capacity, {
      releases: [
        { caller: local("w"), leases: [lease, lease] },
        { caller: local("w"), leases: [lease] },
      ],
    });
    expect(releases).toEqual([1, 0]);
  });

  check("hears a worker only under its own token", async ({ capacity, workers }) => {
    await capsOf(capacity, { members: { g: { c: 5 } } });
    await answered(workers.register(registrationOf("i1"), startMs));
    const own = { instance: "i1", tokenHash: "token-i1" };
    const forged = { instance: "i1", tokenHash: "token-i2" };
    const stranger = { instance: "i9", tokenHash: "token-i9" };
    const { acquires } = await stepped(capacity, {
      acquires: [own, forged, stranger].map((caller, at) =>
        acquireOf({ caller, requestId: `r${at}` }),
      ),
    });
    expect(acquires.slice(1)).toEqual(["refused", "refused"]);
    const lease = named(granted(acquires[0]));
    const calls = await stepped(capacity, {
      leaves: [{ caller: forged, queryId: "q" }],
      releases: [
        { caller: forged, leases: [lease] },
        { caller: stranger, leases: [lease] },
      ],
    });
    expect([...calls.leaves, ...calls.releases]).toEqual(["refused", "refused", "refused"]);
    expect(await answered(capacity.renew(forged, [lease], terms))).toBe("refused");
    expect(await answered(capacity.renew(own, [lease], terms))).toEqual({
      renewed: [lease.lease],
      lost: [],
    });
  });

  check("says which leases are renewed and which are not the caller's", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 5 } } });
    const [a, b, c] = await Promise.all([
      acquired(capacity, { requestId: "a" }),
      acquired(capacity, { requestId: "b" }),
      acquired(capacity, { requestId: "c", caller: local("other") }),
    ]);
    await release(capacity, b);
    const all = [a, b, c].map((answer) => named(answer));
    const answer = await answered(capacity.renew(local("w"), all, terms));
    expect(answer).toEqual({
      renewed: [named(a).lease],
      lost: [named(b).lease, named(c).lease],
    });
  });

  check("drains a lowered limit and applies a raised one at once", async ({ capacity }) => {
    const members = (cap: number) => ({ members: { g: { c: cap } } });
    await capsOf(capacity, members(4), 1);
    const held = await acquired(capacity, { count: 4 });
    await capsOf(capacity, members(2), 2);
    const { granted: all } = held;
    const give = async (from: number, to: number) =>
      release(capacity, { granted: all.slice(from, to) });
    await give(0, 2);
    expect((await acquired(capacity, { count: 2 })).granted).toEqual([]);
    await give(2, 3);
    expect((await acquired(capacity, { count: 2 })).granted).toHaveLength(1);
    await capsOf(capacity, members(5), 3);
    expect((await acquired(capacity, { count: 9 })).granted).toHaveLength(3);
    expect(await heldOf(capacity, "c")).toBe(5);
  });

  check("does not go back to limits of an older configuration", async ({ capacity }) => {
    expect(await capsOf(capacity, { members: { g: { c: 2 } } }, 7)).toBe(true);
    expect(await capsOf(capacity, { members: { g: { c: 9 } } }, 6)).toBe(false);
    expect((await acquired(capacity, { count: 9 })).granted).toHaveLength(2);
  });

  check("counts what ran before a cluster got a cap of its own", async ({ capacity }) => {
    const members = { g: { c: 5 }, h: { c: 5 } };
    await capsOf(capacity, { members }, 1);
    const held = await acquired(capacity, { count: 3 });
    await capsOf(capacity, { clusters: { c: 3 }, members }, 2);
    expect((await acquired(capacity, { group: "h" })).granted).toEqual([]);
    await release(capacity, held);
    expect((await acquired(capacity, { group: "h", count: 5 })).granted).toHaveLength(3);
    await capsOf(capacity, { members }, 3);
    expect((await acquired(capacity, { count: 9 })).granted).toHaveLength(5);
  });

  check("gives nothing of a member that was taken out", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 3 } } }, 1);
    const held = await acquired(capacity, {});
    await capsOf(capacity, { members: { g: { d: 3 } } }, 2);
    expect((await acquired(capacity, { candidates: ["c"] })).granted).toEqual([]);
    expect(await release(capacity, held)).toBe(1);
    expect((await acquired(capacity, { candidates: ["c", "d"] })).granted).toHaveLength(1);
  });

  check("makes the rows of a large cap as they are needed", async ({ capacity }) => {
    await capsOf(capacity, { clusters: { c: 900_000 }, members: { g: { c: 1_000_000 } } });
    let held = 0;
    for (let round = 0; round < 20; round += 1) {
      const { granted: some } = await acquired(capacity, { requestId: `r${round}`, count: 64 });
      // The last of those that are there may be fewer; a question never goes away empty.
      expect(some.length).toBeGreaterThan(0);
      held += some.length;
    }
    expect(held).toBeGreaterThan(1_000);
    expect(await heldOf(capacity, "c")).toBe(held);
  });

  check("never gives more than the caps, however calls fall together", async ({ capacity }) => {
    await capsOf(capacity, { clusters: { c: 3 }, members: { g: { c: 2 }, h: { c: 3 } } });
    const rounds = Array.from({ length: 8 }, async (_, caller) => {
      for (let round = 0; round < 6; round += 1) {
        const group = (caller + round) % 2 === 0 ? "g" : "h";
        const answer = await acquired(capacity, { requestId: `${caller}-${round}`, group });
        expect(await heldOf(capacity, "c")).toBeLessThanOrEqual(3);
        await release(capacity, answer);
      }
    });
    await Promise.all(rounds);
    expect(await heldOf(capacity, "c")).toBe(0);
    expect((await acquired(capacity, { count: 9 })).granted).toHaveLength(2);
  });

  check("gives no lease ahead while a query waits on the cluster", async ({ capacity }) => {
    await capsOf(capacity, { members: { g: { c: 1 }, h: { c: 1 } } });
    await acquired(capacity, {});
    await waitFor(capacity, "waits");
    const ahead = acquireOf({ group: "h", queryId: undefined, waits: false });
    const { acquires } = await stepped(capacity, { acquires: [ahead] });
    expect(acquires).toEqual([{ granted: [] }]);
    const query = acquireOf({ group: "h", queryId: "q-h", requestId: "r-h" });
    const other = await stepped(capacity, { acquires: [query] });
    expect(granted(other.acquires[0]).granted).toHaveLength(1);
  });
}
