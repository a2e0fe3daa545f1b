import type {
  AcquireResponse,
  ObservedResponse,
  RenewResponse,
  RunningResponse,
  SuspectsResponse,
  SweepLockResponse,
} from "@gateway/contract/capacityApi.ts";
import { submissionMsMax } from "@gateway/core/capacity/reaper/reaperCases.ts";
import { describe, expect, it } from "vitest";
import { predecessorProofOf } from "../registry/predecessor.ts";
import { workerApiFamilies } from "../metrics.ts";
import {
  acquire,
  acquireBody,
  first,
  post,
  registered,
  release,
  second,
  withCaps,
} from "../rig/capacity.ts";
import { registrationOf, type TestControl } from "../rig/control.ts";

const ignored = workerApiFamilies.ignored.name;

describe("POST /worker/capacity/acquire", () => {
  it("gives slots up to the cap of the configuration, and answers an empty list beyond it", async () => {
    const { control, headers } = await withCaps({ maxRunningQueries: 2 });
    const both = await acquire(control, headers, { count: 5 });
    expect(both.granted).toMatchObject([
      { cluster: "duck", slot: 0, expiresInMs: 60_000 },
      { cluster: "duck", slot: 1 },
    ]);
    expect(await acquire(control, headers, { queryId: "q9" })).toMatchObject({
      granted: [],
      position: 1,
    });
  });

  it("holds the call of a waiting query until a slot is given back", async () => {
    const { control, headers } = await withCaps();
    const taken = await acquire(control, headers, {});
    const held = acquire(control, headers, { queryId: "q1", waitMs: 10_000 });
    await waiting(control, 1);
    expect(await release(control, headers, taken.granted)).toEqual({ released: 1 });
    const { granted } = await held;
    expect(granted).toHaveLength(1);
    expect(granted[0]?.lease).not.toBe(taken.granted[0]?.lease);
  });

  it("answers after the hold with the place in the queue, and keeps the place", async () => {
    const { control, headers } = await withCaps();
    await acquire(control, headers, {});
    const held = acquire(control, headers, { queryId: "q1", waitMs: 10_000 });
    await waiting(control, 1);
    await control.host.advance(10_000);
    expect(await held).toMatchObject({ granted: [], position: 1 });
    expect(await acquire(control, headers, { queryId: "q2" })).toMatchObject({ position: 2 });
  });

  it("forgets within two seconds a waiter whose worker hung up", async () => {
    const { control, headers } = await withCaps();
    const taken = await acquire(control, headers, {});
    const left = new AbortController();
    const body = acquireBody({ queryId: "gone", waitMs: 10_000 });
    const held = control.call("/capacity/acquire", {
      method: "POST",
      headers,
      json: body,
      signal: left.signal,
    });
    await waiting(control, 1);
    left.abort();
    await held;
    await control.host.settle();
    await control.host.advance(2_001);
    await release(control, headers, taken.granted);
    expect((await acquire(control, headers, { queryId: "q2" })).granted).toHaveLength(1);
  });

  it("ends the held call of a query that leaves, whose place is free at once", async () => {
    const { control, headers } = await withCaps({ maxQueuedQueries: 1 });
    await acquire(control, headers, {});
    const held = acquire(control, headers, { queryId: "gone", waitMs: 10_000 });
    expect(await acquire(control, headers, { queryId: "q2" })).toMatchObject({ queueFull: true });
    const leave = { instanceId: first, queryId: "gone" };
    expect((await post(control, "/capacity/leave", headers, leave)).status).toBe(204);
    // No time has passed.
    expect((await held).granted).toEqual([]);
    expect(await acquire(control, headers, { queryId: "q2" })).toMatchObject({ position: 1 });
  });

  it("does not end it for whoever is not its worker", async () => {
    const { control, headers } = await withCaps();
    const others = await registered(control, "b", second);
    const taken = await acquire(control, headers, {});
    const held = acquire(control, headers, { queryId: "q1", waitMs: 10_000 });
    await waiting(control, 1);
    const forged = { instanceId: first, queryId: "q1" };
    expect((await post(control, "/capacity/leave", others, forged)).status).toBe(403);
    const own = { instanceId: second, queryId: "q1" };
    expect((await post(control, "/capacity/leave", others, own)).status).toBe(204);
    await release(control, headers, taken.granted);
    expect((await held).granted).toHaveLength(1);
  });

  it("keeps what was handed to a query between two of its calls", async () => {
    const { control, headers } = await withCaps();
    const taken = await acquire(control, headers, {});
    await acquire(control, headers, { queryId: "q1" });
    await release(control, headers, taken.granted);
    expect((await acquire(control, headers, { queryId: "q2" })).granted).toEqual([]);
    expect((await acquire(control, headers, { queryId: "q1" })).granted).toHaveLength(1);
  });

  it("answers a repeated question with the same lease, also when both come at once", async () => {
    const { control, headers } = await withCaps({ maxRunningQueries: 5 });
    const question = { requestId: "question-1", queryId: "q1" };
    const [one, two] = await Promise.all([
      acquire(control, headers, question),
      acquire(control, headers, question),
    ]);
    const late = await acquire(control, headers, question);
    expect(two.granted[0]?.lease).toBe(one.granted[0]?.lease);
    expect(late.granted[0]?.lease).toBe(one.granted[0]?.lease);
    expect(await heldOf(control, headers)).toBe(1);
  });

  it("refuses the query that finds the queue of its group full", async () => {
    const { control, headers } = await withCaps({ maxQueuedQueries: 0 });
    await acquire(control, headers, {});
    expect(await acquire(control, headers, { queryId: "q1", waitMs: 10_000 })).toEqual({
      granted: [],
      queueFull: true,
    });
  });

  it("applies a raised limit at once, to a call that is held", async () => {
    const { control, headers, setGroup } = await withCaps();
    await acquire(control, headers, {});
    const held = acquire(control, headers, { queryId: "q1", waitMs: 10_000 });
    await waiting(control, 1);
    await setGroup({ maxRunningQueries: 2 });
    expect((await held).granted).toHaveLength(1);
  });

  it("tells a function's caller when to ask again", async () => {
    const { control, headers } = await withCaps({}, { host: "function" });
    await acquire(control, headers, {});
    expect(await acquire(control, headers, { queryId: "q1" })).toMatchObject({
      granted: [],
      position: 1,
      retryAfterMs: 1_000,
    });
  });

  it("ends held calls when the process stops", async () => {
    const { control, headers } = await withCaps();
    await acquire(control, headers, {});
    const held = acquire(control, headers, { queryId: "q1", waitMs: 10_000 });
    await waiting(control, 1);
    control.stop();
    expect((await held).granted).toEqual([]);
  });

  it("answers 503 while the database is gone, and goes on when it is back", async () => {
    const { control, headers } = await withCaps();
    control.cut(true);
    const gone = await post(control, "/capacity/acquire", headers, acquireBody({}));
    expect([gone.status, gone.headers.get("retry-after")]).toEqual([503, "5"]);
    control.cut(false);
    expect((await acquire(control, headers, {})).granted).toHaveLength(1);
  });

  it("says no to a body of another shape, and to more than it reads", async () => {
    const { control, headers } = await withCaps();
    const wrong = { ...acquireBody({}), count: 0 };
    expect((await post(control, "/capacity/acquire", headers, wrong)).status).toBe(422);
    const large = { ...acquireBody({}), user: "u".repeat(300_000) };
    expect((await post(control, "/capacity/acquire", headers, large)).status).toBe(413);
  });
});

