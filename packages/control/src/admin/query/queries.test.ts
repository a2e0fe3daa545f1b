import type { QueryRecord } from "@gateway/contract/record.ts";
import { err } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import type { LocalQueries } from "../../deps.ts";
import type { Store, WorkerReport } from "../../store/store.ts";
import { fileOf, testAdmin } from "../rig/admin.ts";

describe("the history", () => {
  it("is filtered and paged, newest first", async () => {
    const { json, store } = await testAdmin();
    const records = [1, 2, 3, 4].map((n) =>
      recordOf(`q${n}`, { createdAt: n * 1_000, user: n % 2 === 0 ? "bob" : "eve" }),
    );
    await ingest(store, records);
    const ids = async (query: string) => idsOf((await json("GET", `/admin/queries?${query}`)).body);
    expect(await ids("")).toEqual(["q4", "q3", "q2", "q1"]);
    expect(await ids("user=bob")).toEqual(["q4", "q2"]);
    expect(await ids("from=2000&to=4000")).toEqual(["q3", "q2"]);
    expect(await ids("group=other")).toEqual([]);
    const first = (await json("GET", "/admin/queries?limit=3")).body;
    expect(idsOf(first)).toEqual(["q4", "q3", "q2"]);
    expect(await ids(`limit=3&cursor=${String(first["nextCursor"])}`)).toEqual(["q1"]);
    for (const bad of ["status=odd", "from=x", "user=%00", "users=bob"]) {
      expect((await json("GET", `/admin/queries?${bad}`)).status).toBe(400);
    }
  });

  it("shows texts to operators and not to viewers, and the trace to both", async () => {
    const { json, store } = await testAdmin();
    const trace = [{ step: "fallback", outcome: "all" }];
    const texts = { sql: "select 'mine'", translatedSql: "select 'mine'", errorMessage: "'mine'" };
    await ingest(store, [recordOf("q1", { ...texts, routingTrace: trace })]);
    await ingest(store, [recordOf("q1", { ...texts, rowsReturned: 2 })]);
    for (const path of ["/admin/queries", "/admin/queries/q1", "/admin/query-conflicts"]) {
      const shown = JSON.stringify((await json("GET", path, { as: "operator" })).body);
      const hidden = JSON.stringify((await json("GET", path, { as: "viewer" })).body);
      expect([path, shown.includes("mine"), hidden.includes("mine")]).toEqual([path, true, false]);
    }
    const detail = await json("GET", "/admin/queries/q1", { as: "viewer" });
    expect(detail.body["routingTrace"]).toEqual(trace);
    expect((await json("GET", "/admin/queries/none")).status).toBe(404);
  });
});

describe("running queries", () => {
  it("are those of this process and those that live workers reported", async () => {
    const { json, store, host } = await testAdmin({ deps: { queries: queriesOf() } });
    await beat(store, "w1", ["remote"], host.clock.unixMs());
    await beat(store, "w2", ["lost"], host.clock.unixMs() - 31_000);
    const { body } = await json("GET", "/admin/queries/running");
    expect(body["items"]).toEqual([
      expect.objectContaining({ id: "local", sql: "select 1", user: "bob" }),
      expect.objectContaining({ id: "remote", worker: "name-w1" }),
    ]);
    const viewer = await json("GET", "/admin/queries/running", { as: "viewer" });
    expect(JSON.stringify(viewer.body)).not.toContain("select 1");
  });

  it("are told to end, here at once and on a worker with its next heartbeat, and then say what they came to", async () => {
    const queries = queriesOf();
    const { json, store, host } = await testAdmin({ deps: { queries } });
    await beat(store, "w1", ["remote"], host.clock.unixMs());
    const cancel = (id: string) => json("POST", `/admin/queries/${id}/cancel`, { as: "operator" });
    expect(await cancel("local")).toMatchObject({ status: 202, body: { state: "requested" } });
    expect(queries.list()).toEqual([]);
    await ingest(store, [recordOf("local", { status: "cancelled" })]);
    expect(await cancel("local")).toMatchObject({ status: 200, body: { state: "cancelled" } });
    expect((await cancel("remote")).status).toBe(202);
    expect(await beat(store, "w1", ["remote"], host.clock.unixMs())).toEqual(["remote"]);
    expect((await cancel("none")).status).toBe(404);
    const { items } = (await json("GET", "/admin/audit?action=cancel")).body as {
      items: unknown[];
    };
    expect(items).toEqual([
      expect.objectContaining({ by: "otto", target: "query/remote" }),
      expect.objectContaining({ by: "otto", target: "query/local" }),
    ]);
  });
});

