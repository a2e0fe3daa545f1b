import {
  liveDeltaSchema,
  liveEndSchema,
  liveSchema,
  type LiveDelta,
} from "@gateway/contract/studioApi.ts";
import { describe, expect, it } from "vitest";
import type { LocalQuery } from "../../deps.ts";
import { answered, reportOf, startMs, registrationOf } from "../../store/rig/samples.ts";
import { basic, cookieOf, fileOf, people, testAdmin, type TestAdmin } from "../rig/admin.ts";

const eventsPath = "/admin/events";

describe("the stream of live state", () => {
  it("begins with everything and goes on with what changed", async () => {
    const here = [queryOf("q1")];
    const admin = await testAdmin({ file: fileOf, deps: localOf(here) });
    const reader = await streamOf(admin);
    const { data } = await reader.next();
    const whole = liveSchema.parse(data);
    expect(whole.queries).toEqual({
      total: 1,
      items: [
        expect.objectContaining({ key: "q1", state: "queued", position: 2, sql: "select 1" }),
      ],
    });
    expect(whole.clusters.items).toEqual([
      { key: "duck", engine: "duckDb", enabled: true, health: "up", breakers: {}, running: 0 },
    ]);
    expect(whole.groups.items).toEqual([
      { key: "all", enabled: true, running: 0, queued: 1, cap: 4 },
    ]);
    here.splice(0, 1, queryOf("q1", { state: "running", cluster: "duck" }), queryOf("q2"));
    const delta = await reader.delta();
    expect(delta.queries?.put.map(({ key, state }) => [key, state])).toEqual([
      ["q1", "running"],
      ["q2", "queued"],
    ]);
    expect(delta.counters).toMatchObject({ running: 1, queued: 1 });
    expect(delta.workers).toBeUndefined();
    here.length = 0;
    expect((await reader.delta()).queries).toEqual({ total: 0, put: [], gone: ["q1", "q2"] });
    await reader.leave();
  });

  it("shows workers with their lag, what they run, and when they went away", async () => {
    const admin = await testAdmin({ file: fileOf });
    const { workers } = admin.store;
    await answered(workers.register(registrationOf("w1"), admin.host.clock.unixMs()));
    const reader = await streamOf(admin);
    const { data } = await reader.next();
    expect(liveSchema.parse(data).workers.items).toEqual([
      expect.objectContaining({ key: "w1", behind: true, running: 0 }),
    ]);
    const running = { id: "q9", state: "running", since: startMs, group: "all" } as const;
    const report = { ...reportOf("w1"), queries: [running] };
    const { tokenHash } = registrationOf("w1");
    await answered(workers.heartbeat(report, tokenHash, admin.host.clock.unixMs()));
    const delta = await reader.delta();
    expect(delta.queries?.put).toEqual([expect.objectContaining({ id: "q9", instanceId: "w1" })]);
    const gone = await reader.until((one) => one.counters?.workersOffline === 1);
    expect(gone.queries?.gone).toHaveLength(1);
    await reader.leave();
  });

  it("gives viewers no SQL of others, by neither way", async () => {
    const here = [queryOf("q1")];
    const admin = await testAdmin({ file: fileOf, deps: localOf(here) });
    const live = await admin.json("GET", "/admin/live", { as: "viewer" });
    expect(JSON.stringify(live.body)).not.toContain("select 1");
    const reader = await streamOf(admin, basic(people.viewer.name, people.viewer.password));
    here.push(queryOf("q2"));
    const texts = [await reader.next(), await reader.delta()];
    expect(JSON.stringify(texts)).toContain("q2");
    expect(JSON.stringify(texts)).not.toContain("select 1");
    await reader.leave();
  });

  it("says something although nothing happens, and outlives a database that is down for a moment", async () => {
    const admin = await testAdmin({ file: fileOf });
    const reader = await streamOf(admin);
    await reader.next();
    const beat = reader.text();
    await admin.host.advance(16_000);
    expect(await beat).toMatch(/^:/);
    admin.cut(true);
    const down = await reader.until((one) => one.counters?.problem !== undefined);
    expect(down.counters?.problem).toBe("The database does not answer.");
    admin.cut(false);
    await reader.until((one) => one.counters !== undefined && !one.counters.problem);
    await reader.leave();
  });
});