describe("POST /worker/capacity/renew", () => {
  it("says what goes on and what is lost, also with the next heartbeat", async () => {
    const { control, headers } = await withCaps({ maxRunningQueries: 2 });
    const { granted } = await acquire(control, headers, { count: 2 });
    const [kept, given] = granted;
    await release(control, headers, granted.slice(1));
    const answer = await post(control, "/capacity/renew", headers, {
      instanceId: first,
      leases: granted.map(({ cluster, slot, lease }) => ({ cluster, slot, lease })),
    });
    const renewed = (await answer.json()) as RenewResponse;
    expect(renewed).toEqual({
      renewed: [kept?.lease],
      lost: [given?.lease],
      expiresInMs: 60_000,
    });
    expect(control.host.metrics.value(ignored, {})).toBe(1);
  });
});

describe("foreign, late and forged calls", () => {
  it("touch nothing, and are counted", async () => {
    const { control, headers } = await withCaps({ maxRunningQueries: 2 });
    const others = await registered(control, "b", second);
    const mine = await acquire(control, headers, {});
    // Another worker's lease, under its own name and token, and under the owner's name.
    expect(await release(control, others, mine.granted, second)).toEqual({ released: 0 });
    const named = { instanceId: first, leases: namedOf(mine) };
    const calls = ["/capacity/renew", "/capacity/release"] as const;
    for (const path of calls) {
      expect((await post(control, path, others, named)).status).toBe(403);
    }
    const forged = acquireBody({ queryId: "q1" });
    expect((await post(control, "/capacity/acquire", others, forged)).status).toBe(403);
    const leave = { instanceId: first, queryId: "q1" };
    expect((await post(control, "/capacity/leave", others, leave)).status).toBe(403);
    expect((await post(control, "/capacity/acquire", {}, forged)).status).toBe(403);
    expect(control.host.metrics.value(ignored, {})).toBe(5);
    expect(await heldOf(control, headers)).toBe(1);
  });

  it("of minutes ago neither free nor take what others hold by now", async () => {
    const { control, headers } = await withCaps();
    const before = await acquire(control, headers, { requestId: "question-1" });
    await release(control, headers, before.granted);
    const after = await acquire(control, headers, { requestId: "question-2" });
    await control.host.advance(30_000);
    expect(await release(control, headers, before.granted)).toEqual({ released: 0 });
    expect((await acquire(control, headers, { requestId: "question-1" })).granted).toEqual([]);
    expect((await acquire(control, headers, { requestId: "question-2" })).granted[0]?.lease).toBe(
      after.granted[0]?.lease,
    );
    expect(await heldOf(control, headers)).toBe(1);
  });

  it("of the reaper's are refused without its fence", async () => {
    const { control, headers } = await withCaps();
    const others = await registered(control, "b", second);
    const mine = await lock(control, headers, first);
    expect(mine).toMatchObject({ acquired: true, token: 1 });
    expect(await lock(control, others, second)).toMatchObject({ acquired: false, token: 1 });
    const count = { instanceId: second, token: 2, running: 0, complete: true };
    const published = await control.call("/capacity/running/duck", {
      method: "PUT",
      headers: others,
      json: count,
    });
    expect(published.status).toBe(409);
    const stolen = { name: "engine-reconcile", instanceId: first, ttlSecs: 15 };
    expect((await post(control, "/sweep-lock/acquire", others, stolen)).status).toBe(403);
    expect((await control.call("/capacity/suspects")).status).toBe(403);
  });
});

