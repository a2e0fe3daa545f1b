/** The authorizer on OpenFGA; `npm run test:real` starts two and says where. The second is for the test that kills it. */
import { authorizationSchema } from "@gateway/access/group/config.ts";
import { openFgaAuthorizer } from "@gateway/access/group/openfga.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { allowListAuthorizer } from "@gateway/core/route/allowList.ts";
import { describe, expect, it } from "vitest";
import { suspended } from "./suspended.ts";

const url = process.env["GATEWAY_TEST_OPENFGA"] ?? "";
const pid = Number(process.env["GATEWAY_TEST_OPENFGA_PID"]);
const doomedUrl = process.env["GATEWAY_TEST_OPENFGA_DOOMED"] ?? "";
const doomedPid = Number(process.env["GATEWAY_TEST_OPENFGA_DOOMED_PID"]);
const key = process.env["GATEWAY_TEST_OPENFGA_KEY"] ?? "";

const direct = { this: {} };
const people = [{ type: "user" }, { type: "group", relation: "member" }];
const model = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "group",
      relations: { member: direct },
      metadata: { relations: { member: { directly_related_user_types: [{ type: "user" }] } } },
    },
    {
      type: "cluster_group",
      relations: { reader: direct, can_cancel: direct },
      metadata: {
        relations: {
          reader: { directly_related_user_types: [...people, { type: "user", wildcard: {} }] },
          can_cancel: { directly_related_user_types: people },
        },
      },
    },
  ],
};
/** Knows no reader, so under it nobody is one. */
const newerModel = {
  schema_version: "1.1",
  type_definitions: model.type_definitions.slice(0, 2),
};

describe.skipIf(url === "")("OpenFGA", () => {
  it("lets in readers, by their own name and by their groups beside the question", async () => {
    const store = await storeOn(url);
    await store.write("user:alice reader cluster_group:own", "user:zoë reader cluster_group:own");
    await store.write("group:finance#member reader cluster_group:shared");
    await using tested = testedOf(store);
    expect(await tested.mayUse("alice", "own")).toBe(true);
    expect(await tested.mayUse("zoë", "own")).toBe(true);
    expect(await tested.mayUse("bob", "own")).toBe(false);
    expect(await tested.mayUse("alice", "shared")).toBe(false);
    expect(await tested.mayUse("alice", "shared", ["finance"])).toBe(true);
    expect(await tested.mayUse("alice", "shared", ["sales"])).toBe(false);
    const most = Array.from({ length: 99 }, (_, n) => `group ${n}`);
    expect(await tested.mayUse("bob", "shared", [...most, "finance"])).toBe(true);
    expect(await tested.mayUse("bob", "shared", [...most, "other", "finance"])).toBe(false);
  });

  it("takes every name for the one user it is", async () => {
    const store = await storeOn(url);
    await store.write("user:* reader cluster_group:public", "user:a%20b reader cluster_group:own");
    await using tested = testedOf(store);
    expect(await tested.mayUse("*", "public")).toBe(true);
    expect(await tested.mayUse("a b", "own")).toBe(true);
    for (const name of ["*", "user:*", "group:x#member", "a%20b", "#", "o'brien, jr.", "ẞ\u0301"]) {
      expect([name, await tested.mayUse(name, "own", [name])]).toEqual([name, false]);
      // An answer, and no complaint about the question.
      expect([name, await tested.mayUse(name, "public", [name])]).toEqual([name, true]);
    }
  });

  it("judges by the model that is named, else by the newest", async () => {
    const store = await storeOn(url);
    await store.write("user:alice reader cluster_group:own");
    await store.addModel(newerModel);
    await using newest = testedOf(store);
    expect(await newest.mayUse("alice", "own")).toBe(false);
    await using named = testedOf(store, { authorizationModelId: store.firstModel });
    expect(await named.mayUse("alice", "own")).toBe(true);
    await using unknown = testedOf(store, { authorizationModelId: "01JABCDEF00000000000000000" });
    expect(await unknown.mayUse("alice", "own")).toBe(false);
  });

  it("is asked with the key it was preset with; without it, or in another store, the answer is no", async () => {
    const store = await storeOn(url);
    const other = await storeOn(url);
    await store.write("user:alice reader cluster_group:own");
    const noes = [
      { credentials: undefined },
      { credentials: { bearer: "another" } },
      { storeId: other.id },
      { storeId: "01JABCDEF00000000000000000" },
    ];
    for (const more of noes) {
      await using tested = testedOf(store, more);
      expect([more, await tested.mayUse("alice", "own")]).toEqual([more, false]);
    }
  });

  it("lets cancel by can_cancel, which is no right to read", async () => {
    const store = await storeOn(url);
    await store.write("group:support#member can_cancel cluster_group:own");
    await using tested = testedOf(store);
    expect(await tested.mayCancel("carol", ["support"])).toBe(true);
    expect(await tested.mayCancel("carol", [])).toBe(false);
    expect(await tested.mayUse("carol", "own", ["support"])).toBe(false);
  });

  it("is not asked again about a yes until its time is over, and then about what is true now", async () => {
    const store = await storeOn(url);
    await store.write("user:alice reader cluster_group:own");
    await using tested = testedOf(store);
    expect(await tested.mayUse("alice", "own")).toBe(true);
    await store.remove("user:alice reader cluster_group:own");
    expect(await tested.mayUse("alice", "own")).toBe(true);
    await tested.host.advance(5_000);
    expect(await tested.mayUse("alice", "own")).toBe(false);
    await store.write("user:alice reader cluster_group:own");
    expect(await tested.mayUse("alice", "own")).toBe(true);
  });

  it("that has stopped answering refuses within the time limit, and lets in when it goes on", async () => {
    const store = await storeOn(url);
    await store.write("user:alice reader cluster_group:own");
    await using tested = testedOf(store);
    {
      using _ = await suspended(pid);
      expect(await tested.waiting("alice", "own")).toBe(false);
      expect(tested.host.clock.nowMs()).toBeLessThanOrEqual(2_020);
    }
    await tested.host.advance(1_000);
    expect(await tested.mayUse("alice", "own")).toBe(true);
  });

  it("that was killed refuses, also whom it let in when that is no longer remembered", async () => {
    const store = await storeOn(doomedUrl);
    await store.write("user:alice reader cluster_group:own");
    await using tested = testedOf(store);
    expect(await tested.mayUse("alice", "own")).toBe(true);
    process.kill(doomedPid, "SIGKILL");
    await tested.host.advance(5_000);
    expect(await tested.waiting("alice", "own")).toBe(false);
    expect(await tested.waiting("bob", "own")).toBe(false);
  });
});

