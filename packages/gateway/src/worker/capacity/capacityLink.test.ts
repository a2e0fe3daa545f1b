import { describe, expect, it } from "vitest";
import { capacityLink } from "./capacityLink.ts";
import { json, silence, status, testLink, type Answering } from "../rig/link.ts";

const acquire = "/worker/capacity/acquire";
const request = {
  requestId: "request-1",
  group: "g",
  candidates: ["c"],
  queryId: "q",
  count: 1,
  waitMs: 5_000,
};
const { signal } = new AbortController();

describe("capacityLink", () => {
  it("speaks as its registered instance, which every lease is named after", async () => {
    const test = linkOf({ [acquire]: () => json({ granted: [] }) });
    await test.registered();
    const granted = { cluster: "c", slot: 3, lease: "lease-000001", expiresInMs: 60_000 };
    test.answers[acquire] = () => json({ granted: [granted], more: "of a later release" });
    const answer = await test.link.source.acquire(request, signal);
    expect(answer).toMatchObject({ ok: true, value: { granted: [granted] } });
    const sent = test.requests.at(-1);
    const body: unknown = JSON.parse(Buffer.from(sent?.body ?? []).toString("utf8"));
    expect(body).toEqual({ ...request, instanceId: test.link.source.instance });
    expect(sent?.headers).toMatchObject({
      "gateway-instance-id": test.link.source.instance,
      "gateway-instance-token": "token",
    });
    await test.stop();
  });

  it("holds a silent control plane for gone only after the answer's own hold", async () => {
    const test = linkOf({ [acquire]: silence });
    await test.registered();
    let answer: unknown;
    const asked = (async () => {
      answer = await test.link.source.acquire(request, signal);
    })();
    await test.host.advance(9_000);
    expect(answer).toBeUndefined();
    await test.host.advance(2_000);
    await asked;
    expect(answer).toEqual({ ok: false, error: "unreachable" });
    await test.stop();
  });

  it("registers again where it is not known, and says that it was refused", async () => {
    const test = linkOf({ [acquire]: () => status(403) });
    await test.registered();
    expect(await test.link.source.acquire(request, signal)).toEqual({
      ok: false,
      error: "refused",
    });
    await test.host.advance(60_000);
    expect(test.count("/worker/register")).toBe(2);
    await test.stop();
  });

  it("takes an answer that nobody can read, and a control plane without its database, for none", async () => {
    const odd = [json({ granted: "all" }), json([]), status(503), status(500), status(200)];
    for (const said of odd) {
      const test = linkOf({ [acquire]: () => said });
      await test.registered();
      const answer = await test.link.source.acquire(request, signal);
      expect(answer).toEqual({ ok: false, error: "unreachable" });
      await test.stop();
    }
  });

  it("is refused before its registration, and unreachable when that is not answered either", async () => {
    const test = linkOf({ "/worker/register": silence });
    expect(await test.link.source.renew([], signal)).toEqual({ ok: false, error: "refused" });
    await test.host.advance(30_000);
    expect(await test.link.source.renew([], signal)).toEqual({ ok: false, error: "unreachable" });
    await test.stop();
  });

  it("says what the reaper saw, under the lock's token", async () => {
    const test = linkOf({
      "/worker/sweep-lock/acquire": () => json({ acquired: true, token: 7, expiresInMs: 15_000 }),
      "/worker/capacity/observed": () => json({ fenced: true, advice: "wait" }),
      "/worker/capacity/running/a%2Fb": () => status(204),
    });
    await test.registered();
    const { reaper } = test.link;
    expect(await reaper.lock(15, signal)).toMatchObject({ value: { acquired: true, token: 7 } });
    const report = {
      token: 7,
      cluster: "c",
      slot: 1,
      lease: "lease-1",
      seen: "absent",
      delayMs: 0,
      listing: 5,
    };
    const said = await reaper.observed({ ...report, seen: "absent" }, signal);
    expect(said).toMatchObject({ ok: true, value: { fenced: true, advice: "wait" } });
    const count = { token: 7, running: 2, complete: true };
    expect(await reaper.publish("a/b", count, signal)).toEqual({ ok: true, value: undefined });
    expect(test.requests.at(-1)).toMatchObject({ method: "PUT" });
    await test.stop();
  });
});

describe("a heartbeat", () => {
  it("hands on the leases that were given to others", async () => {
    const lost: string[][] = [];
    const test = linkOf(
      { "/worker/heartbeat": () => json({ head: null, cancel: [], lostLeases: ["lease-1"] }) },
      (leases) => lost.push([...leases]),
    );
    await test.registered();
    await test.host.advance(2_000);
    expect(lost[0]).toEqual(["lease-1"]);
    await test.stop();
  });
});

type Said = ReturnType<typeof status>;
type Saying = (signal: AbortSignal) => Said | Promise<Said>;

function linkOf(
  own: Readonly<Record<string, Saying>>,
  leasesLost: (leases: readonly string[]) => void = () => {},
) {
  const answers: Record<string, Saying> = {
    "/worker/register": () => json({ instanceToken: "token", duplicateName: false }),
    ...own,
  };
  const answering: Answering = async ({ url }, aborted) =>
    (answers[new URL(url).pathname] ?? silence)(aborted);
  const test = testLink(answering, { presence: { leasesLost } });
  const { calls, presence } = test.link;
  return {
    ...test,
    answers,
    link: capacityLink({ host: test.host, calls, presence }),
    registered: () => test.until(() => presence.headers() !== undefined),
  };
}
