import { currentSecret, previousSecret, testControl } from "@gateway/control/worker/rig/control.ts";
import { revisionOfHead } from "@gateway/contract/snapshot.ts";
import { Secret } from "@gateway/core/secret.ts";
import { err } from "@gateway/core/result.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { snapshotOf } from "../rig/snapshot.ts";
import { json, overApp, silence, status, testLink, type Answering } from "../rig/link.ts";

const wait = "/worker/config/wait";
const config = "/worker/config";
const register = "/worker/register";
const heartbeat = "/worker/heartbeat";

describe("a link to a real control plane", () => {
  it("fetches the first snapshot and each further one once, and is confirmed by heartbeats", async () => {
    const control = await testControl();
    await control.commit("one");
    const test = testLink(overApp(control.app), { host: control.host, secrets: [secretOf()] });
    await test.until(() => bodies(test).length === 1);
    await control.commit("two");
    await test.until(() => bodies(test).length === 2);
    expect(bodies(test).map((body) => Object.keys(body.body.clusters))).toEqual([
      ["one"],
      ["one", "two"],
    ]);
    await control.host.advance(60_000);
    expect(test.count(config)).toBe(2);
    expect(test.count(heartbeat)).toBeGreaterThanOrEqual(6);
    const last = test.events.at(-1);
    expect(last).toMatchObject({
      kind: "offer",
      body: undefined,
      offer: { source: "controlPlane" },
    });
    expect(test.openMax()).toBe(1);
    expect(test.events.every((event) => event.kind === "offer")).toBe(true);
    control.stop();
    await test.stop();
  });

  it("works with the previous secret while the control plane knows only that", async () => {
    const control = await testControl({ secrets: [previousSecret] });
    await control.commit("one");
    const secrets = [secretOf(), secretOf(previousSecret)] as const;
    const test = testLink(overApp(control.app), { host: control.host, secrets });
    await test.until(() => bodies(test).length === 1);
    const before = refusals(control.host);
    await control.host.advance(600_000);
    expect(refusals(control.host)).toBe(before);
    control.stop();
    await test.stop();
  });

  it("says once that the secret is refused, asks rarely, and knocks on with pauses", async () => {
    const control = await testControl();
    await control.commit("one");
    const wrong = secretOf("a-secret-that-nobody-else-has-at-all");
    const test = testLink(overApp(control.app), { host: control.host, secrets: [wrong] });
    await control.host.advance(3_600_000);
    expect(test.lines("worker.linkSecretRefused")).toBe(1);
    expect(test.paths.length).toBeGreaterThan(100);
    expect(test.paths.length).toBeLessThan(600);
    expect(bodies(test)).toEqual([]);
    expect(JSON.stringify(control.host.log.lines)).not.toContain("nobody-else");
    control.stop();
    await test.stop();
  });

  it("registers again when the control plane forgot it, and signs off at the end", async () => {
    const control = await testControl();
    await control.commit("one");
    const test = testLink(overApp(control.app), { host: control.host, secrets: [secretOf()] });
    await control.host.advance(15_000);
    const rows = await control.deps.store.workers.list({ limit: 10, cursor: undefined });
    const [row] = rows.ok ? rows.value.items : [];
    expect(row?.name).toBe("pod-1");
    await control.deps.store.workers.remove(row?.instanceId ?? "");
    await control.host.advance(30_000);
    expect(test.count(register)).toBe(2);
    expect(test.lines("worker.registrationLost")).toBe(1);
    await test.stop();
    expect(await test.link.presence.leave(new AbortController().signal)).toBe(true);
    const left = await control.deps.store.workers.list({ limit: 10, cursor: undefined });
    expect(left.ok && left.value.items).toEqual([]);
    control.stop();
  });

  it("registers again when the token it got can not travel", async () => {
    const control = await testControl();
    await control.commit("one");
    const app = overApp(control.app);
    let answered = 0;
    const damaging: Answering = async (request, signal) => {
      const whole = await app(request, signal);
      if (!request.url.endsWith(register) || (answered += 1) > 1) return whole;
      return json({ instanceToken: "damaged \uFFFD", duplicateName: false });
    };
    const test = testLink(damaging, { host: control.host, secrets: [secretOf()] });
    await control.host.advance(30_000);
    expect(test.count(register)).toBeGreaterThan(1);
    expect(test.count(heartbeat)).toBeGreaterThan(0);
    expect(control.host.log.bugs).toEqual([]);
    control.stop();
    await test.stop();
  });

  it("registers again when its labels changed, and passes on what an operator cancels", async () => {
    let zone = "a";
    const cancelled: string[] = [];
    const control = await testControl();
    await control.commit("one");
    const test = testLink(overApp(control.app), {
      host: control.host,
      secrets: [secretOf()],
      presence: {
        labels: () => ({ zone }),
        cancel: (ids) => cancelled.push(...ids),
        report: () => ({
          status: "active",
          stale: false,
          queries: [{ id: "q1", state: "running", since: 0 }],
        }),
      },
    });
    await control.host.advance(15_000);
    zone = "b";
    await control.deps.store.workers.requestCancel({
      queryId: "q1",
      requestedBy: "ann",
      requestedAt: 0,
    });
    await control.host.advance(15_000);
    const rows = await control.deps.store.workers.list({ limit: 10, cursor: undefined });
    expect(rows.ok && rows.value.items.map(({ labels }) => labels)).toEqual([{ zone: "b" }]);
    expect(cancelled).toContain("q1");
    control.stop();
    await test.stop();
  });
});

