import { groupSchema } from "@gateway/contract/config/group.ts";
import { guardrailsSchema } from "@gateway/contract/config/guardrail.ts";
import type { QueryRecord } from "@gateway/contract/record.ts";
import { describe, expect, it } from "vitest";
import { localCapacity } from "../capacity/local.ts";
import { gatewayError } from "../error.ts";
import type { Authenticator } from "../port/authenticator.ts";
import type { Backend } from "../port/backend.ts";
import type { Slot, SlotLease } from "../query/slot.ts";
import { virtualHost } from "../rig/virtual.ts";
import { LiveQueries } from "../run/step/live.ts";
import { queryMetrics } from "../run/step/metrics.ts";
import { openDoor } from "../run/openDoor.ts";
import type { ResultEvent } from "../query/event.ts";
import { queryOf, type Execute } from "../run/rig/plane.ts";
import type { Dialect } from "../sql/dialect.ts";
import { err, ok } from "../result.ts";
import { allowListAuthorizer } from "../route/allowList.ts";
import { compileSnapshot } from "./compile.ts";
import { Generations } from "./generation.ts";

describe("a compiled generation behind the door", () => {
  it("routes, admits and runs, and gives the group's default tags to the engine and the record", async () => {
    const seen: string[] = [];
    const { door, records } = doorOf({
      clusters: { a: answering((query) => seen.push(query.session.tags.get("team") ?? "")) },
      groups: { main: { members: ["a"], maxRunningQueries: 1, defaultTags: { team: "data" } } },
    });
    const events = await allOf(door.run(queryOf("select 1"), new AbortController().signal));
    expect(events.at(-1)).toMatchObject({ kind: "done" });
    expect(seen).toEqual(["data"]);
    expect(records.map(({ tags }) => tags)).toEqual([{ team: "data" }]);
  });

  it("asks the guards of the group, and says in the record what they did", async () => {
    const seen: unknown[] = [];
    const { door, records } = doorOf({
      clusters: {
        a: answering(({ engineSql, maxExecutionMs }) => seen.push([engineSql, maxExecutionMs])),
      },
      groups: { main: { members: ["a"], maxRunningQueries: 1, maxExecutionSecs: 60 } },
      guards: [
        { name: "reads", type: "readOnly" },
        { name: "few", type: "rowLimit", action: "rewrite", maxRows: 5 },
        { name: "short", type: "timeLimit", maxExecutionSecs: 7 },
        { name: "ones", type: "queryRegex", regex: "1", action: "warn" },
      ],
    });
    const { signal } = new AbortController();
    const [warning, ...others] = await allOf(door.run(queryOf("select 1"), signal));
    expect(warning).toMatchObject({ kind: "notice", code: "policyWarning" });
    expect(others.at(-1)).toMatchObject({ kind: "done" });
    expect(seen).toEqual([["select 1 LIMIT 5", 7_000]]);
    const denied = await allOf(door.run(queryOf("drop table t"), signal));
    expect(denied).toMatchObject([{ kind: "failed", error: { code: "policy.denied" } }]);
    const long = `select ${"1, ".repeat(40_000)}1`;
    const tooLong = await allOf(door.run(queryOf(long), signal));
    expect(tooLong.at(-1)).toMatchObject({ kind: "done" });
    expect(seen.at(-1)).toEqual([`${long} LIMIT 5`, 7_000]);
    expect(records.map(({ status, policyActions }) => [status, policyActions.length])).toEqual([
      ["finished", 3],
      ["denied", 1],
      ["finished", 3],
    ]);
  });

  it("gives the engine the group's limit, and never more than the slot was leased with", async () => {
    const seen: unknown[] = [];
    const { door, generations } = doorOf({
      clusters: { a: answering((query) => seen.push(query.maxExecutionMs)) },
      groups: {
        main: { members: ["a"], maxRunningQueries: 1, maxExecutionSecs: 60 },
        open: { members: ["a"], maxRunningQueries: 1 },
      },
    });
    await allOf(door.run(queryOf("select 1"), new AbortController().signal));
    expect(seen).toEqual([60_000]);
    const { signal } = new AbortController();
    const sent = async (group: string, leased: number | undefined) => {
      const lease = { maxExecutionMs: leased } as SlotLease;
      const slot = { cluster: "a", fence: 1, holder: "w/l", lease } as Slot;
      const query = { ...queryOf("select 1"), group, trace: [], allowedSql: "select 1", slot };
      const translated = await generations.active?.translate(query, signal);
      return translated?.ok === true ? translated.value.maxExecutionMs : "refused";
    };
    expect(await sent("main", 5_000)).toBe(5_000);
    expect(await sent("main", 90_000)).toBe(60_000);
    expect(await sent("main", undefined)).toBe(60_000);
    expect(await sent("open", 5_000)).toBe(5_000);
    expect(await sent("open", undefined)).toBeUndefined();
  });

  it("knows a catalog as soon as its backend does", async () => {
    const known: string[] = ["memory"];
    const { door } = doorOf({
      clusters: { a: endless },
      groups: { main: { members: ["a"], maxRunningQueries: 1 } },
      catalogs: known,
    });
    const query = queryOf("select 1");
    const target = await door.target(query, new AbortController().signal);
    expect(target).toMatchObject({ ok: true, value: [{ catalogs: ["memory"] }] });
    known.push("late");
    expect(door.catalogs(query.session)).toEqual(["memory", "late"]);
    const later = await door.target(query, new AbortController().signal);
    expect(later).toMatchObject({ ok: true, value: [{ catalogs: ["memory", "late"] }] });
  });

  it("gives expressions of the client to an engine of its dialect only", async () => {
    const groups = { main: { members: ["a"], maxRunningQueries: 1 } };
    const answer = async (dialect: Dialect) => {
      const { door } = doorOf({ clusters: { a: answering(() => undefined) }, groups, dialect });
      const value = { type: { kind: "null" }, value: null, expression: "now()" } as const;
      const query = { ...queryOf("select $1", { dialect: "trino" }), parameters: [value] };
      return (await allOf(door.run(query, new AbortController().signal))).at(-1);
    };
    expect(await answer("trino")).toMatchObject({ kind: "done" });
    expect(await answer("duckdb")).toMatchObject({ error: { code: "query.unsupported" } });
  });

  it("opens the breaker after failures in a row and answers unavailable without asking the engine again", async () => {
    let asked = 0;
    const { door, host } = doorOf({
      clusters: {
        a: async function* () {
          asked += 1;
          yield { kind: "failed", error: gatewayError("cluster.connectFailed") };
        },
      },
      groups: {
        main: {
          members: ["a"],
          maxRunningQueries: 1,
          capacityWaitTimeoutSecs: 1,
          circuitBreaker: { failures: 2, openSecs: 30 },
        },
      },
    });
    for (let n = 0; n < 4; n += 1) {
      const events = allOf(door.run(queryOf(`select ${n}`), new AbortController().signal));
      await host.advance(1_100);
      expect((await events).at(-1)).toMatchObject({
        kind: "failed",
        error: { code: "cluster.unavailable" },
      });
    }
    expect(asked).toBe(2);
  });

  it("lets only the owner or an operator cancel, and tells a stranger nothing", async () => {
    const { door } = doorOf({
      clusters: { a: endless },
      groups: { main: { members: ["a"], maxRunningQueries: 1 } },
    });
    const query = queryOf("select 1");
    const running = allOf(door.run(query, new AbortController().signal));
    const stranger = { ...query.session.identity, user: "mallory" };
    expect(await door.cancel(query.id, stranger)).toMatchObject({
      ok: false,
      error: { code: "query.unknown" },
    });
    const operator = { ...stranger, groups: ["operators"] };
    expect((await door.cancel(query.id, operator)).ok).toBe(true);
    expect((await running).at(-1)).toMatchObject({
      kind: "failed",
      error: { code: "query.cancelled" },
    });
    expect((await door.cancel(query.id, operator)).ok).toBe(false);
  });

  it("gives an engine of another lexis the same strings and names, and no place in a text that is not the client's", async () => {
    const seen: string[] = [];
    const position = gatewayError("query.syntax", { position: 8 });
    const failing: Execute = async function* ({ engineSql }) {
      seen.push(engineSql);
      yield { kind: "failed", error: position };
    };
    const { door } = doorOf({
      clusters: { a: failing },
      groups: { main: { members: ["a"], maxRunningQueries: 1 } },
      dialect: "mysql",
    });
    const never = new AbortController().signal;
    const last = (await allOf(door.run(queryOf(`select "a", 'b\\'`), never))).at(-1);
    expect(seen).toEqual(["select `a`, 'b\\\\'"]);
    expect(last).toEqual({ kind: "failed", error: gatewayError("query.syntax") });
    expect((await allOf(door.run(queryOf("select 'open"), never))).at(-1)).toMatchObject({
      error: { code: "query.syntax" },
    });
    expect(seen.length).toBe(1);
  });

  it("closes its backends when the last hold is let go of", async () => {
    const { door, generations, closed } = doorOf({
      clusters: { a: endless },
      groups: { main: { members: ["a"], maxRunningQueries: 1 } },
    });
    const controller = new AbortController();
    const running = allOf(door.run(queryOf("select 1"), controller.signal));
    const swapped = generations.swap(undefined);
    expect(closed).toEqual([]);
    controller.abort();
    await running;
    await swapped;
    expect(closed).toEqual(["a"]);
  });

  it("refuses a login before the first generation and counts refused logins", async () => {
    const { door, generations, host } = doorOf({ clusters: {}, groups: {} });
    const at = { frontend: "mysqlWire", address: "127.0.0.1" };
    expect((await door.authenticate({ kind: "nothing", user: "a", asked: false }, at)).ok).toBe(
      false,
    );
    const { frontend } = at;
    const labels = { frontend, reason: "auth.refused" };
    expect(host.metrics.value("gateway_auth_failures_total", labels)).toBe(1);
    const [line] = host.log.lines.filter(({ event }) => event === "auth.refused");
    expect(line?.fields).toMatchObject({ user: "a", address: "127.0.0.1", frontend });
    await generations.swap(undefined);
    const early = await door.authenticate({ kind: "nothing", user: "a", asked: false }, at);
    expect(early).toMatchObject({ ok: false, error: { code: "config.notReady" } });
  });
});

