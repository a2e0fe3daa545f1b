import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { Authorizer } from "@gateway/core/port/authorizer.ts";
import { anyEgress } from "@gateway/core/port/egress.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { allowListAuthorizer } from "@gateway/core/route/allowList.ts";
import { egressBy } from "@gateway/gateway/host/egress.ts";
import { FakeOpenFga } from "../../../../test/fake/openfga.ts";
import { authorizationSchema } from "./config.ts";
import { openFgaAuthorizer } from "./openfga.ts";

let fake: FakeOpenFga;
beforeEach(async () => {
  fake = await FakeOpenFga.start();
});
afterEach(() => fake[Symbol.asyncDispose]());

describe("openFgaAuthorizer", () => {
  it("asks for the reader of a cluster group, with the user's groups beside the question", async () => {
    fake.tuples.add("user:alice reader cluster_group:own");
    fake.tuples.add("team:finance#member reader cluster_group:shared");
    await using tested = testedOf({ authorizationModelId: "01M", credentials: { bearer: "key" } });
    expect(await tested.mayUse("alice", "own", [])).toBe(true);
    expect(await tested.mayUse("alice", "shared", ["finance"])).toBe(true);
    expect(await tested.mayUse("alice", "shared", [])).toBe(false);
    expect(await tested.mayUse("bob", "own", ["finance"])).toBe(false);
    expect(fake.asked[1]).toEqual({
      path: "/stores/01S/check",
      authorization: "Bearer key",
      tuple: { user: "user:alice", relation: "reader", object: "cluster_group:shared" },
      contextual: [{ user: "user:alice", relation: "member", object: "team:finance" }],
      model: "01M",
    });
  });

  it("asks nobody when an allow list refuses", async () => {
    fake.tuples.add("user:alice reader cluster_group:closed");
    await using tested = testedOf();
    expect(await tested.mayUse("alice", "closed", [])).toBe(false);
    expect(await tested.mayUse("alice", "unknown", [])).toBe(false);
    expect(fake.asked).toEqual([]);
  });

  it("remembers a yes for its time, by user, groups and group, and never a no", async () => {
    await using tested = testedOf();
    expect(await tested.mayUse("alice", "own", [])).toBe(false);
    fake.tuples.add("user:alice reader cluster_group:own");
    expect(await tested.mayUse("alice", "own", [])).toBe(true);
    fake.tuples.clear();
    expect(await tested.mayUse("alice", "own", [])).toBe(true);
    expect(await tested.mayUse("alice", "own", ["finance"])).toBe(false);
    expect(await tested.mayUse("alice", "shared", [])).toBe(false);
    await tested.host.advance(5_000);
    expect(await tested.mayUse("alice", "own", [])).toBe(false);
  });

  it("remembers nothing where the configuration says so", async () => {
    fake.tuples.add("user:alice reader cluster_group:own");
    await using tested = testedOf({ cacheTtlMs: 0 });
    for (let n = 0; n < 2; n += 1) expect(await tested.mayUse("alice", "own", [])).toBe(true);
    expect(fake.asked).toHaveLength(2);
  });

  it("asks once for a burst of the same", async () => {
    fake.tuples.add("user:alice reader cluster_group:own");
    await using tested = testedOf();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => tested.mayUse("alice", "own", [])),
    );
    expect(new Set(answers)).toEqual(new Set([true]));
    expect(fake.asked).toHaveLength(1);
  });

  it.each(["silent", "nonsense", "failing", "redirecting", "saying"] as const)(
    "says no within its time limit while the server is %s",
    async (mood) => {
      fake.tuples.add("user:alice reader cluster_group:own");
      fake.mood = mood;
      await using tested = testedOf();
      const asked = tested.mayUse("alice", "own", []);
      const watch = { done: false };
      void asked.finally(() => {
        watch.done = true;
      });
      while (!watch.done) await tested.host.advance(10);
      expect(await asked).toBe(false);
      expect(tested.host.clock.nowMs()).toBeLessThanOrEqual(2_020);
      expect(fake.asked.map(({ path }) => path)).toEqual(["/stores/01S/check"]);
    },
  );

  it("refuses a query that may try fifty groups within one time limit, and asks again a second later", async () => {
    fake.tuples.add("user:alice reader cluster_group:own");
    fake.mood = "silent";
    await using tested = testedOf();
    const watch = { done: false };
    const asked = (async () => {
      for (let n = 0; n < 50; n += 1) {
        expect(await tested.mayUse("alice", n % 2 === 0 ? "own" : "shared", [`${n}`])).toBe(false);
      }
    })().finally(() => {
      watch.done = true;
    });
    while (!watch.done) await tested.host.advance(10);
    await asked;
    expect(tested.host.clock.nowMs()).toBeLessThanOrEqual(2_020);
    fake.mood = "well";
    fake.tuples.add("user:bob reader cluster_group:own");
    expect(await tested.mayUse("bob", "own", [])).toBe(true);
    await tested.host.advance(1_000);
    expect(await tested.mayUse("alice", "own", [])).toBe(true);
  });

  it("says no when the server is gone, when it may not be connected to, and for more groups than a question holds", async () => {
    fake.tuples.add("user:alice reader cluster_group:own");
    const groups = Array.from({ length: 101 }, (_, n) => `g${n}`);
    await using tested = testedOf();
    expect(await tested.mayUse("alice", "own", groups)).toBe(false);
    expect(fake.asked).toEqual([]);
    expect(await tested.mayUse("alice", "own", groups.slice(1))).toBe(true);
    fake.asked.length = 0;
    await using shut = testedOf(
      {},
      egressBy(() => true),
    );
    expect(await shut.mayUse("alice", "own", [])).toBe(false);
    expect(fake.asked).toEqual([]);
    await using gone = testedOf({ url: "http://127.0.0.1:1" });
    expect(await gone.mayUse("alice", "own", [])).toBe(false);
  });

  it("writes no name so that it means everyone, another type or a relation", async () => {
    await using tested = testedOf();
    for (const name of ["*", "a#member", "team:x", "a b", "100%", "zoë", "a@b.example"]) {
      await tested.mayUse(name, "own", []);
    }
    expect(fake.asked.map(({ tuple }) => tuple.user)).toEqual([
      "user:%2A",
      "user:a%23member",
      "user:team%3Ax",
      "user:a%20b",
      "user:100%25",
      "user:zoë",
      "user:a@b.example",
    ]);
  });

  it("lets cancel whoever an operator list or can_cancel names", async () => {
    fake.tuples.add("user:carol can_cancel cluster_group:own");
    await using tested = testedOf();
    const may = (user: string, group: string | undefined, groups: readonly string[] = []) =>
      tested.authorizer.mayCancel(userOf(user, groups), group);
    expect(await may("carol", "own")).toBe(true);
    expect(await may("carol", "shared")).toBe(false);
    expect(await may("carol", undefined)).toBe(false);
    expect(await may("dave", undefined, ["operators"])).toBe(true);
  });
});

