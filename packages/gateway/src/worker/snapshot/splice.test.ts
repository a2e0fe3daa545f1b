import { deltaOf } from "@gateway/control/worker/snapshot/delta.ts";
import { currentSecret, testControl } from "@gateway/control/worker/rig/control.ts";
import { Secret } from "@gateway/core/secret.ts";
import { ok } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import { overApp, testLink, type Answering, type TestLink } from "../rig/link.ts";
import { snapshotOf } from "../rig/snapshot.ts";
import type { Known } from "./controlSource.ts";
import { spliced } from "./splice.ts";
import { verifySnapshot, headKeysOf, type VerifiedSnapshot } from "./verify.ts";
import { testSecret } from "../rig/snapshot.ts";

const config = "/worker/config";
const clusters = Object.fromEntries(
  Array.from({ length: 20 }, (_, at) => [
    `cluster${at}`,
    { engine: "duckDb", note: "é".repeat(at) },
  ]),
);
const bodyOf = (note: string) => ({ ...parts, clusters: { ...clusters, one: { note } } });
const parts = {
  clusterGroups: {},
  routers: [],
  scripts: [],
  settings: {},
  translation: {},
  history: {},
};

/** As a control plane answers who knows `base`. */
function answerTo(base: string, next: ReturnType<typeof snapshotOf>): Buffer {
  const delta = deltaOf(Buffer.from(base), Buffer.from(next.bodyText));
  if (delta === undefined) throw new Error("no difference");
  const { front, back, middle } = delta;
  return Buffer.concat([
    Buffer.from(`${JSON.stringify({ head: next.head, front, back })}\n`),
    middle,
  ]);
}

describe("spliced", () => {
  const before = snapshotOf({ body: bodyOf("before") });
  const next = snapshotOf({ body: bodyOf("after all"), sequence: 2 });
  const base = Buffer.from(before.bodyText);

  it("makes the whole that a control plane would have served", async () => {
    const whole = spliced(base, answerTo(before.bodyText, next));
    if (!whole.ok) throw new Error(whole.error.code);
    const verified = await verifySnapshot(whole.value, headKeysOf([testSecret]));
    expect(verified.ok && Buffer.from(verified.value.bytes).toString()).toBe(next.bodyText);
  });

  it("of another base has not the hash that its head names", async () => {
    const other = Buffer.from(before.bodyText.replace("cluster3", "cluster_"));
    const whole = spliced(other, answerTo(before.bodyText, next));
    const verified = whole.ok && (await verifySnapshot(whole.value, headKeysOf([testSecret])));
    expect(verified).toMatchObject({ ok: false, error: { code: "hash" } });
  });

  it("refuses lines that are none, places that are not there, and what is too long", () => {
    const { head } = next;
    const line = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\nx`);
    const wrong = [
      Buffer.from(""),
      Buffer.from("\n"),
      Buffer.from(JSON.stringify({ head, front: 1, back: 0 })),
      line({ head, front: 0, back: 1 }),
      line({ head, front: -1, back: 1 }),
      line({ head, front: 1.5, back: 1 }),
      line({ head, front: base.length, back: 1 }),
      line({ head, front: 1, back: base.length }),
      line({ head, front: 2 ** 53, back: 0 }),
      line({ head, front: 1, back: 0, more: 1 }),
      line({ front: 1, back: 0 }),
      Buffer.concat([line({ head, front: 1, back: 0 }), Buffer.alloc(256 * 1024)]),
      Buffer.concat([Buffer.alloc(4_096, " "), line({ head, front: 1, back: 0 })]),
    ];
    expect(wrong.map((answer) => spliced(base, answer).ok)).toEqual(wrong.map(() => false));
  });
});

describe("a link that knows what runs here", () => {
  it("is sent differences, and the whole first", async () => {
    const control = await testControl();
    for (const name of ["one", "two", "three", "four"]) await control.commit(name);
    const { test, statuses } = follow(overApp(control.app), control.host);
    await test.until(() => bodies(test).length === 1);
    for (const name of ["five", "six"]) {
      const known = bodies(test).length;
      await control.commit(name);
      await test.until(() => bodies(test).length === known + 1);
    }
    expect(statuses).toEqual([200, 226, 226]);
    expect(Object.keys(bodies(test).at(-1)?.body.clusters ?? {})).toHaveLength(6);
    control.stop();
    await test.stop();
  });

  it("asks for the whole where a difference was damaged", async () => {
    const control = await testControl();
    for (const name of ["one", "two", "three", "four"]) await control.commit(name);
    const app = overApp(control.app);
    const damaging: Answering = async (request, signal) => {
      const answer = await app(request, signal);
      if (!answer.ok || answer.value.status !== 226) return answer;
      const body = Uint8Array.from(answer.value.body);
      body[body.length - 1] = 0x21;
      return ok({ ...answer.value, body });
    };
    const { test, statuses } = follow(damaging, control.host);
    await test.until(() => bodies(test).length === 1);
    await control.commit("five");
    await test.until(() => test.events.some(({ kind }) => kind === "unverified"));
    await control.host.advance(60_000);
    await test.until(() => bodies(test).length === 2);
    expect(statuses).toEqual([200, 226, 200]);
    control.stop();
    await test.stop();
  });
});

/** A link that runs what it fetched last. */
function follow(answer: Answering, host: NonNullable<Parameters<typeof testLink>[1]>["host"]) {
  const statuses: number[] = [];
  const noting: Answering = async (request, signal) => {
    const answered = await answer(request, signal);
    const { pathname } = new URL(request.url);
    if (answered.ok && pathname === config) statuses.push(answered.value.status);
    return answered;
  };
  const active = (): Known | undefined => bodies(test).at(-1);
  const secrets = [new Secret(currentSecret)] as const;
  const test: TestLink = testLink(noting, { ...(host && { host }), secrets, active });
  return { test, statuses };
}

function bodies({ events }: TestLink): readonly VerifiedSnapshot[] {
  return events.flatMap((event) => (event.kind === "offer" && event.body ? [event.body] : []));
}