interface Setup {
  readonly clusters: Readonly<Record<string, Execute>>;
  readonly groups: Readonly<Record<string, object>>;
  /** What the clusters read. */
  readonly dialect?: Dialect;
  readonly guards?: readonly object[];
  /** What each of them knows, as it grows. */
  readonly catalogs?: readonly string[];
}

function doorOf({ clusters, groups, dialect, catalogs = ["memory"], guards = [] }: Setup) {
  const host = virtualHost(7);
  const closed: string[] = [];
  const records: QueryRecord[] = [];
  const clusterGroups = Object.fromEntries(
    Object.entries(groups).map(([name, group]) => [name, groupSchema.parse(group)]),
  );
  const capacity = localCapacity(host);
  const generations = new Generations();
  const backends = new Map(
    Object.entries(clusters).map(([name, execute]) => {
      const backend = { ...backendOf(name, execute, closed), catalogs };
      return [name, dialect === undefined ? backend : { ...backend, dialect }];
    }),
  );
  void generations.swap(
    compileSnapshot(
      {
        clusters: Object.fromEntries([...backends.keys()].map((name) => [name, {}])),
        clusterGroups,
        routers: [],
        guardrails: guardrailsSchema.parse({ guards }),
      },
      {
        host,
        backends,
        closeBackends: async () => {
          for (const backend of backends.values()) await backend[Symbol.asyncDispose]();
        },
        authenticator: refusing,
        authorizer: allowListAuthorizer(clusterGroups, { groups: ["operators"], roles: [] }),
        revision: "sha256:test",
        changed: () => capacity.wake(),
      },
    ),
  );
  const { door } = openDoor({
    host,
    generations,
    capacity,
    history: { append: (record) => void records.push(record) },
    live: new LiveQueries(),
    metrics: queryMetrics(host.metrics),
    worker: undefined,
    idleInTransactionMs: 60_000,
    draining: () => false,
  });
  return { door, host, generations, closed, records };
}

