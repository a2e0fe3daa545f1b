import { compareRevisions, type Revision } from "@gateway/contract/revision.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { err } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyRing } from "./secret/keyRing.ts";
import { memoryStore } from "../store/memory.ts";
import type { DocumentName, Store, StoredRevision } from "../store/store.ts";
import type { Configuration, Expected } from "./configuration.ts";
import { keyOf } from "./file.ts";
import { openConfiguration, type OwnedConfiguration } from "./open.ts";

const author = { by: "ann", address: undefined };
/** The virtual clock's. */
const firstEpoch = 1_767_225_600;
/** Letters that a bcrypt hash may have as well. */
const canary = "CANARYcanary";

describe("Changes", () => {
  it("keeps order, loses no update and shows no secret, whatever two writers do", async () => {
    const safe = fc.asyncProperty(fc.array(steps, { maxLength: 12 }), async (script) => {
      const fleet = await fleetOf();
      for (const step of script) await run(fleet, step);
      const log = await logOf(fleet.store);

      expectOrder(log);
      expect(new Set(fleet.builtOn).size).toBe(fleet.builtOn.length);
      for (const { config } of fleet.writers) {
        await config.refresh();
        expect(config.current()?.revision).toEqual(log.at(-1)?.revision);
        expect(await config.import(config.export(), author)).toMatchObject({
          ok: true,
          value: { changed: false },
        });
      }
      expect(await logOf(fleet.store)).toHaveLength(log.length);
      await expectNoCanary(fleet, log);
    });
    await fc.assert(safe, { numRuns: 150 });
  }, 60_000);

  it("plans again on the new head when another process was faster", async () => {
    const { writers } = await fleetOf();
    const [one, two] = writers;
    const made = await Promise.all([
      one.config.put(duckOf("a"), { engine: "duckDb" }, "absent", author),
      two.config.put(duckOf("b"), { engine: "duckDb" }, "absent", author),
    ]);
    expect(made.map(({ ok }) => ok)).toEqual([true, true]);
    await one.config.refresh();
    expect(one.config.list("cluster").map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it("lets one of two writers win who expect the same version", async () => {
    const { writers } = await fleetOf();
    const [one, two] = writers;
    await one.config.put(duckOf("a"), { engine: "duckDb" }, "absent", author);
    const version = one.config.get(duckOf("a"))?.version ?? 0;
    const put = (config: Configuration, poolSize: number) =>
      config.put(duckOf("a"), { engine: "duckDb", poolSize }, { version }, author);
    const made = await Promise.all([put(one.config, 1), put(two.config, 2), put(one.config, 3)]);
    expect(made.filter(({ ok }) => ok)).toHaveLength(1);
    const lost = err({ code: "lostUpdate", current: version + 1 });
    expect(made.filter(({ ok }) => !ok)).toEqual([lost, lost]);
  });

  it("tells a writer to come again after sixteen lost races", async () => {
    const host = virtualHost(1);
    const store = memoryStore(host.clock);
    let commits = 0;
    const commit: Store["config"]["commit"] = async () => {
      commits += 1;
      return { ok: true, value: "moved" };
    };
    const config = await openOf({ ...store, config: { ...store.config, commit } });
    const refusal = err({ code: "unavailable", detail: "contended" });
    expect(await config.put(duckOf("a"), { engine: "duckDb" }, "absent", author)).toEqual(refusal);
    expect(commits).toBe(16);
  });

  it("says that nobody knows when the store does not answer, and goes on with the next write", async () => {
    const host = virtualHost(1);
    const store = memoryStore(host.clock);
    let answers = 0;
    const commit: Store["config"]["commit"] = async (change) => {
      answers += 1;
      if (answers > 1) return store.config.commit(change);
      await store.config.commit(change);
      return err({ code: "unavailable", detail: "08006" });
    };
    const config = await openOf({ ...store, config: { ...store.config, commit } });
    const put = (name: string) => config.put(duckOf(name), { engine: "duckDb" }, "absent", author);
    expect(await put("a")).toEqual(err({ code: "unavailable", detail: "08006" }));
    expect(await put("b")).toMatchObject({ ok: true, value: { revision: { sequence: 2 } } });
    expect(config.list("cluster")).toHaveLength(2);
  });

  it("asks the store for nothing before a change that fits, and for the head before it refuses one", async () => {
    const store = memoryStore(virtualHost(1).clock);
    const asked: string[] = [];
    const config = await openOf({
      ...store,
      config: {
        ...store.config,
        head: () => {
          asked.push("head");
          return store.config.head();
        },
        read: () => {
          asked.push("read");
          return store.config.read();
        },
      },
    });
    await config.seed({}, author);
    const since = () => asked.splice(0);
    since();
    await config.put(duckOf("a"), { engine: "duckDb" }, "absent", author);
    expect(since()).toEqual([]);
    const again = await config.put(duckOf("a"), { engine: "duckDb" }, "absent", author);
    expect(again).toMatchObject(err({ code: "lostUpdate" }));
    expect(since()).toEqual(["head"]);
  });

  it("leaves what it wrote to itself while a read is woken by its own commit", async () => {
    const store = memoryStore(virtualHost(1).clock);
    let reads = 0;
    let woken: Promise<void> | undefined;
    const config: OwnedConfiguration = await openOf({
      ...store,
      config: {
        ...store.config,
        commit: async (change) => {
          const done = await store.config.commit(change);
          // A notification that overtakes the answer of the commit.
          woken = config.refresh();
          await store.config.head();
          return done;
        },
        read: () => {
          reads += 1;
          return store.config.read();
        },
      },
    });
    reads = 0;
    await config.seed({ clusters: { a: { engine: "duckDb" } } }, author);
    await woken;
    expect(reads).toBe(0);
    expect(config.freshness().problem).toBeUndefined();
    expect(config.current()?.revision.sequence).toBe(1);
  });

  it("refuses a write behind a thousand that wait", async () => {
    const config = await openOf(memoryStore(virtualHost(1).clock));
    const puts = Array.from({ length: 1_001 }, (_, index) =>
      config.put(duckOf("a"), { engine: "duckDb", poolSize: index }, { version: 1 }, author),
    );
    expect(await puts.at(-1)).toEqual(err({ code: "unavailable", detail: "busy" }));
    expect(await puts.at(-2)).toEqual(err({ code: "lostUpdate", current: undefined }));
  });
});

interface Writer {
  readonly config: OwnedConfiguration;
  /** Versions as the writer saw them when it looked last. */
  readonly seen: Map<string, number>;
}

interface Fleet {
  readonly store: Store;
  readonly writers: readonly [Writer, Writer];
  /** `object@version` that each successful change was made on. */
  readonly builtOn: string[];
}

type Step =
  | { readonly kind: "look"; readonly by: 0 | 1 }
  | { readonly kind: "put"; readonly by: 0 | 1; readonly write: Write }
  | { readonly kind: "remove"; readonly by: 0 | 1; readonly object: DocumentName }
  | { readonly kind: "import"; readonly by: 0 | 1; readonly writes: readonly Write[] }
  | { readonly kind: "rollback"; readonly by: 0 | 1; readonly back: number }
  | { readonly kind: "newEpoch"; readonly by: 0 | 1 }
  | { readonly kind: "both"; readonly one: Write; readonly two: Write };

interface Write {
  readonly object: DocumentName;
  readonly body: object;
}

const writer = fc.constantFrom(0 as const, 1 as const);
const hash = `$2b$10$${canary.padEnd(53, "x")}`;
const writes: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    object: fc.constantFrom("a", "b").map(duckOf),
    body: fc.integer({ min: 1, max: 3 }).map((poolSize) => ({ engine: "duckDb", poolSize })),
  }),
  fc.record({
    object: fc.constant<DocumentName>({ kind: "clusterGroup", name: "g" }),
    body: fc
      .subarray(["a", "b"], { minLength: 1 })
      .map((members) => ({ members, maxRunningQueries: 1 })),
  }),
  fc.record({
    object: fc.constant<DocumentName>({ kind: "setting", name: "history" }),
    body: fc.record({
      endpoint: fc.constantFrom("https://a.example", "https://b.example"),
      auth: fc.record({
        bearer: fc.constantFrom<unknown>(`${canary}1`, `${canary}2`, { set: true }),
      }),
    }),
  }),
  fc.record({
    object: fc.constant<DocumentName>({ kind: "setting", name: "auth" }),
    body: fc.constantFrom<unknown>(hash, { set: true }).map((passwordHash) => ({
      provider: "static",
      staticUsers: { users: { ann: { passwordHash } } },
    })),
  }),
  fc.record({
    object: fc.constant<DocumentName>({ kind: "routing", name: "routing" }),
    body: fc.constant({ routingFallback: "g" }),
  }),
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("look" as const), by: writer }),
  fc.record({ kind: fc.constant("put" as const), by: writer, write: writes }),
  fc.record({ kind: fc.constant("put" as const), by: writer, write: writes }),
  fc.record({ kind: fc.constant("both" as const), one: writes, two: writes }),
  fc.record({
    kind: fc.constant("remove" as const),
    by: writer,
    object: writes.map(({ object }) => object),
  }),
  fc.record({
    kind: fc.constant("import" as const),
    by: writer,
    writes: fc.array(writes, { maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant("rollback" as const), by: writer, back: fc.nat(9) }),
  fc.record({ kind: fc.constant("newEpoch" as const), by: writer }),
);

async function run(fleet: Fleet, step: Step): Promise<void> {
  switch (step.kind) {
    case "look":
      return look(fleet.writers[step.by]);
    case "put":
      return putAs(fleet, fleet.writers[step.by], step.write);
    case "both": {
      const [one, two] = fleet.writers;
      await Promise.all([putAs(fleet, one, step.one), putAs(fleet, two, step.two)]);
      return undefined;
    }
    case "remove": {
      const { config, seen } = fleet.writers[step.by];
      const version = seen.get(keyOf(step.object)) ?? 1;
      await config.remove(step.object, { version }, author);
      return undefined;
    }
    case "import": {
      const file = Object.assign({}, ...step.writes.map(fileOf)) as object;
      await fleet.writers[step.by].config.import(file, author);
      return undefined;
    }
    case "rollback": {
      const log = await logOf(fleet.store);
      const to = log.at(-1 - (step.back % Math.max(1, log.length)))?.revision;
      if (to !== undefined) await fleet.writers[step.by].config.rollback(to, author);
      return undefined;
    }
    case "newEpoch":
      await fleet.writers[step.by].config.newEpoch(author);
      return undefined;
  }
}

async function look({ config, seen }: Writer): Promise<void> {
  await config.refresh();
  seen.clear();
  for (const kind of ["cluster", "clusterGroup", "routing", "setting"] as const) {
    for (const view of config.list(kind)) seen.set(keyOf(view), view.version);
  }
}

/** Puts with the version seen last, which may be an old one. */
async function putAs(
  fleet: Fleet,
  { config, seen }: Writer,
  { object, body }: Write,
): Promise<void> {
  const version = seen.get(keyOf(object));
  const expected: Expected = version === undefined ? "absent" : { version };
  const made = await config.put(object, body, expected, author);
  if (!made.ok) return;
  const { revision, changed, view } = made.value;
  if (changed && version !== undefined) {
    expect(view.version, "the version after the one it was made on").toBe(version + 1);
    // An object that was carried into a later epoch may have a version that a new one gets again.
    if (revision.epoch === firstEpoch) fleet.builtOn.push(`${keyOf(object)}@${version}`);
  }
  seen.set(keyOf(object), view.version);
}

function fileOf({ object: { kind, name }, body }: Write): object {
  switch (kind) {
    case "cluster":
      return { clusters: { a: { engine: "duckDb" }, b: { engine: "duckDb" }, [name]: body } };
    case "clusterGroup":
      return { clusterGroups: { [name]: body } };
    case "setting":
      return name === "history" ? { gateway: { workerApi: { history: body } } } : { [name]: body };
    case "routing":
    case "script":
      return body;
  }
}

/** Each position is above the one before, and equal content stands there twice only for a new epoch. */
function expectOrder(log: readonly StoredRevision[]): void {
  for (const [index, { revision }] of log.entries()) {
    const before: Revision | undefined = log[index - 1]?.revision;
    if (before === undefined) continue;
    expect(compareRevisions(revision, before)).toBeGreaterThan(0);
    expect(revision.epoch === before.epoch && revision.hash === before.hash).toBe(false);
  }
}

async function expectNoCanary({ store, writers }: Fleet, log: readonly StoredRevision[]) {
  const rows = [
    await store.config.read(),
    await store.audit.list({}, { limit: 1_000, cursor: undefined }),
    log.map((row) => ({ ...row, sealed: Buffer.from(row.sealed).toString("latin1") })),
    ...writers.map(({ config }) => [config.export(), config.list("setting")]),
  ];
  for (const row of rows) expect(JSON.stringify(row)).not.toContain(canary);
}

async function logOf(store: Store): Promise<readonly StoredRevision[]> {
  const page = await store.config.revisions({ limit: 1_000, cursor: undefined });
  if (!page.ok) throw new Error(page.error.code);
  const rows = await Promise.all(
    page.value.items.map(async ({ revision }) => {
      const row = await store.config.revision(revision);
      return row.ok && row.value !== undefined ? [row.value] : [];
    }),
  );
  return rows.flat().toReversed();
}

async function fleetOf(): Promise<Fleet> {
  const store = memoryStore(virtualHost(1).clock);
  const one = { config: await openOf(store), seen: new Map<string, number>() };
  const two = { config: await openOf(store), seen: new Map<string, number>() };
  await one.config.seed({}, author);
  return { store, writers: [one, two], builtOn: [] };
}

async function openOf(store: Store): Promise<OwnedConfiguration> {
  const host = virtualHost(1);
  const { clock, log, metrics } = host;
  const keys = keyRing([new Secret("k".repeat(32))], (length) => host.randomBytes(length));
  const opened = await openConfiguration({ store, keys, clock, log, metrics, follow: false });
  if (!opened.ok) throw new Error(opened.error.code);
  return opened.value;
}

function duckOf(name: string): DocumentName {
  return { kind: "cluster", name };
}