describe("the end of a stream", () => {
  it("comes with the session, which an open page does not keep alive", async () => {
    const admin = await testAdmin({ file: fileOf });
    const { name, password } = people.admin;
    const login = { as: null, json: { name, password } } as const;
    const cookie = cookieOf(await admin.ask("POST", "/admin/login", login));
    const begunMs = admin.host.clock.nowMs();
    const reader = await streamOf(admin, cookie);
    await reader.next();
    expect(await reader.end()).toBe("signedOut");
    expect(admin.host.clock.nowMs() - begunMs).toBeGreaterThan(30 * 60_000);
  });

  it("comes with another role, whose reader may see something else", async () => {
    const admin = await testAdmin({ file: fileOf });
    const { name, password } = people.operator;
    const reader = await streamOf(admin, basic(name, password));
    await reader.next();
    const path = `/admin/users/${name}`;
    const changed = await admin.ask("PUT", path, {
      json: { role: "viewer" },
      headers: { "if-match": '"1"' },
    });
    expect(changed.status).toBe(200);
    expect(await reader.end()).toBe("role");
  });

  it("comes at once when the process stops", async () => {
    const stopping = new AbortController();
    const admin = await testAdmin({ file: fileOf, deps: { stopping: stopping.signal } });
    const reader = await streamOf(admin);
    await reader.next();
    const ended = reader.next();
    stopping.abort();
    expect((await ended).data).toEqual({ reason: "stopping" });
    expect(await reader.text()).toBeUndefined();
  });

  it("comes to a reader that takes nothing, and leaves its place to another", async () => {
    const admin = await testAdmin({ file: fileOf });
    const readers = await Promise.all(Array.from({ length: 16 }, () => streamOf(admin)));
    expect((await admin.ask("GET", eventsPath)).status).toBe(429);
    await readers[0]?.leave();
    const again = await streamOf(admin);
    expect((await admin.ask("GET", eventsPath)).status).toBe(429);
    // Nobody reads: each holds one event and no more.
    await admin.host.advance(61_000);
    await expect(again.text()).rejects.toThrow("took nothing");
    await (await streamOf(admin)).leave();
  });

  it("is there from the beginning in a function, which has its readers poll", async () => {
    const admin = await testAdmin({ file: fileOf, deps: { host: "function" } });
    expect((await admin.ask("GET", eventsPath)).status).toBe(501);
    expect((await admin.ask("GET", "/admin/live")).status).toBe(200);
  });
});

interface Told {
  readonly event: string | undefined;
  readonly data: unknown;
}

async function streamOf(admin: TestAdmin, headers?: Readonly<Record<string, string>>) {
  const ask = headers === undefined ? {} : ({ as: null, headers } as const);
  const response = await admin.ask("GET", eventsPath, ask);
  if (response.body === null || !response.ok) throw new Error(String(response.status));
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const text = async () => {
    const { done, value } = await reader.read();
    return done ? undefined : decoder.decode(value as Uint8Array);
  };
  const next = async (): Promise<Told> => {
    const lines = ((await text()) ?? "").split("\n");
    const valueOf = (field: string) =>
      lines.find((line) => line.startsWith(field))?.slice(field.length);
    return { event: valueOf("event: "), data: JSON.parse(valueOf("data: ") ?? "null") };
  };
  /** Steps that come as time passes. */
  const step = async (): Promise<Told> => {
    const coming = next();
    await admin.host.advance(16_000);
    return coming;
  };
  const until = async (fits: (delta: LiveDelta) => boolean) => {
    for (let steps = 0; steps < 150; steps += 1) {
      const { event, data } = await step();
      if (event !== "delta") continue;
      const delta = liveDeltaSchema.parse(data);
      if (fits(delta)) return delta;
    }
    throw new Error("no such delta came");
  };
  return {
    text,
    next,
    until,
    delta: () => until(() => true),
    end: async () => {
      for (let steps = 0; steps < 150; steps += 1) {
        const { event, data } = await step();
        if (event === "end") return liveEndSchema.parse(data).reason;
      }
      throw new Error("the stream did not end");
    },
    leave: () => reader.cancel(),
  };
}

function localOf(queries: readonly LocalQuery[]) {
  return {
    queries: { list: () => [...queries], cancel: () => false },
    clusterHealth: () => [
      { cluster: "duck", engine: "duckDb", state: "up" as const, breakers: {} },
    ],
  };
}

function queryOf(id: string, more: Partial<LocalQuery> = {}): LocalQuery {
  return {
    id,
    user: "alice",
    frontend: "trinoHttp",
    state: "queued",
    position: more.state === "running" ? undefined : 2,
    group: "all",
    cluster: undefined,
    since: startMs,
    rows: 0,
    sql: "select 1",
    ...more,
  };
}
