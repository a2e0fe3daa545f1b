/** The web service of a guard over a real socket. */
import { guardSchema, type WebhookConfig } from "@gateway/contract/config/guardrail.ts";
import type { GuardQuestion } from "@gateway/contract/guardService.ts";
import { err, ok } from "@gateway/core/result.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeGuardService, type ServiceMood } from "../../../../test/fake/guardService.ts";
import { guardService } from "./webhook.ts";

const question: GuardQuestion = {
  guard: "hook",
  stage: "before",
  statement: { text: "select 1" },
  kind: "select",
  dialect: "postgres",
  clusterGroup: "main",
  tags: {},
  user: "ann",
};
const allow = { decision: "allow" } as const;

let fake: FakeGuardService;
beforeEach(async () => {
  fake = await FakeGuardService.start();
});
afterEach(() => fake[Symbol.asyncDispose]());

describe("guardService", () => {
  it.each([
    allow,
    { decision: "deny", message: "no" },
    { decision: "warn", message: "slow" },
    { decision: "rewrite", sql: "select 2" },
  ] as const)("asks by POST and takes %j", async (says) => {
    await using service = open({ credentials: { bearer: "key" } });
    fake.says = says;
    expect(await service.ask()).toEqual(ok(says));
    expect(fake.asked).toEqual([
      { method: "POST", path: "/judge", type: "application/json", body: question },
    ]);
    expect(fake.authorizations).toEqual(["Bearer key"]);
  });

  it.each([
    {},
    [],
    { decision: "maybe" },
    { decision: "allow", unless: "it writes" },
    { decision: "warn" },
    { decision: "deny", message: "x".repeat(1_001) },
    { decision: "rewrite", sql: "x".repeat(65_537) },
    "allow",
  ])("takes no answer of another shape: %j", async (says) => {
    await using service = open();
    fake.says = says;
    expect(await service.ask()).toEqual(err("answer"));
    expect(service.host.log.lines).toMatchObject([
      { event: "guard.unavailable", fields: { guard: "hook", reason: "answer" } },
    ]);
    const failures = { reason: "answer" };
    expect(service.host.metrics.value("gateway_guard_service_failures_total", failures)).toBe(1);
  });

  it.each<readonly [ServiceMood, string]>([
    ["nonsense", "answer"],
    ["failing", "status"],
    ["redirecting", "status"],
    ["huge", "tooLarge"],
    ["cut", "unreachable"],
  ])("has no answer while the service is %s", async (mood, reason) => {
    await using service = open();
    fake.says = allow;
    fake.mood = mood;
    expect(await service.ask()).toEqual(err(reason));
  });

  it("waits no longer than it may, then rests for that user alone", async () => {
    await using service = open({ timeoutMs: 100 });
    fake.mood = "silent";
    const waiting = service.ask();
    await fake.arrived(1);
    await service.host.advance(100);
    expect(await waiting).toEqual(err("slow"));
    expect(await service.ask()).toEqual(err("rests"));
    fake.mood = "well";
    fake.says = allow;
    expect(await service.ask("bob")).toEqual(ok(allow));
    await service.host.advance(1_000);
    expect(await service.ask()).toEqual(ok(allow));
    expect(fake.asked).toHaveLength(3);
  });

  it("has no answer where nobody listens, and where the process may not connect", async () => {
    await using service = open();
    await fake[Symbol.asyncDispose]();
    expect(await service.ask()).toEqual(err("unreachable"));
    fake = await FakeGuardService.start();
    fake.says = allow;
    await using refused = open({}, { refuses: () => true, refusesHost: () => true });
    expect(await refused.ask()).toEqual(err("unreachable"));
    expect(fake.asked).toEqual([]);
  });

  it("lets go of the request when nobody waits any more, and holds nothing against the service", async () => {
    await using service = open();
    fake.mood = "silent";
    const left = new AbortController();
    const waiting = service.ask("ann", left.signal);
    await fake.arrived(1);
    left.abort();
    expect(await waiting).toEqual(err("slow"));
    await fake.hungUp(1);
    fake.mood = "well";
    fake.says = allow;
    expect(await service.ask()).toEqual(ok(allow));
    expect(service.host.log.lines).toEqual([]);
  });

  it("asks no more at once than it may", async () => {
    await using service = open({ maxConcurrent: 2 });
    fake.says = allow;
    fake.mood = "late";
    const waiting = ["a", "b", "c", "d", "e"].map((user) => service.ask(user));
    await fake.arrived(2);
    fake.release();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ok(allow)));
    expect(fake.openMax).toBe(2);
    expect(fake.asked).toHaveLength(5);
  });

  it("says that it is busy above a thousand questions at once, and asks again once there are fewer", async () => {
    await using service = open({ maxConcurrent: 1 });
    fake.says = allow;
    fake.mood = "late";
    const waiting = Array.from({ length: 1_000 }, (_, n) => service.ask(`user ${n}`));
    expect(await service.ask()).toEqual(err("busy"));
    fake.release();
    await Promise.all(waiting);
    expect(await service.ask()).toEqual(ok(allow));
  });

  it("remembers an answer to the same question for as long as it may", async () => {
    await using service = open({ cacheTtlMs: 5_000 });
    fake.says = { decision: "deny", message: "no" };
    await service.ask();
    await service.ask("bob");
    expect(fake.asked).toHaveLength(1);
    await service.host.advance(5_000);
    fake.says = allow;
    expect(await service.ask()).toEqual(ok(allow));
    fake.mood = "failing";
    await service.host.advance(5_000);
    expect(await service.ask()).toEqual(err("status"));
  });
});

function open(config: object = {}, egress?: { refuses(): boolean; refusesHost(): boolean }) {
  const virtual = virtualHost(1);
  const host = egress === undefined ? virtual : { ...virtual, egress };
  const guard = { name: "hook", type: "webhook", url: `${fake.url}/judge`, ...config };
  const service = guardService(guardSchema.parse(guard) as WebhookConfig, host);
  return {
    host: virtual,
    ask: (user = "ann", signal = new AbortController().signal) =>
      service.ask(question, user, signal),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