describe("workers", () => {
  it("are offline after three missed heartbeats, and only then can be forgotten", async () => {
    const { json, ask, store, host } = await testAdmin();
    await beat(store, "w1", ["remote"], host.clock.unixMs());
    const live = await json("GET", "/admin/workers/w1", { as: "viewer" });
    expect(live.body).toMatchObject({
      status: "active",
      queryCount: 1,
      queries: [{ id: "remote" }],
    });
    expect(JSON.stringify(live.body)).not.toContain("token");
    expect((await ask("DELETE", "/admin/workers/w1", { as: "operator" })).status).toBe(409);
    await host.advance(31_000);
    const { items } = (await json("GET", "/admin/workers")).body as { items: unknown[] };
    expect(items).toEqual([expect.objectContaining({ name: "name-w1", status: "offline" })]);
    expect((await ask("DELETE", "/admin/workers/w1", { as: "operator" })).status).toBe(204);
    expect((await ask("GET", "/admin/workers/w1")).status).toBe(404);
    expect((await ask("DELETE", "/admin/workers/w1")).status).toBe(404);
  });
});

describe("dry runs", () => {
  it("say what a write would be refused for, and write nothing", async () => {
    const { json, deps } = await testAdmin({ file: fileOf });
    const before = deps.config.current()?.revision;
    const one = { kind: "cluster", name: "x", body: { engine: "odd" } };
    const answer = await json("POST", "/admin/validate", { as: "operator", json: one });
    expect(answer.body).toMatchObject({ valid: false, faults: [{ path: "clusters.x.engine" }] });
    const whole = { file: { clusters: { x: { engine: "duckDb" } } } };
    expect((await json("POST", "/admin/validate", { json: whole })).body["valid"]).toBe(true);
    const compared = await json("POST", "/admin/config/compare", { json: whole.file });
    expect(compared.body["items"]).not.toEqual([]);
    expect(deps.config.current()?.revision).toEqual(before);
  });

  it("open a cluster with its secrets, and say where none can be opened", async () => {
    const here = await testAdmin({
      file: fileOf,
      deps: { testCluster: () => Promise.resolve(err("The file is locked.")) },
    });
    const test = { as: "operator" } as const;
    const answer = await here.json("POST", "/admin/clusters/duck/test", test);
    expect(answer.body).toEqual({ reached: false, reason: "The file is locked." });
    expect((await here.ask("POST", "/admin/clusters/none/test", test)).status).toBe(404);
    expect((await here.ask("POST", "/admin/clusters/constructor/test", test)).status).toBe(404);
    const there = await testAdmin({ file: fileOf, deps: { testCluster: undefined } });
    const refused = await there.json("POST", "/admin/clusters/duck/test", test);
    expect([refused.status, refused.body["detail"]]).toEqual([
      501,
      expect.stringMatching(/function/),
    ]);
  });
});