describe("a worker that is gone", () => {
  it("loses its slot only after its lease, ten seconds, and two listings without it", async () => {
    const { control, headers } = await withCaps();
    const { granted } = await acquire(control, headers, {});
    const others = await registered(control, "b", second);
    const { token } = await lock(control, others, second);
    await suspects(control, others);
    for (let at = 0; at < 12; at += 1) {
      await control.host.advance(5_500);
      await suspects(control, others);
    }
    const [suspect] = await suspects(control, others);
    expect(suspect).toBeUndefined();
    await control.host.advance(submissionMsMax);
    expect(await suspects(control, others)).toMatchObject([
      { cluster: "duck", group: "main", lease: granted[0]?.lease, instance: first },
    ]);
    expect((await acquire(control, others, { instanceId: second })).granted).toEqual([]);
    const seen = { token, lease: granted[0]?.lease ?? "", seen: "absent" };
    expect(await observe(control, others, seen)).toEqual({ fenced: true, advice: "wait" });
    expect(await observe(control, others, { ...seen, token: token + 1 })).toEqual({
      fenced: false,
      advice: "unknown",
    });
    // The network brings it again, much later.
    const { listing } = await asked(control, others);
    await control.host.advance(1_000);
    const again = await observe(control, others, { ...seen, listing });
    expect(again).toEqual({ fenced: true, advice: "wait" });
    const nameless = await observe(control, others, { ...seen, listing: undefined });
    expect(nameless).toEqual({ fenced: true, advice: "wait" });
    expect(await observe(control, others, seen)).toEqual({ fenced: true, advice: "freed" });
    expect(await observe(control, others, seen)).toEqual({ fenced: true, advice: "unknown" });
    expect((await acquire(control, others, { instanceId: second })).granted).toHaveLength(1);
    const beat = await heartbeat(control, headers);
    expect(beat.lostLeases).toEqual([granted[0]?.lease]);
  });

  it("is asked about at once when its successor proves its end", async () => {
    const { control, headers, token } = await withCaps();
    const { granted } = await acquire(control, headers, {});
    const proof = predecessorProofOf({ instanceId: first, instanceToken: token }, second);
    const json = { ...registrationOf("a", second), predecessorProof: proof };
    const answer = await control.call("/register", { method: "POST", json });
    const { instanceToken } = (await answer.json()) as { instanceToken: string };
    const successor = {
      "gateway-instance-id": second,
      "gateway-instance-token": instanceToken,
    };
    await control.host.advance(submissionMsMax);
    expect(await suspects(control, successor)).toMatchObject([
      { lease: granted[0]?.lease, holder: "dead" },
    ]);
    expect((await post(control, "/capacity/acquire", headers, acquireBody({}))).status).toBe(403);
  });

  it("frees nothing by deregistering", async () => {
    const { control, headers } = await withCaps();
    await acquire(control, headers, {});
    await control.call(`/register/${first}`, { method: "DELETE", headers });
    const others = await registered(control, "b", second);
    expect((await acquire(control, others, { instanceId: second })).granted).toEqual([]);
    expect(await heldOf(control, others, second)).toBe(1);
  });
});

