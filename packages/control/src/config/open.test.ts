import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { err } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import { keyRing } from "./secret/keyRing.ts";
import { memoryStore } from "../store/memory.ts";
import type { DocumentName, Store } from "../store/store.ts";
import type { ConfigRefusal } from "./configuration.ts";
import { openConfiguration, type ConfigurationParts } from "./open.ts";

const author = { by: "ann", address: "192.0.2.1" };
const duck = { kind: "cluster", name: "duck" } as const;
const group = { kind: "clusterGroup", name: "g" } as const;
const routing = { kind: "routing", name: "routing" } as const;
const history = { kind: "setting", name: "history" } as const;
const secret = "correct horse battery staple";

describe("openConfiguration", () => {
  it("has nothing to serve over an empty store", async () => {
    const { config } = await openOf();
    expect(config.current()).toBeUndefined();
    expect(config.export()).toEqual({});
    expect(config.freshness().problem).toBeUndefined();
  });

  it("refuses to start while a row names a key that is missing", async () => {
    const { store, keys } = await seededOf();
    const opened = await tryOpen({ store, keys: ringOf("other") });
    expect(opened).toEqual(err({ code: "missingKeys", keyIds: [keys.currentId] }));
  });

  it("serves the same bytes in the next process", async () => {
    const { store, config } = await seededOf();
    const again = await openOf({ store });
    expect(again.config.current()).toEqual(config.current());
    expect(again.config.list("setting")).toEqual(config.list("setting"));
  });
});