describe("a link", () => {
  it("fetches nothing that is known here already, and has it confirmed by the head alone", async () => {
    const { head } = snapshotOf();
    const test = testLink(serving({ [wait]: () => json({ head }) }), {
      known: () => revisionOfHead(head),
    });
    await test.host.settle();
    expect(test.count(config)).toBe(0);
    expect(test.events).toMatchObject([{ kind: "offer", head, body: undefined }]);
    await test.stop();
  });

  it("waits from what it fetched, also when that is refused later", async () => {
    const { head, bytes } = snapshotOf();
    const answers = serving({
      [wait]: (url) => (url.searchParams.has("since") ? undefined : json({ head })),
      [config]: () => json(null, { body: bytes }),
    });
    const test = testLink(answers);
    await test.host.advance(1_000);
    const last = test.requests.filter(({ url }) => url.includes(wait)).at(-1);
    expect(last?.url).toContain(encodeURIComponent(head.revision));
    expect(last?.headers["prefer"]).toBe("wait=30");
    await test.stop();
  });

  it("does not believe an unauthentic head, and does not fetch for it", async () => {
    const { head } = snapshotOf();
    const forged = { ...head, sequence: 99 };
    const test = testLink(serving({ [wait]: () => json({ head: forged }) }));
    await test.host.advance(10_000);
    expect(test.count(config)).toBe(0);
    expect(test.events[0]).toMatchObject({ kind: "unverified", source: "controlPlane" });
    await test.stop();
  });

  it("takes no damaged snapshot for one, and tries again with pauses", async () => {
    const { head, bytes } = snapshotOf();
    const answers = serving({
      [wait]: () => json({ head }),
      [config]: () => json(null, { body: bytes.subarray(0, 100) }),
    });
    const test = testLink(answers);
    await test.host.advance(3_600_000);
    expect(test.count(config)).toBeGreaterThan(50);
    expect(test.count(config)).toBeLessThan(300);
    expect(new Set(test.events.map(({ kind }) => kind))).toEqual(new Set(["unverified"]));
    await test.stop();
  });

  it("does not fetch from a replica that lags behind, nor ask it in a circle", async () => {
    const newer = snapshotOf({ sequence: 5, name: "new" });
    const older = snapshotOf({ sequence: 4, name: "old" });
    const test = testLink(serving({ [wait]: () => json({ head: older.head }) }), {
      known: () => revisionOfHead(newer.head),
    });
    await test.host.advance(3_600_000);
    expect(test.count(config)).toBe(0);
    expect(test.count(wait)).toBeLessThan(300);
    await test.stop();
  });

  it("does not spin on a server that holds no wait", async () => {
    const test = testLink(serving({ [wait]: () => status(304) }));
    await test.host.advance(60_000);
    expect(test.count(wait)).toBeLessThan(65);
    expect(test.events).toEqual([]);
    await test.stop();
  });

  it("honours Retry-After in seconds and as a date", async () => {
    const date = new Date(1_767_225_600_000 + 90_000).toUTCString();
    for (const value of ["90", date]) {
      const test = testLink(serving({ [wait]: () => status(503, { "retry-after": value }) }));
      await test.host.advance(89_000);
      expect(test.count(wait)).toBe(1);
      await test.host.advance(5_000);
      expect(test.count(wait)).toBeGreaterThan(1);
      expect(test.events[0]).toMatchObject({ kind: "unreachable" });
      await test.stop();
    }
  });

  it("gives up a silent call by the clock, and says once that the link is down", async () => {
    const test = testLink((_request, signal) => silence(signal));
    await test.host.advance(600_000);
    expect(test.lines("worker.linkDown")).toBe(1);
    expect(test.count(wait)).toBeGreaterThan(5);
    expect(test.events[0]).toMatchObject({ reason: "the control plane does not answer" });
    await test.stop();
    expect(test.host.timerCount).toBe(0);
  });

  it("takes a new id when its registration is refused", async () => {
    const ids = new Set<string>();
    const test = testLink(
      serving({
        [register]: (_url, body) => {
          ids.add(String(body["instanceId"]));
          return ids.size < 3 ? status(409) : json({ instanceToken: "t", duplicateName: true });
        },
      }),
    );
    await test.host.advance(120_000);
    expect(ids.size).toBe(3);
    expect(test.lines("worker.duplicateName")).toBe(1);
    await test.stop();
  });

  it("sends the next heartbeat within a second of a poke, and not more than one a second", async () => {
    const test = testLink(
      serving({
        [register]: () => json({ instanceToken: "t", duplicateName: false }),
        [heartbeat]: () => json({ head: snapshotOf().head, lostLeases: [], cancel: [] }),
      }),
    );
    await test.host.advance(5_000);
    expect(test.count(heartbeat)).toBe(1);
    for (let poke = 0; poke < 100; poke += 1) {
      test.link.presence.poke();
      await test.host.advance(10);
    }
    await test.host.advance(1_000);
    expect(test.count(heartbeat)).toBeGreaterThanOrEqual(2);
    expect(test.count(heartbeat)).toBeLessThanOrEqual(4);
    await test.stop();
  });

  it("never has two requests of a kind open, never throws and never spins, whatever is answered", async () => {
    const { head, bytes } = snapshotOf();
    const answers = fc.constantFrom(
      json({ head }),
      json({ head: 1 }),
      json(null, { body: bytes }),
      json({ instanceToken: "t", duplicateName: false }),
      json({ head, cancel: ["a"] }),
      ...[204, 304, 302, 400, 401, 403, 404, 409, 429, 500, 503].map((code) => status(code)),
      err({ code: "unreachable", detail: "ECONNRESET" } as const),
      err({ code: "tooLarge" } as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(answers, { minLength: 1, maxLength: 30 }), async (list) => {
        let at = 0;
        const test = testLink((_request, _signal) => {
          at += 1;
          return Promise.resolve(list[at % list.length] ?? status(500));
        });
        await test.host.advance(120_000);
        await test.stop();
        expect(test.openMax()).toBe(1);
        expect(test.host.log.bugs).toEqual([]);
        expect(test.paths.length).toBeLessThan(1_000);
        expect(test.host.timerCount).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

type Routes = Readonly<
  Record<
    string,
    (url: URL, body: Readonly<Record<string, unknown>>) => ReturnType<typeof json> | undefined
  >
>;

/** Answers each path by its function; silent where there is none, or where it answers undefined. */
function serving(routes: Routes): Answering {
  return (request, signal) => {
    const url = new URL(request.url);
    const body = request.body === undefined ? {} : JSON.parse(Buffer.from(request.body).toString());
    return Promise.resolve(routes[url.pathname]?.(url, body) ?? silence(signal));
  };
}

function bodies(test: ReturnType<typeof testLink>) {
  return test.events.flatMap((event) =>
    event.kind === "offer" && event.body !== undefined ? [event.body] : [],
  );
}

function refusals(host: ReturnType<typeof testLink>["host"]): number {
  return host.metrics.value("gateway_worker_auth_failures_total", {});
}

function secretOf(text: string = currentSecret): Secret {
  return new Secret(text);
}