describe("a door without a configuration", () => {
  it("holds whoever has the patience until there is one, and tells the others at once", async () => {
    const host = virtualHost(1);
    const generations = new Generations();
    const at = { frontend: "trinoHttp", address: "127.0.0.1" };
    const shown = { kind: "nothing", user: "ann", asked: false } as const;
    const { door } = openDoor({
      host,
      generations,
      capacity: localCapacity(host),
      history: { append: () => {} },
      live: new LiveQueries(),
      metrics: queryMetrics(host.metrics),
      worker: undefined,
      idleInTransactionMs: 60_000,
      draining: () => false,
    });
    const notReady = { ok: false, error: { code: "config.notReady" } };
    expect(await door.authenticate(shown, at)).toMatchObject(notReady);
    const held = door.authenticate(shown, { ...at, patienceMs: 2_000 });
    const given = door.authenticate(shown, { ...at, patienceMs: 1_000 });
    await host.advance(1_000);
    expect(await given).toMatchObject(notReady);
    await generations.swap(doorOf({ clusters: {}, groups: {} }).generations.active);
    expect(await held).toMatchObject({ ok: false, error: { code: "auth.refused" } });
    expect(host.timerCount).toBe(0);
  });
});

const refusing: Authenticator = {
  asksPassword: true,
  renew: (identity) => identity,
  authenticate: async () => err(gatewayError("auth.refused")),
};

function backendOf(cluster: string, execute: Execute, closed: string[]): Backend {
  return {
    cluster,
    engine: "duckDb",
    catalogs: ["memory"],
    execute,
    describe: async () => ok({ parameters: [], columns: [] }),
    begin: async () => err(gatewayError("query.unsupported")),
    probe: async () => "healthy",
    running: async () => ok({ tags: [], complete: true, delayMs: 0 }),
    end: async () => ok(undefined),
    runsIn: "engine",
    limitsExecution: false,
    forwards: ["password", "bearer"],
    listTables: async () => ok([]),
    [Symbol.asyncDispose]: async () => void closed.push(cluster),
  };
}

function answering(look: (query: Parameters<Execute>[0]) => void): Execute {
  return async function* (query) {
    look(query);
    yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } };
  };
}

const endless: Execute = async function* (_query, signal) {
  await new Promise((resolve) => {
    signal.addEventListener("abort", resolve, { once: true });
  });
  yield { kind: "failed", error: gatewayError("query.cancelled") };
};

async function allOf(stream: AsyncIterable<ResultEvent>): Promise<ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
