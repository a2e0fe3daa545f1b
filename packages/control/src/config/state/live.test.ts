import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import { err, ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import { keyRing } from "../secret/keyRing.ts";
import { memoryStore } from "../../store/memory.ts";
import type { ConfigStore, Store } from "../../store/store.ts";
import type { Configuration, JudgeConfig } from "../configuration.ts";
import { openConfiguration, type OwnedConfiguration } from "../open.ts";

const duck = { kind: "cluster", name: "duck" } as const;
const author = { by: "ann", address: undefined };
const failures = "gateway_config_reload_failures_total";

describe("Live", () => {
  it("follows what another process writes", async () => {
    const { host, store } = replicaSetOf();
    await using writer = await openOf(host, store);
    await using reader = await openOf(host, store);
    const changed = changeOf(reader);
    await put(writer, 1);
    await host.advance(1_000);
    await changed;
    expect(reader.current()?.revision).toEqual(writer.current()?.revision);
    expect(reader.current()?.bytes).toEqual(writer.current()?.bytes);
    expect(reader.get(duck)).toEqual(writer.get(duck));
  });

  it("finds a change whose wake was lost within five seconds", async () => {
    const { host, store } = replicaSetOf();
    const deaf = withConfig(store, { watch: () => ({ [Symbol.asyncDispose]: async () => {} }) });
    await using writer = await openOf(host, store);
    await using reader = await openOf(host, deaf);
    const changed = changeOf(reader);
    await put(writer, 1);
    await host.advance(5_000);
    await changed;
    expect(reader.current()?.revision).toEqual(writer.current()?.revision);
  });

  it("tells nobody who unsubscribed, and one listener's bug stops no other", async () => {
    const { host, store } = replicaSetOf();
    await using config = await openOf(host, store);
    const told: string[] = [];
    config.onChange(() => {
      throw new Error("a bug");
    });
    config.onChange(() => told.push("stays"));
    config.onChange(() => told.push("leaves"))[Symbol.dispose]();
    await put(config, 1);
    expect(told).toEqual(["stays"]);
    expect(host.log.bugs).toHaveLength(1);
  });

  it("serves the last built while the database is gone, says so, and recovers", async () => {
    const { host, store } = replicaSetOf();
    let down = false;
    const shaky = withConfig(store, {
      head: async () => (down ? err(unavailable) : store.config.head()),
    });
    await using config = await openOf(host, shaky);
    await put(config, 1);
    await host.advance(0);
    const { built, confirmedAt } = momentOf(config);
    down = true;
    await host.advance(12_000);
    expect(config.current()).toBe(built);
    expect(config.freshness()).toEqual({
      confirmedAt,
      problem: "the database did not answer (ECONNREFUSED)",
    });
    expect(await config.put(duck, {}, { version: 1 }, author)).toEqual(err(unavailable));
    expect(host.metrics.value(failures, { stage: "read" })).toBe(3);
    expect(host.log.lines.filter(({ event }) => event === "config.reloadFailed")).toHaveLength(1);

    down = false;
    await config.refresh();
    expect(config.freshness().problem).toBeUndefined();
    expect(config.freshness().confirmedAt).toBeGreaterThan(confirmedAt);
  });

  it("gives a read up after ten seconds and serves the last built", async () => {
    const { host, store } = replicaSetOf();
    let slow = false;
    const stuck = withConfig(store, {
      newest: () => (slow ? new Promise(() => {}) : store.config.newest()),
    });
    await using writer = await openOf(host, store);
    await put(writer, 1);
    await using reader = await openOf(host, stuck, { follow: false });
    const { built } = momentOf(reader);
    slow = true;
    await put(writer, 2);
    const refreshed = reader.refresh();
    await host.advance(10_000);
    await refreshed;
    expect(reader.current()).toBe(built);
    expect(reader.freshness().problem).toBe("the database did not answer (tookTooLong)");
    expect(host.metrics.value(failures, { stage: "build" })).toBe(1);

    slow = false;
    await reader.refresh();
    expect(reader.current()?.revision).toEqual(writer.current()?.revision);
  });

  it("leaves no wait and no timer behind", async () => {
    const { host, store } = replicaSetOf();
    const stuck = withConfig(store, { head: () => new Promise(() => {}) });
    const config = await openOf(host, stuck);
    const refreshed = config.refresh();
    await config[Symbol.asyncDispose]();
    await refreshed;
    expect(host.timerCount).toBe(0);
    expect(host.log.lines).toEqual([]);
  });

  it("serves the last built while what is stored does not open", async () => {
    const { host, store } = replicaSetOf();
    let torn = false;
    const broken = withConfig(store, {
      newest: async () => {
        const newest = await store.config.newest();
        if (!torn || !newest.ok || newest.value === undefined) return newest;
        return ok({ ...newest.value, sealed: newest.value.sealed.subarray(1) });
      },
    });
    await using writer = await openOf(host, store);
    await put(writer, 1);
    await using reader = await openOf(host, broken);
    const { built } = momentOf(reader);
    torn = true;
    await put(writer, 2);
    await reader.refresh();
    expect(reader.current()).toBe(built);
    expect(reader.freshness().problem).toMatch(
      /^the stored configuration can not be read: revision \d+\.2 \(malformed\)$/,
    );
    expect(await reader.put(duck, { engine: "duckDb" }, { version: 2 }, author)).toEqual(
      err({ code: "unavailable", detail: "unreadable" }),
    );
  });

  it("serves what another release wrote although it does not fit this one, and says so", async () => {
    const { host, store } = replicaSetOf();
    await using writer = await openOf(host, store);
    await put(writer, 1);
    const strict: JudgeConfig = () => [{ path: "clusters.duck", reason: "is not known any more" }];
    await using reader = await openOf(host, store, { judge: strict });
    expect(reader.current()?.bytes).toEqual(writer.current()?.bytes);
    expect(reader.list("cluster")).toHaveLength(1);
    expect(reader.freshness().problem).toBe(
      "the stored configuration does not fit this release: clusters.duck: is not known any more",
    );
  });

  it("is judged when somebody asks, where most who ask need no judgement", async () => {
    const { host, store } = replicaSetOf();
    await using writer = await openOf(host, store);
    await put(writer, 1);
    const strict: JudgeConfig = () => [{ path: "clusters.duck", reason: "is not known any more" }];
    const options = { judge: strict, judgedWhen: "asked", follow: false } as const;
    await using reader = await openOf(host, store, options);
    await reader.refresh();
    expect(reader.freshness().problem).toBeUndefined();
    await reader.judged();
    expect(reader.freshness().problem).toMatch(/does not fit this release: clusters.duck/);
    expect(await reader.put(duck, { engine: "duckDb" }, { version: 1 }, author)).toMatchObject({
      error: { code: "invalid" },
    });
  });

  it("does not go back with a database that was restored, until a new epoch begins", async () => {
    const { host, store } = replicaSetOf();
    const { store: backup } = replicaSetOf(host);
    let restored = false;
    const config = Object.fromEntries(
      (["head", "read", "newest", "commit"] as const).map((key) => [
        key,
        (change: never) => (restored ? backup : store).config[key](change),
      ]),
    );
    await using other = await openOf(host, backup);
    await put(other, 1);
    await using live = await openOf(host, withConfig(store, config), { follow: false });
    await put(live, 1);
    await put(live, 2);
    const { built } = momentOf(live);
    restored = true;
    await live.refresh();
    expect(live.current()).toBe(built);
    expect(live.freshness().problem).toMatch(/begin a new epoch$/);
    expect((await live.put(duck, { engine: "duckDb" }, { version: 2 }, author)).ok).toBe(false);

    const begun = await live.newEpoch(author);
    expect(begun).toMatchObject({ ok: true, value: { changed: true, revision: { sequence: 1 } } });
    expect(live.current()?.body).toEqual(other.current()?.body);
    expect(live.freshness().problem).toBeUndefined();
  });
});

const unavailable = { code: "unavailable", detail: "ECONNREFUSED" } as const;

interface Options {
  readonly follow?: boolean;
  readonly judge?: JudgeConfig;
}

function replicaSetOf(host = virtualHost(1)) {
  return { host, store: memoryStore(host.clock) };
}

function withConfig(store: Store, config: Partial<ConfigStore>): Store {
  return { ...store, config: { ...store.config, ...config } };
}

async function openOf(
  host: VirtualHost,
  store: Store,
  options: Options = {},
): Promise<OwnedConfiguration> {
  const { clock, log, metrics } = host;
  const keys = keyRing([new Secret("k".repeat(32))], (length) => host.randomBytes(length));
  const opened = await openConfiguration({ store, keys, clock, log, metrics, ...options });
  if (!opened.ok) throw new Error(opened.error.code);
  return opened.value;
}

/** Writes the cluster for the `time`th time. */
async function put(config: Configuration, time: number): Promise<void> {
  const version = config.get(duck)?.version;
  const expected = version === undefined ? "absent" : { version };
  const written = await config.put(duck, { engine: "duckDb", poolSize: time }, expected, author);
  if (!written.ok) throw new Error(JSON.stringify(written.error));
}

function momentOf(config: Configuration) {
  return { built: config.current(), ...config.freshness() };
}

/** Compressing is real work in a real thread, which no virtual clock waits for. */
function changeOf(config: Configuration): Promise<void> {
  return new Promise((resolve) => {
    const subscription = config.onChange(() => {
      subscription[Symbol.dispose]();
      resolve();
    });
  });
}