interface Store {
  readonly place: string;
  readonly id: string;
  readonly firstModel: string;
  addModel(added: object): Promise<void>;
  /** Tuples as `user relation object`. */
  write(...tuples: readonly string[]): Promise<void>;
  remove(tuple: string): Promise<void>;
}

/** One of its own for each test. */
async function storeOn(place: string): Promise<Store> {
  const { id = "" } = await send(`${place}/stores`, { name: "gateway" });
  const models = `${place}/stores/${id}/authorization-models`;
  const { authorization_model_id: firstModel = "" } = await send(models, model);
  const change = async (how: "writes" | "deletes", tuples: readonly string[]): Promise<void> => {
    const keys = tuples.map((tuple) => {
      const [user, relation, object] = tuple.split(" ");
      return { user, relation, object };
    });
    const changed = { [how]: { tuple_keys: keys }, authorization_model_id: firstModel };
    await send(`${place}/stores/${id}/write`, changed);
  };
  return {
    place,
    id,
    firstModel,
    addModel: async (added) => void (await send(models, added)),
    write: (...tuples) => change("writes", tuples),
    remove: (tuple) => change("deletes", [tuple]),
  };
}

interface Answer {
  readonly id?: string;
  readonly authorization_model_id?: string;
}

async function send(to: string, body: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(to, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${to}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

function testedOf(store: Store, more: object = {}) {
  const host = virtualHost(1);
  const parsed = authorizationSchema.parse({
    provider: "openfga",
    openfga: {
      url: store.place,
      storeId: store.id,
      groupType: "group",
      credentials: { bearer: key },
      ...more,
    },
  });
  if (parsed.provider !== "openfga") throw new Error("not OpenFGA");
  const open = { own: {}, shared: {}, public: {} };
  const lists = allowListAuthorizer(open, { groups: [], roles: [] });
  const authorizer = openFgaAuthorizer(parsed.openfga, lists, host);
  const { signal } = new AbortController();
  const mayUse = (user: string, group: string, groups: readonly string[] = []) =>
    authorizer.mayUse(userOf(user, groups), group, signal);
  return {
    host,
    mayUse,
    mayCancel: (user: string, groups: readonly string[]) =>
      authorizer.mayCancel(userOf(user, groups), "own"),
    /** Lets the virtual time pass that a server takes which does not answer. */
    waiting: async (user: string, group: string): Promise<boolean> => {
      const watch = { done: false };
      const asked = mayUse(user, group).finally(() => {
        watch.done = true;
      });
      while (!watch.done) await host.advance(10);
      return asked;
    },
    [Symbol.asyncDispose]: () => authorizer[Symbol.asyncDispose](),
  };
}

function userOf(user: string, groups: readonly string[]): AuthContext {
  return { user, groups, roles: [], method: "static" };
}
