import type { ObservedRequest } from "@gateway/contract/capacityApi.ts";
import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import type { Backend, RunningStatements } from "../../port/backend.ts";
import type { ReaperLink } from "../lease/leases.ts";
import { virtualHost } from "../../rig/virtual.ts";
import { planeOf } from "../../run/rig/plane.ts";
import { err, ok, type Result } from "../../result.ts";
import { Generations, type Generation } from "../../snapshot/generation.ts";
import { engineRunning, reap } from "./reaper.ts";
import { TestLeases } from "../rig/leases.ts";

const orphanName = "worker-one";

describe("reap", () => {
  it("frees the slot of a dead worker when the engine does not run its query", async () => {
    const fleet = await fleetOf();
    await fleet.orphan();
    await fleet.until(() => fleet.leases.taken === 0);
    expect(fleet.seen()).toContain("absent");
    expect(fleet.ended).toEqual([]);
    await fleet.stop();
  });

  it("ends the query of a worker that was silent for long, and frees its slot when it is gone", async () => {
    const fleet = await fleetOf();
    const lease = await fleet.orphan();
    fleet.tags.add(`gateway/${orphanName}/${lease}/q1`);
    fleet.tags.add("gateway/worker-two/another/q2");
    await fleet.until(() => fleet.leases.taken === 0);
    expect(fleet.ended).toEqual([`gateway/${orphanName}/${lease}/q1`]);
    expect([...fleet.tags]).toEqual(["gateway/worker-two/another/q2"]);
    await fleet.stop();
  });

  it("says that it told the engine, and tells it again when it does not obey", async () => {
    const fleet = await fleetOf({ obeys: false });
    const lease = await fleet.orphan();
    fleet.tags.add(`gateway/${orphanName}/${lease}/q1`);
    await fleet.until(() => fleet.ended.length > 1);
    expect(fleet.seen()).toContain("ending");
    expect(fleet.leases.taken).toBe(1);
    await fleet.stop();
  });

  it("kills nothing of a worker that lives", async () => {
    const fleet = await fleetOf();
    const lease = await fleet.orphan();
    fleet.tags.add(`gateway/${orphanName}/${lease}/q1`);
    const alive = fleet.leases.source(orphanName);
    for (let round = 0; round < 100; round += 1) {
      await alive.leave("nobody", new AbortController().signal);
      await fleet.pass(2_000);
    }
    expect(fleet.seen()).toContain("running");
    expect(fleet.ended).toEqual([]);
    expect(fleet.leases.taken).toBe(1);
    await fleet.stop();
  });

  it("leaves a slot suspect while the engine does not answer, or shows less than all", async () => {
    const fleet = await fleetOf({ limitsExecution: true });
    await fleet.orphan();
    fleet.listing = err(gatewayError("cluster.connectFailed"));
    await fleet.pass(120_000);
    fleet.listing = ok({ tags: [], complete: false, delayMs: 0 });
    await fleet.pass(120_000);
    expect(new Set(fleet.seen())).toEqual(new Set(["unanswered", "unlisted"]));
    expect(fleet.leases.taken).toBe(1);
    await fleet.stop();
  });

  it("frees nothing by time of an engine that neither lists nor limits its statements", async () => {
    const fleet = await fleetOf({ limitsExecution: false });
    await fleet.orphan();
    fleet.listing = ok({ tags: [], complete: false, delayMs: 0 });
    await fleet.pass(120_000);
    expect(new Set(fleet.seen())).toEqual(new Set(["unanswered"]));
    expect(fleet.leases.taken).toBe(1);
    const told = fleet.host.log.lines.filter(({ event }) => event === "capacity.engineNotListed");
    expect(told).toMatchObject([{ fields: { cluster: "main", limitsExecution: false } }]);
    await fleet.stop();
  });

  it("is not deceived by a report that comes twice, and later than the next", async () => {
    const fleet = await fleetOf();
    const lease = await fleet.orphan();
    fleet.listing = ok({ tags: [], complete: true, delayMs: 600_000 });
    await fleet.until(() => fleet.seen().includes("absent"));
    // It began to show only now; whatever was said before of it is repeated at the end.
    fleet.listing = undefined;
    fleet.tags.add(`gateway/${orphanName}/${lease}/q1`);
    await fleet.until(() => fleet.seen().includes("running"));
    await fleet.repeat("absent");
    await fleet.repeat("absent");
    expect(fleet.leases.taken).toBe(1);
    await fleet.stop();
  });

  it("says of an engine inside the worker that it is there", async () => {
    const fleet = await fleetOf({ runsIn: "process" });
    await fleet.orphan();
    await fleet.until(() => fleet.leases.taken === 0);
    expect(new Set(fleet.seen())).toEqual(new Set(["inProcess"]));
    await fleet.stop();
  });

  it("stops when another has the lock, and gives its own back at the end", async () => {
    const fleet = await fleetOf();
    const other = fleet.leases.link("worker-two");
    const { signal } = new AbortController();
    await fleet.pass(4_000);
    expect(await other.lock(15, signal)).toMatchObject({ value: { acquired: false } });
    await fleet.stop();
    expect(await other.lock(15, signal)).toMatchObject({ value: { acquired: true } });
  });

  it("leaves the lock to another while the engine does not answer here, and comes back for it", async () => {
    const fleet = await fleetOf();
    const other = fleet.leases.link("worker-two");
    const { signal } = new AbortController();
    await fleet.orphan();
    fleet.listing = err(gatewayError("cluster.connectFailed"));
    await fleet.until(() => fleet.seen().includes("unanswered"));
    expect(await other.lock(15, signal)).toMatchObject({ value: { acquired: true } });
    fleet.listing = undefined;
    await fleet.until(() => fleet.leases.taken === 0);
    expect(fleet.seen()).toContain("absent");
    await fleet.stop();
  });

  it("tells what the engine runs", async () => {
    const fleet = await fleetOf();
    fleet.tags.add("gateway/worker-two/lease/q");
    await fleet.pass(12_000);
    expect(fleet.host.metrics.value(engineRunning.name, { cluster_name: "main" })).toBe(1);
    expect(fleet.published.at(-1)).toEqual({ running: 1, complete: true });
    await fleet.stop();
  });
});