describe("authorizationSchema", () => {
  it("takes an absent provider as none, and names the field that is wrong", () => {
    const openfga = { url: "https://fga.example.com", storeId: "01S" };
    const pathsFor = (more: object): readonly string[] => {
      const parsed = authorizationSchema.safeParse({ provider: "openfga", ...more });
      return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join("."));
    };
    expect(authorizationSchema.parse({})).toEqual({ provider: "none" });
    expect(pathsFor({ openfga })).toEqual([]);
    expect(pathsFor({})).toEqual(["openfga"]);
    expect(pathsFor({ openfga: { ...openfga, storeId: "../other" } })).toEqual(["openfga.storeId"]);
    expect(pathsFor({ openfga: { ...openfga, url: "file:///x" } })).toEqual(["openfga.url"]);
    const keyed = { ...openfga, url: "http://fga.example.com", credentials: { bearer: "k" } };
    expect(pathsFor({ openfga: keyed })).toEqual(["openfga.url"]);
  });
});

function testedOf(more: object = {}, egress = anyEgress) {
  const host = { ...virtualHost(1), egress };
  const parsed = authorizationSchema.parse({
    provider: "openfga",
    openfga: { url: fake.url, storeId: "01S", ...more },
  });
  if (parsed.provider !== "openfga") throw new Error("not OpenFGA");
  const lists: Authorizer = allowListAuthorizer(
    { own: {}, shared: {}, closed: { authorization: { allowUsers: [] } } },
    { groups: ["operators"], roles: [] },
  );
  const authorizer = openFgaAuthorizer(parsed.openfga, lists, host);
  return {
    host,
    authorizer,
    mayUse: (user: string, group: string, groups: readonly string[]) =>
      authorizer.mayUse(userOf(user, groups), group, new AbortController().signal),
    [Symbol.asyncDispose]: () => authorizer[Symbol.asyncDispose](),
  };
}

function userOf(user: string, groups: readonly string[]): AuthContext {
  return { user, groups, roles: [], method: "static" };
}
