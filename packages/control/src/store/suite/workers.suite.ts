/** The registry: instances are known by id and token, wishes to cancel reach the one that reports. */
import { expect } from "vitest";
import type { Check } from "../store.suite.ts";
import {
  allPages,
  answered,
  firstPage,
  registrationOf,
  reportOf,
  startMs,
} from "../rig/samples.ts";

export function workerSuite(check: Check): void {
  check("lists an instance as starting until its first report", async ({ workers }) => {
    const answer = await answered(workers.register(registrationOf("i1"), startMs));
    expect(answer).toEqual({ sameName: [] });
    const row = {
      ...registrationOf("i1"),
      status: "starting",
      activeRevision: undefined,
      downloadedRevision: undefined,
      configSource: undefined,
      stale: false,
      lastError: undefined,
      coordination: undefined,
      queries: [],
      registeredAt: startMs,
      lastSeenAt: startMs,
    };
    expect(await answered(workers.get("i1"))).toEqual(row);
    expect(await answered(workers.list(firstPage))).toEqual({ items: [row] });
    expect(await answered(workers.get("i2"))).toBeUndefined();
  });

  check("takes a report in full, and forgets what the next one leaves out", async ({ workers }) => {
    await answered(workers.register(registrationOf("i1"), startMs));
    const query = { id: "q1", group: "g", cluster: "c", state: "running", since: 1.5 } as const;
    const report = reportOf("i1", {
      stale: true,
      lastError: 'it\'s "bad"\n',
      configSource: "disk",
      coordination: "local",
      queries: [query, { id: "q2", state: "queued", since: 2 }],
    });
    expect(await answered(workers.heartbeat(report, "token-i1", startMs + 5))).toEqual({
      cancel: [],
    });
    const row = { ...registrationOf("i1"), registeredAt: startMs };
    expect(await answered(workers.get("i1"))).toEqual({
      ...row,
      ...report,
      lastSeenAt: startMs + 5,
    });
    const bare = reportOf("i1", {
      status: "draining",
      activeRevision: undefined,
      downloadedRevision: undefined,
      configSource: undefined,
      coordination: undefined,
    });
    await answered(workers.heartbeat(bare, "token-i1", startMs + 6));
    expect(await answered(workers.get("i1"))).toEqual({ ...row, ...bare, lastSeenAt: startMs + 6 });
  });

  check("counts those that count alone and were seen since", async ({ workers }) => {
    const modes = { i1: "local", i2: "controlPlane", i3: undefined, i4: "local" } as const;
    for (const [index, [id, coordination]] of Object.entries(modes).entries()) {
      await answered(workers.register(registrationOf(id), startMs));
      const report = reportOf(id, { coordination });
      await answered(workers.heartbeat(report, `token-${id}`, startMs + index));
    }
    expect(await answered(workers.countAlone(startMs))).toBe(2);
    expect(await answered(workers.countAlone(startMs + 1))).toBe(1);
    // Until its next report nobody knows what a worker that begins anew does.
    await answered(workers.register(registrationOf("i4"), startMs + 9));
    expect(await answered(workers.countAlone(startMs + 1))).toBe(0);
  });

  check("takes no report from another token or an unknown instance", async ({ workers }) => {
    await answered(workers.register(registrationOf("i1"), startMs));
    await answered(workers.register(registrationOf("i2"), startMs));
    const forged = await answered(workers.heartbeat(reportOf("i1"), "token-i2", startMs + 1));
    expect(forged).toBeUndefined();
    expect(await answered(workers.heartbeat(reportOf("i9"), "token-i1", startMs))).toBeUndefined();
    expect((await answered(workers.get("i1")))?.status).toBe("starting");
    expect(await answered(workers.nameOf("i1", "token-i1"))).toBe("host-i1");
    expect(await answered(workers.nameOf("i1", "token-i2"))).toBeUndefined();
  });

  check("names the other instances of the same name at registration", async ({ workers }) => {
    const same = { name: "host" };
    await answered(workers.register(registrationOf("i1", same), startMs));
    await answered(workers.register(registrationOf("i0", { name: "other" }), startMs));
    const { sameName } = await answered(workers.register(registrationOf("i2", same), startMs + 1));
    expect(sameName.map(({ instanceId }) => instanceId)).toEqual(["i1"]);
  });

  check("lets at least one of two that register a name at once know", async ({ workers }) => {
    const ids = ["i1", "i2", "i3"];
    const answers = await Promise.all(
      ids.map((id) => answered(workers.register(registrationOf(id, { name: "host" }), startMs))),
    );
    expect(answers.some(({ sameName }) => sameName.length === 2)).toBe(true);
  });

  check("begins anew when an instance registers again, under the new token", async (store) => {
    const { workers } = store;
    await answered(workers.register(registrationOf("i1"), startMs));
    await answered(workers.heartbeat(reportOf("i1"), "token-i1", startMs + 1));
    const again = registrationOf("i1", { tokenHash: "token-new" });
    expect(await answered(workers.register(again, startMs + 2))).toEqual({ sameName: [] });
    expect(await answered(workers.nameOf("i1", "token-i1"))).toBeUndefined();
    const row = await answered(workers.get("i1"));
    expect([row?.status, row?.registeredAt]).toEqual(["starting", startMs + 2]);
  });

  check("repeats a wish to cancel to whoever reports the query", async ({ workers }) => {
    await answered(workers.register(registrationOf("i1"), startMs));
    const wish = { queryId: "q1", requestedBy: "ann", requestedAt: startMs };
    await answered(workers.requestCancel(wish));
    await answered(workers.requestCancel({ ...wish, requestedBy: "bob" }));
    await answered(workers.requestCancel({ ...wish, queryId: "elsewhere" }));
    const queries = ["q0", "q1"].map((id) => ({ id, state: "running", since: 1 }) as const);
    const report = reportOf("i1", { queries });
    for (const _turn of [1, 2]) {
      const answer = await answered(workers.heartbeat(report, "token-i1", startMs + 1));
      expect(answer).toEqual({ cancel: ["q1"] });
    }
    const done = await answered(workers.heartbeat(reportOf("i1"), "token-i1", startMs + 2));
    expect(done).toEqual({ cancel: [] });
  });

  check("forgets instances and wishes that are older, and removes on request", async (store) => {
    const { workers } = store;
    for (const [index, id] of ["i1", "i2", "i3"].entries()) {
      await answered(workers.register(registrationOf(id), startMs + index));
    }
    const wish = { queryId: "q1", requestedBy: "ann", requestedAt: startMs };
    await answered(workers.requestCancel(wish));
    expect(await answered(workers.forget(startMs + 1))).toBe(2);
    expect(await answered(workers.remove("i2"))).toBe(true);
    expect(await answered(workers.remove("i2"))).toBe(false);
    const left = (await answered(workers.list(firstPage))).items;
    expect(left.map(({ instanceId }) => instanceId)).toEqual(["i3"]);
    const report = reportOf("i3", { queries: [{ id: "q1", state: "running", since: 1 }] });
    expect(await answered(workers.heartbeat(report, "token-i3", startMs))).toEqual({ cancel: [] });
  });

  check("lists instances by name, in pages", async ({ workers }) => {
    for (const id of ["i3", "i1", "i5", "i2", "i4"]) {
      const name = id < "i3" ? "b" : "a";
      await answered(workers.register(registrationOf(id, { name }), startMs));
    }
    const rows = await allPages((page) => workers.list(page), 2);
    expect(rows.map(({ instanceId }) => instanceId)).toEqual(["i3", "i4", "i5", "i1", "i2"]);
  });
}