describe("revisions", () => {
  it("are listed, compared and rolled back as new ones", async () => {
    const { json, ask } = await testAdmin({ file: fileOf });
    const creating = { headers: { "if-none-match": "*" } };
    await ask("PUT", "/admin/clusters/second", { ...creating, json: { engine: "duckDb" } });
    const { items } = (await json("GET", "/admin/revisions", { as: "viewer" })).body as {
      items: { epoch: number; sequence: number; createdBy: string }[];
    };
    expect(items.map(({ sequence, createdBy }) => `${sequence} ${createdBy}`)).toEqual([
      "2 anna",
      "1 file",
    ]);
    const epoch = items[0]?.epoch;
    const diff = await json("GET", `/admin/revisions/diff?from=${epoch}.1&to=${epoch}.2`);
    expect(diff.body["items"]).toMatchObject([{ kind: "added", object: { name: "second" } }]);
    expect((await json("GET", `/admin/revisions/${epoch}.1`)).body["sequence"]).toBe(1);
    expect((await json("GET", `/admin/revisions/${epoch}.9`)).status).toBe(404);
    expect((await json("GET", "/admin/revisions/diff?from=1.1&to=1.2")).status).toBe(404);
    const back = await json("POST", `/admin/revisions/${epoch}.1/rollback`);
    expect(back.body["revision"]).toMatch(new RegExp(`^${epoch}\\.3\\.`));
    expect((await ask("GET", "/admin/clusters/second")).status).toBe(404);
    const begun = await json("POST", "/admin/config/new-epoch");
    expect([begun.status, begun.body["changed"]]).toEqual([200, true]);
  });
});

describe("the status", () => {
  it("says what a store in memory can not do, and that the store is empty", async () => {
    const { json } = await testAdmin();
    const { body } = await json("GET", "/admin/status", { as: "viewer" });
    expect(body["revision"]).toBeUndefined();
    expect(body["store"]).toMatchObject({
      kind: "memory",
      limits: [expect.any(String), expect.any(String), expect.any(String)],
    });
  });

  it("comes with JSON Schemas that keep titles and mark secrets", async () => {
    const { json } = await testAdmin();
    const text = JSON.stringify((await json("GET", "/admin/schemas")).body);
    for (const part of ['"title":"Cluster"', '"x-secret":true', '"x-unit":"seconds"']) {
      expect(text).toContain(part);
    }
  });
});

function queriesOf(): LocalQueries {
  const common = { user: "bob", frontend: "trinoHttp", group: "all", cluster: "duck" };
  const query = {
    id: "local",
    state: "running",
    since: 1,
    rows: 0,
    sql: "select 1",
    ...common,
  } as const;
  const running = new Map([[query.id, query]]);
  return { list: () => [...running.values()], cancel: (id) => running.delete(id as "local") };
}

/** Registers the instance when it is new; answers what its heartbeat is told to cancel. */
async function beat(store: Store, instanceId: string, ids: readonly string[], atMs: number) {
  const known = await store.workers.get(instanceId);
  if (known.ok && known.value === undefined) {
    const who = { name: `name-${instanceId}`, instanceId, tokenHash: "t", labels: {} };
    const what = { version: "1", schemaVersions: [1], heartbeatIntervalSecs: 10 };
    await store.workers.register({ ...who, ...what }, atMs);
  }
  const report: WorkerReport = {
    instanceId,
    status: "active",
    stale: false,
    lastError: undefined,
    activeRevision: undefined,
    downloadedRevision: undefined,
    configSource: undefined,
    coordination: undefined,
    queries: ids.map((id) => ({ id, state: "running", since: 1 })),
  };
  const taken = await store.workers.heartbeat(report, "t", atMs);
  return taken.ok ? taken.value?.cancel : undefined;
}

function recordOf(proxyQueryId: string, more: Partial<QueryRecord> = {}): QueryRecord {
  return {
    proxyQueryId,
    createdAt: 1,
    finishedAt: 2,
    frontend: "trinoHttp",
    user: "bob",
    clientAddress: "192.0.2.1",
    tags: {},
    sourceDialect: "trino",
    status: "finished",
    rowsReturned: 1,
    bytesReturned: 1,
    queueMs: 0,
    executionMs: 1,
    routingTrace: [],
    policyActions: [],
    engineStats: {},
    revision: "1.1.x",
    ...more,
  };
}

async function ingest(store: Store, records: readonly QueryRecord[]): Promise<void> {
  const batch = records.map((record) => ({ record, contentHash: JSON.stringify(record) }));
  await store.records.ingest(batch, 5);
}

function idsOf(body: { readonly [key: string]: unknown }): readonly string[] {
  return (body["items"] as { proxyQueryId: string }[]).map(({ proxyQueryId }) => proxyQueryId);
}
