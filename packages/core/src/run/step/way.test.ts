import { describe, expect, it } from "vitest";
import { gatewayError } from "../../error.ts";
import type { ResultStream } from "../../query/event.ts";
import { Home } from "../../query/home.ts";
import { planeOf, queryOf, type TestPlane } from "../rig/plane.ts";
import { runQuery } from "../run.ts";

describe("a session for which a cluster keeps something", () => {
  it("goes to no other member of its group, and its records say so", async () => {
    const plane = planeOf({ clusters: { one: oneRow, two: oneRow } });
    const home = homeAt("two");
    expect(await lastOf(plane, home)).toBe("done");
    expect(await lastOf(plane, new Home())).toBe("done");
    expect(plane.records.map(({ cluster }) => cluster)).toEqual(["two", "one"]);
    const traces = plane.records.map(({ routingTrace }) => JSON.stringify(routingTrace));
    expect(traces.map((trace) => trace.includes("a temporary table"))).toEqual([true, false]);
  });

  it("is told once that the cluster is gone", async () => {
    const plane = planeOf({ clusters: { one: oneRow } });
    const home = homeAt("two");
    expect(await lastOf(plane, home)).toBe("engine.broken");
    expect(await lastOf(plane, home)).toBe("done");
  });
});

describe("a query that waits for a slot", () => {
  it("is counted as one, however often its place changes", async () => {
    const plane = planeOf({ clusters: { one: oneRow }, positions: [3, 2, 1] });
    const waiting = (): number =>
      plane.host.metrics.value("gateway_queued_queries", { cluster_group: "main" });
    const seen: number[] = [];
    for await (const event of runQuery(queryOf("select 1"), plane, new AbortController().signal)) {
      if (event.kind === "queued") seen.push(waiting());
    }
    expect([...seen, waiting()]).toEqual([1, 1, 1, 0]);
  });

  it("is not counted when its turn comes before it was told that it waits", async () => {
    const plane = planeOf({ clusters: { one: oneRow }, positions: [] });
    expect(await lastOf(plane, new Home())).toBe("done");
    const labels = { cluster_group: "main" };
    expect(plane.host.metrics.value("gateway_queued_queries", labels)).toBe(0);
  });
});

describe("a query whose policy has to wait for somebody", () => {
  it("runs where that one says so", async () => {
    const plane = planeOf({ clusters: { one: oneRow }, policedLater: true });
    expect(await lastOf(plane, new Home())).toBe("done");
    expect([plane.slots.size, plane.host.log.bugs]).toEqual([0, []]);
  });
});

describe("a query that the policy refuses", () => {
  it.each([false, true])(
    "ends so, reaches no engine and holds nothing (later: %s)",
    async (policedLater) => {
      const police = gatewayError("policy.denied");
      let asked = 0;
      const counted = async function* (): ResultStream {
        asked += 1;
        yield* oneRow();
      };
      const plane = planeOf({ clusters: { one: counted }, refuse: { police }, policedLater });
      expect(await lastOf(plane, new Home())).toBe("policy.denied");
      expect([asked, plane.slots.size, plane.host.log.bugs]).toEqual([0, 0, []]);
    },
  );
});

describe("the record of a query", () => {
  it("says as whom the engine saw it, and no name where that was the service account", async () => {
    const clusters = { one: oneRow };
    const account = planeOf({ clusters });
    const user = planeOf({ clusters, identity: { mode: "impersonate", principal: "alice" } });
    for (const plane of [account, user]) expect(await lastOf(plane, new Home())).toBe("done");
    expect([account, user].map(({ records }) => records[0])).toMatchObject([
      { backendIdentityMode: "serviceAccount", enginePrincipal: undefined },
      { backendIdentityMode: "impersonate", enginePrincipal: "alice" },
    ]);
  });
});

describe("who waits until no query lives", () => {
  it("waits for nothing where none does, and no longer than its signal", async () => {
    const plane = planeOf({ clusters: { one: oneRow }, positions: [1] });
    const { signal } = new AbortController();
    await plane.live.idle(signal);
    const stream = runQuery(queryOf("select 1"), plane, signal);
    await stream.next();
    await plane.live.idle(AbortSignal.abort());
    const idle = plane.live.idle(signal);
    const settled = plane.host.settle().then(() => "still waits");
    expect(await Promise.race([idle, settled])).toBe("still waits");
    await stream.return();
    await idle;
    expect(plane.live.list()).toEqual([]);
  });
});

function homeAt(cluster: string): Home {
  const home = new Home();
  home.keep({ cluster, reason: "a temporary table", release: async () => {} });
  return home;
}

async function lastOf(plane: TestPlane, home: Home): Promise<string> {
  const query = { ...queryOf("select 1"), mysql: { home, foundRows: false, ignoreSpace: false } };
  let last = "";
  for await (const event of runQuery(query, plane, new AbortController().signal)) {
    last = event.kind === "failed" ? event.error.code : event.kind;
  }
  return last;
}

const oneRow = async function* (): ResultStream {
  yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } };
};