describe("put", () => {
  it("answers the object as readers see it, with the version to expect next", async () => {
    const { config } = await seededOf();
    const written = await config.put(duck, { engine: "duckDb", poolSize: 2 }, at(1), author);
    const view = { ...duck, body: { engine: "duckDb", poolSize: 2 }, version: 2, updatedBy: "ann" };
    expect(written).toMatchObject({ ok: true, value: { changed: true, view } });
    expect(config.get(duck)).toMatchObject(view);
    expect(config.current()?.revision.sequence).toBe(2);
    expect(config.current()?.body.clusters).toEqual({ duck: { engine: "duckDb", poolSize: 2 } });
  });

  it("makes no revision of equal content", async () => {
    const { config } = await seededOf();
    const before = config.current();
    const written = await config.put(duck, { engine: "duckDb" }, at(1), author);
    expect(written).toMatchObject({ ok: true, value: { changed: false, view: { version: 1 } } });
    expect(config.current()).toBe(before);
  });

  it("refuses a lost update and names the version that is there", async () => {
    const { config } = await seededOf();
    const body = { engine: "duckDb" };
    expect(await config.put(duck, body, at(7), author)).toEqual(lost(1));
    expect(await config.put(duck, body, "absent", author)).toEqual(lost(1));
    const other = { kind: "cluster", name: "other" } as const;
    expect(await config.put(other, body, at(1), author)).toEqual(lost(undefined));
  });

  it("fits no ETag of an object that was deleted to the one made in its place", async () => {
    const { config } = await seededOf();
    const other = { kind: "cluster", name: "other" } as const;
    await config.put(other, { engine: "duckDb" }, "absent", author);
    const version = config.get(other)?.version ?? 0;
    await config.remove(other, at(version), author);
    await config.put(other, { engine: "duckDb", poolSize: 2 }, "absent", author);
    const stale = await config.put(other, { engine: "duckDb" }, at(version), author);
    expect(stale.ok ? "written" : stale.error.code).toBe("lostUpdate");
  });

  it("refuses with every path, and writes nothing", async () => {
    const { config } = await seededOf();
    const before = config.current();
    const body = { members: ["duck", "gone"], maxRunningQueries: 1, orders: 1 };
    expect(faultsOf(await config.put(group, body, at(1), author))).toEqual([
      "clusterGroups.g.orders: unknown key; did you mean order?",
    ]);
    const { orders: _orders, ...rest } = body;
    expect(faultsOf(await config.put(group, rest, at(1), author))).toEqual([
      'clusterGroups.g.members[1]: there is no cluster "gone"; known: duck',
    ]);
    expect(config.current()).toBe(before);
  });

  it.each<[DocumentName, unknown, string]>([
    [{ kind: "script", name: "a" }, { use: "route" }, "scripts.a.source: is missing; must be text"],
    [
      { kind: "setting", name: "catalogProvider" },
      { provider: "unity" },
      "catalogProvider.unity: is missing; must be a map of keys",
    ],
    [
      { kind: "setting", name: "x" },
      {},
      "x: unknown setting; known: auth, authorization, accessControl, guardrails, catalogProvider, translation, history",
    ],
    [
      { kind: "cluster", name: "a b" },
      { engine: "duckDb" },
      'clusters."a b": the name must be letters, digits, dots, dashes or underscores',
    ],
    [
      duck,
      undefined,
      "clusters.duck: must be text, a number, true, false, null, a list or a map of keys",
    ],
    [duck, "text", "clusters.duck: must be a map of keys, not text"],
    [
      routing,
      { routers: [], clusters: {} },
      "clusters: unknown key; known: routers, routingFallback",
    ],
    [routing, { routingFallback: "x" }, 'routingFallback: there is no cluster group "x"; known: g'],
  ])("refuses %j with the body %j", async (object, body, line) => {
    const { config } = await seededOf();
    const version = config.get(object)?.version;
    const expected = version === undefined ? "absent" : at(version);
    expect(faultsOf(await config.put(object, body, expected, author))).toEqual([line]);
    const faults = await config.validate(object, body);
    expect(faults.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([line]);
  });

  it("keeps a secret that is sent as {set: true}, and asks for it where the address changes", async () => {
    const { config } = await seededOf();
    const body = { redaction: "metadata", ...historyOf({ set: true }) };
    expect(await config.put(history, body, at(1), author)).toMatchObject({ ok: true });
    expect(config.current()?.body.history).toEqual({ redaction: "metadata", ...historyOf(secret) });
    const moved = { ...historyOf({ set: true }), endpoint: "https://b.example" };
    expect(faultsOf(await config.put(history, moved, at(2), author))).toEqual([
      "gateway.workerApi.history.auth.bearer: must be given again, because gateway.workerApi.history.endpoint changes",
    ]);
  });

  it("leaves an audit row that names what changed, and no secret", async () => {
    const { config, store } = await seededOf();
    await config.put(history, historyOf("another secret"), at(1), author);
    const audit = await store.audit.list({}, { limit: 10, cursor: undefined });
    const row = audit.ok ? audit.value.items[0] : undefined;
    expect(row).toMatchObject({
      by: "ann",
      address: "192.0.2.1",
      action: "put",
      target: "setting/history",
      detail: { put: ["setting/history"], deleted: [], count: 1 },
    });
    expect(JSON.stringify(audit)).not.toMatch(/another secret|correct horse/);
  });
});

describe("remove", () => {
  it("removes what nothing refers to", async () => {
    const { config } = await seededOf();
    expect(await config.remove(group, at(1), author)).toMatchObject({ ok: true });
    expect(await config.remove(duck, at(1), author)).toMatchObject({ ok: true });
    expect(config.current()?.body.clusters).toEqual({});
  });

  it("refuses with every place that refers to it", async () => {
    const { config } = await seededOf();
    const routers = [
      { type: "header", headerName: "a", headerValueToGroup: { x: "g" } },
      { type: "tags", rules: [{ tags: { a: null }, targetGroup: "g" }] },
    ];
    await config.put(routing, { routers, routingFallback: "g" }, "absent", author);
    expect(faultsOf(await config.remove(duck, at(1), author))).toEqual([
      'clusterGroups.g.members[0]: there is no cluster "duck"',
    ]);
    const places = faultsOf(await config.remove(group, at(1), author));
    expect(places.map((line) => line.split(":")[0])).toEqual([
      "routers[0].headerValueToGroup.x",
      "routers[1].rules[0].targetGroup",
      "routingFallback",
    ]);
  });

  it("tells what is missing from what has another version", async () => {
    const { config } = await seededOf();
    const other = { kind: "cluster", name: "other" } as const;
    expect(await config.remove(other, at(1), author)).toEqual(err({ code: "missing" }));
    expect(await config.remove(duck, at(2), author)).toEqual(lost(1));
  });
});

describe("export and import", () => {
  it("shows no secret, and importing it changes nothing", async () => {
    const { config } = await seededOf();
    const file = config.export();
    expect(JSON.stringify(file)).not.toContain("horse");
    expect(file).toMatchObject({ gateway: { workerApi: { history: historyOf({ set: true }) } } });
    const before = config.current();
    expect(await config.import(file, author)).toMatchObject({
      ok: true,
      value: { changed: false },
    });
    expect(config.current()).toBe(before);
  });

  it("replaces the whole in one revision", async () => {
    const { config } = await seededOf();
    const file = { clusters: { other: { engine: "duckDb" } } };
    expect(await config.import(file, author)).toMatchObject({ ok: true, value: { changed: true } });
    expect(config.export()).toEqual(file);
    expect(config.current()?.revision.sequence).toBe(2);
  });

  it("refuses with every path of the file", async () => {
    const { config } = await seededOf();
    expect(faultsOf(await config.import({ clusters: [], routers: {}, a: 1 }, author))).toHaveLength(
      3,
    );
    expect(faultsOf(await config.import(null, author))).toEqual([": must be a map of keys"]);
  });

  it("compares a file with what there is", async () => {
    const { config } = await seededOf();
    const file = { clusters: { duck: { engine: "duckDb", poolSize: 2 } } };
    expect(await config.compare(file)).toMatchObject({
      ok: true,
      value: [
        { object: duck, kind: "changed", changes: [{ path: "poolSize", to: 2 }] },
        { object: group, kind: "removed" },
        { object: history, kind: "removed" },
      ],
    });
    expect(await config.compare(fileOf())).toEqual({ ok: true, value: [] });
  });
});

describe("seed", () => {
  it("fills an empty store once, in one change", async () => {
    const { config, store } = await seededOf();
    expect(config.current()?.revision).toMatchObject({ epoch: 1_767_225_600, sequence: 1 });
    expect(await config.seed({ clusters: {} }, author)).toMatchObject({
      ok: true,
      value: { changed: false, revision: { sequence: 1 } },
    });
    const again = await openOf({ store });
    expect(await again.config.seed({}, author)).toMatchObject({ value: { changed: false } });
  });

  it("makes a revision of an empty file", async () => {
    const { config } = await openOf();
    expect(await config.seed({}, author)).toMatchObject({ ok: true, value: { changed: true } });
    expect(config.current()?.body.clusters).toEqual({});
  });

  it("may use references that editors may not", async () => {
    const { config } = await openOf();
    const file = { gateway: { workerApi: { history: historyOf({ secretRef: "env:TOKEN" }) } } };
    expect(faultsOf(await config.seed(file, author))).toHaveLength(1);
    expect(await config.seed(file, author, ["env:*"])).toMatchObject({ ok: true });
    expect(await config.import(config.export(), author)).toMatchObject({
      value: { changed: false },
    });
    const moved = { ...historyOf({ secretRef: "env:TOKEN" }), endpoint: "https://b.example" };
    expect(faultsOf(await config.put(history, moved, at(1), author))).toHaveLength(1);
  });
});

describe("revisions, diff and rollback", () => {
  it("lists what was done, newest first", async () => {
    const { config } = await seededOf();
    await config.put(duck, { engine: "duckDb", poolSize: 2 }, at(1), author);
    const page = await config.revisions({ limit: 10, cursor: undefined });
    const summaries = page.ok ? page.value.items.map(({ summary }) => summary) : [];
    expect(summaries).toEqual(["put cluster duck", "seed"]);
  });

  it("tells what lies between two revisions, without secrets", async () => {
    const { config } = await seededOf();
    const { epoch } = config.current()?.revision ?? { epoch: 0 };
    await config.put(history, historyOf("another secret"), at(1), author);
    const diff = await config.diff({ epoch, sequence: 1 }, { epoch, sequence: 2 });
    const set = { set: true };
    expect(diff).toEqual({
      ok: true,
      value: [
        {
          object: history,
          kind: "changed",
          changes: [{ path: "auth.bearer", from: set, to: set }],
        },
      ],
    });
    expect(await config.diff({ epoch, sequence: 1 }, { epoch, sequence: 9 })).toEqual(
      err({ code: "missing" }),
    );
  });

  it("rolls back to the content of an older revision as a new one, secrets included", async () => {
    const { config } = await seededOf();
    const { epoch, hash } = config.current()?.revision ?? { epoch: 0, hash: "" };
    await config.put(history, historyOf("another secret"), at(1), author);
    await config.put(duck, { engine: "duckDb", poolSize: 2 }, at(1), author);
    const back = await config.rollback({ epoch, sequence: 1 }, author);
    expect(back).toMatchObject({
      value: { changed: true, revision: { epoch, sequence: 4, hash } },
    });
    expect(config.current()?.body.history).toEqual(historyOf(secret));
    expect(config.get(duck)?.version).toBe(3);
    const again = await config.rollback({ epoch, sequence: 4 }, author);
    expect(again).toMatchObject({ ok: true, value: { changed: false } });
  });

  it("begins a new epoch above the old one with the same content", async () => {
    const { config } = await seededOf();
    const before = config.current()?.revision;
    const begun = await config.newEpoch(author);
    expect(begun).toMatchObject({
      value: { revision: { epoch: (before?.epoch ?? 0) + 1, sequence: 1, hash: before?.hash } },
    });
  });
});

async function seededOf() {
  const opened = await openOf();
  const seeded = await opened.config.seed(fileOf(), author);
  if (!seeded.ok) throw new Error(JSON.stringify(seeded.error));
  return opened;
}

async function openOf(parts: { readonly store?: Store } = {}) {
  const host = virtualHost(1);
  const store = parts.store ?? memoryStore(host.clock);
  const keys = ringOf("k");
  const opened = await tryOpen({ store, keys });
  if (!opened.ok) throw new Error(opened.error.code);
  return { config: opened.value, store, keys };
}

function tryOpen(parts: Pick<ConfigurationParts, "store" | "keys">) {
  const { clock, log, metrics } = virtualHost(1);
  return openConfiguration({ ...parts, clock, log, metrics, follow: false });
}

function ringOf(name: string) {
  const host = virtualHost(1);
  return keyRing([new Secret(name.padEnd(32, "-"))], (length) => host.randomBytes(length));
}

function fileOf() {
  return {
    gateway: { role: "standalone", workerApi: { history: historyOf(secret) } },
    clusters: { duck: { engine: "duckDb" } },
    clusterGroups: { g: { members: ["duck"], maxRunningQueries: 1 } },
  };
}

function historyOf(bearer: unknown) {
  return { endpoint: "https://a.example", auth: { bearer } };
}

function at(version: number) {
  return { version };
}

function lost(current: number | undefined) {
  return err({ code: "lostUpdate", current });
}

function faultsOf(
  result: { readonly ok: true } | { readonly ok: false; readonly error: ConfigRefusal },
): readonly string[] {
  if (result.ok || result.error.code !== "invalid") throw new Error(JSON.stringify(result));
  return result.error.faults.map(({ path, reason }) => `${path}: ${reason}`);
}
