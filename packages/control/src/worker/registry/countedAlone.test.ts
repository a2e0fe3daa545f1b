import { describe, expect, it } from "vitest";
import { registrationOf, reportOf } from "../../store/rig/samples.ts";
import { testControl, type TestControl } from "../rig/control.ts";
import { countedAlone, sharedClusters } from "./countedAlone.ts";

const trino = { engine: "trino", endpoint: "http://trino:8080" };

describe("countedAlone", () => {
  it("warns once over all replicas' workers while two or more count alone", async () => {
    const control = await testControl();
    const lake = { kind: "cluster", name: "lake" } as const;
    const author = { by: "ann", address: undefined };
    expect((await control.deps.config.put(lake, trino, "absent", author)).ok).toBe(true);
    const [here, there] = [countedAlone(control.deps), countedAlone(control.deps)];
    await reported(control, "i1", "local");
    await reported(control, "i2", "controlPlane");
    await reported(control, "old", undefined);
    await here();
    expect(warnings(control)).toEqual([]);
    // Its heartbeats reach another replica.
    await reported(control, "i3", "local");
    await there();
    expect(warnings(control)).toEqual([{ workers: 2, clusters: "lake" }]);
    await control.host.advance(60_000);
    for (const id of ["i1", "i3"]) await reported(control, id, "local");
    await there();
    expect(warnings(control)).toHaveLength(1);
    await control.host.advance(60_001);
    await reported(control, "i3", "local");
    await there();
    await control.host.advance(60_000);
    for (const id of ["i1", "i3"]) await reported(control, id, "local");
    await there();
    expect(warnings(control)).toHaveLength(2);
  });
});

describe("sharedClusters", () => {
  it("knows engines inside the worker, and clusters that are switched off", () => {
    const clusters = {
      lake: trino,
      off: { ...trino, enabled: false },
      own: { engine: "duckDb" },
      file: { engine: "adbc", driver: "sqlite", databasePath: "/a.db" },
      warehouse: { engine: "adbc", driver: "snowflake" },
    };
    expect(sharedClusters({ clusters })).toEqual(["lake", "warehouse"]);
  });
});

async function reported(
  { deps: { store, clock } }: TestControl,
  id: string,
  coordination: "controlPlane" | "local" | undefined,
): Promise<void> {
  const nowMs = clock.unixMs();
  const known = await store.workers.get(id);
  if (!known.ok || known.value === undefined) {
    await store.workers.register(registrationOf(id), nowMs);
  }
  const taken = await store.workers.heartbeat(reportOf(id, { coordination }), `token-${id}`, nowMs);
  expect(taken).toMatchObject({ ok: true, value: {} });
}

function warnings({ host }: TestControl) {
  return host.log.lines
    .filter(({ event }) => event === "capacity.countedAlone")
    .map(({ fields }) => fields);
}
