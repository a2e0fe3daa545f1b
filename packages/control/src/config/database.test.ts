/** The configuration over a real database, which reads JSON and bytes back in its own way. */
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keyRing } from "./secret/keyRing.ts";
import { drizzleStore } from "../store/drizzle.ts";
import { emptyTables, testDatabase, type TestDatabase } from "../store/rig/database.ts";
import { openConfiguration, type OwnedConfiguration } from "./open.ts";

/** The first start of PGlite takes seconds, more on a busy machine. */
const testTimeoutMs = 60_000;
const author = { by: "ann", address: undefined };
const group = { kind: "clusterGroup", name: "g" } as const;
const history = { kind: "setting", name: "history" } as const;

let shared: TestDatabase | undefined;
beforeAll(async () => {
  shared = await testDatabase();
}, testTimeoutMs);
afterAll(async () => {
  await shared?.[Symbol.asyncDispose]();
});

describe("openConfiguration over PGlite", { timeout: testTimeoutMs }, () => {
  it("serves what was written to the byte, in this process and in the next", async () => {
    await empty();
    const config = await openOf("old");
    await config.seed(fileOf("first"), author);
    const odd = { a: '\u{1f600}\u00e9"\\\n', "10": "x", "9": "y" };
    const limits = { maxRunningQueries: 2, weight: 0.1, maxRows: 9_007_199_254_740_991 };
    const body = { members: ["duck"], ...limits, defaultTags: odd };
    expect(await config.put(group, body, { version: 1 }, author)).toMatchObject({ ok: true });

    const next = await openOf("old");
    expect(next.current()).toEqual(config.current());
    expect(next.get(group)).toEqual(config.get(group));
    expect(await next.import(config.export(), author)).toMatchObject({ value: { changed: false } });
  });

  it("diffs, rolls back, begins a new epoch and changes its key", async () => {
    await empty();
    const config = await openOf("old");
    await config.seed(fileOf("first"), author);
    const { epoch, hash } = config.current()?.revision ?? { epoch: 0, hash: "" };
    await config.put(history, { auth: { bearer: "second" } }, { version: 1 }, author);
    const set = { set: true };
    expect(await config.diff({ epoch, sequence: 1 }, { epoch, sequence: 2 })).toMatchObject({
      value: [{ object: history, changes: [{ path: "auth.bearer", from: set, to: set }] }],
    });
    expect(await config.rollback({ epoch, sequence: 1 }, author)).toMatchObject({
      value: { changed: true, revision: { epoch, sequence: 3, hash } },
    });
    expect(await config.newEpoch(author)).toMatchObject({ value: { revision: { hash } } });

    const both = await openOf("new", "old");
    expect(await both.rekey(2)).toEqual({ ok: true, value: 5 });
    const after = await openOf("new");
    expect(after.current()).toEqual(config.current());
    expect(after.current()?.body.history).toEqual({ auth: { bearer: "first" } });
  });

  it("gives two writers one after the other", async () => {
    await empty();
    const [one, two] = [await openOf("old"), await openOf("old")];
    await one.seed(fileOf("first"), author);
    const made = await Promise.all(
      ["a", "b", "c", "d"].map((name, index) =>
        (index % 2 === 0 ? one : two).put(
          { kind: "cluster", name },
          { engine: "duckDb" },
          "absent",
          author,
        ),
      ),
    );
    expect(made.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    await one.refresh();
    expect(one.list("cluster").map(({ name }) => name)).toEqual(["a", "b", "c", "d", "duck"]);
    expect(one.current()?.revision.sequence).toBe(5);
  });
});

async function empty(): Promise<void> {
  if (shared === undefined) throw new Error("the database did not start");
  await emptyTables(shared.database);
}

async function openOf(current: string, ...previous: string[]): Promise<OwnedConfiguration> {
  if (shared === undefined) throw new Error("the database did not start");
  const host = virtualHost(1);
  const { clock, log, metrics } = host;
  const secret = (name: string) => new Secret(name.padEnd(32, "-"));
  const ring = [secret(current), ...previous.map(secret)] as const;
  const keys = keyRing(ring, (length) => host.randomBytes(length));
  const store = drizzleStore(shared.database, { clock });
  const opened = await openConfiguration({ store, keys, clock, log, metrics, follow: false });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  return opened.value;
}

function fileOf(bearer: string) {
  return {
    gateway: { workerApi: { history: { auth: { bearer } } } },
    clusters: { duck: { engine: "duckDb" } },
    clusterGroups: { g: { members: ["duck"], maxRunningQueries: 1 } },
  };
}