async function fleetOf({
  obeys = true,
  runsIn = "engine",
  limitsExecution = true,
}: { obeys?: boolean; runsIn?: Backend["runsIn"]; limitsExecution?: boolean } = {}) {
  const host = virtualHost(1);
  const caps = { cluster: { main: 4 }, group: { "main/main": 4 } };
  const leases = new TestLeases(host.clock, caps);
  const tags = new Set<string>();
  const ended: string[] = [];
  const reports: Omit<ObservedRequest, "instanceId">[] = [];
  const published: { running: number; complete: boolean }[] = [];
  const state = {
    listing: undefined as Result<RunningStatements, never> | ReturnType<typeof err> | undefined,
  };

  const real = leases.link("reaper-one");
  const link: ReaperLink = {
    ...real,
    observed: (report, signal) => {
      reports.push(report);
      return real.observed(report, signal);
    },
    publish: async (_cluster, { running, complete }) => {
      published.push({ running, complete });
      return ok(undefined);
    },
  };
  const stopping = new AbortController();
  const running = reap({ host, link, generations: generationsOf() }, stopping.signal);

  function generationsOf(): Generations {
    const { active } = planeOf({ clusters: { main: async function* () {} } }).generations;
    const [plain] = active?.backends() ?? [];
    if (active === undefined || plain === undefined) throw new Error("no generation");
    const backend: Backend = {
      ...plain,
      runsIn,
      limitsExecution,
      running: async () =>
        (state.listing as Awaited<ReturnType<Backend["running"]>> | undefined) ??
        ok({ tags: [...tags], complete: true, delayMs: 500 }),
      end: async (tag) => {
        ended.push(tag);
        if (obeys) tags.delete(tag);
        return ok(undefined);
      },
    };
    const generations = new Generations();
    const generation: Generation = { ...active, backends: () => [backend] };
    void generations.swap(generation);
    return generations;
  }

  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 2_000) {
      await host.advance(2_000);
      leases.tick();
    }
  };
  return {
    host,
    leases,
    tags,
    ended,
    published,
    set listing(listing: typeof state.listing) {
      state.listing = listing;
    },
    seen: () => reports.map(({ seen }) => seen),
    /** The first report of that kind comes again, as if it were of a listing without any delay. */
    repeat: async (seen: ObservedRequest["seen"]) => {
      const report = reports.find((one) => one.seen === seen);
      if (report === undefined) throw new Error("no such report");
      await real.observed({ ...report, delayMs: 0 }, new AbortController().signal);
    },
    pass,
    /** A lease of a worker that is never heard of again; answers its name. */
    orphan: async (): Promise<string> => {
      const taken = await leases
        .source(orphanName)
        .acquire(
          { requestId: "request-1", group: "main", candidates: ["main"], count: 1, waitMs: 0 },
          new AbortController().signal,
        );
      return taken.ok ? (taken.value.granted[0]?.lease ?? "") : "";
    },
    until: async (done: () => boolean) => {
      for (let round = 0; round < 200 && !done(); round += 1) await pass(2_000);
      if (!done()) throw new Error("it did not happen");
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