describe("PUT /worker/capacity/running/{cluster}", () => {
  it("shows what the engine runs beside what is held, and the difference", async () => {
    const { control, headers } = await withCaps({ maxRunningQueries: 3 });
    await acquire(control, headers, { count: 2 });
    const { token } = await lock(control, headers, first);
    const json = { instanceId: first, token, running: 3, complete: true };
    await control.call("/capacity/running/duck", { method: "PUT", headers, json });
    const shown = await running(control, headers);
    expect(shown.clusters["duck"]).toEqual({ running: 3, complete: true, held: 2, asOfMsAgo: 0 });
    const { name } = workerApiFamilies.difference;
    expect(control.host.metrics.value(name, { cluster_name: "duck" })).toBe(1);
  });
});

/** Until so many calls are held. */
async function waiting(control: TestControl, count: number): Promise<void> {
  const before = 1;
  for (let turn = 0; turn < 100 && control.host.timerCount < before + count; turn += 1) {
    await control.host.settle();
  }
  expect(control.host.timerCount).toBeGreaterThanOrEqual(count);
}

function namedOf({ granted }: AcquireResponse) {
  return granted.map(({ cluster, slot, lease }) => ({ cluster, slot, lease }));
}

type Headers = Readonly<Record<string, string>>;

async function lock(control: TestControl, headers: Headers, instanceId: string) {
  const json = { name: "engine-reconcile", instanceId, ttlSecs: 300 };
  const answer = await post(control, "/sweep-lock/acquire", headers, json);
  return (await answer.json()) as SweepLockResponse;
}

async function suspects(control: TestControl, headers: Headers) {
  return (await asked(control, headers)).suspects;
}

async function asked(control: TestControl, headers: Headers) {
  const answer = await control.call("/capacity/suspects", { headers });
  expect(answer.status).toBe(200);
  return (await answer.json()) as SuspectsResponse;
}

/** Of a listing that is made now, unless it says which. */
async function observe(control: TestControl, headers: Headers, seen: object) {
  const { listing } = await asked(control, headers);
  const json = { instanceId: second, cluster: "duck", slot: 0, listing, ...seen };
  const answer = await post(control, "/capacity/observed", headers, json);
  return (await answer.json()) as ObservedResponse;
}

async function running(control: TestControl, headers: Headers) {
  const answer = await control.call("/capacity/running", { headers });
  return (await answer.json()) as RunningResponse;
}

/** Slots that count, by what the page of the reaper says. */
async function heldOf(control: TestControl, headers: Headers, instanceId = first) {
  const { token } = await lock(control, headers, instanceId);
  const json = { instanceId, token, running: 0, complete: true };
  await control.call("/capacity/running/duck", { method: "PUT", headers, json });
  return (await running(control, headers)).clusters["duck"]?.held;
}

async function heartbeat(control: TestControl, headers: Headers) {
  const json = { name: "a", instanceId: first, status: "active", stale: false, queries: [] };
  const answer = await post(control, "/heartbeat", headers, json);
  return (await answer.json()) as { readonly lostLeases: readonly string[] };
}
