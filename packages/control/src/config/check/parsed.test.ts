import type { Json } from "@gateway/contract/canonical.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigFault, JudgeConfig } from "../configuration.ts";
import { byKey } from "../difference/difference.ts";
import { fileOf, isMap, keyOf, type ConfigObject, type JsonMap } from "../file.ts";
import { judgeFile, judgeObjects } from "./judge.ts";
import { judgedLike } from "./known.ts";
import { fileSchema } from "../objects.ts";
import { parsedOf } from "./parsed.ts";
import { objectsOfFile } from "../plan.ts";
import { casesOf } from "../../../../../test/cases.ts";

describe("parsedOf", () => {
  it("answers what the schema makes of the whole file, however a configuration came about", () => {
    const same = fc.property(objectLists, fc.array(objects, { maxLength: 6 }), (first, puts) => {
      let now = byKey(first);
      expectWhole(now);
      for (const put of puts) {
        const next = new Map(now);
        next.set(keyOf(put), put);
        parsedOf(next, { from: now, put });
        expectWhole(next);
        // As a commit does: the same content in a map of its own.
        now = new Map(next);
        judgedLike(next, now);
        expectWhole(now);
      }
    });
    fc.assert(same, { numRuns: casesOf(250, 2_500) });
  }, 60_000);

  it("reads a document anew under another name, where it may mean something else", () => {
    const body = { engine: "duckDb" };
    const under = (kind: ConfigObject["kind"], name: string) =>
      parsedOf(byKey([{ kind, name, body }])).config;
    expect(under("cluster", "a")?.clusters).toHaveProperty("a");
    expect(under("cluster", "b")?.clusters).toHaveProperty("b");
    expect(under("clusterGroup", "a")).toBeUndefined();
    expect(under("cluster", "not a name")).toBeUndefined();
    expect(under("setting", "clusters")).toBeUndefined();
  });
});

describe("judgeObjects", () => {
  it("finds the faults of the whole file, in the same order", () => {
    const judge = (file: unknown) => [{ path: "process", reason: JSON.stringify(file) }];
    const same = fc.property(objectLists, objects, (first, put) => {
      const now = byKey(first);
      const next = new Map(now).set(keyOf(put), put);
      const from = fileOf(now.values());
      expect(judgeObjects(now, judge)).toEqual(judgeFile(from, judge));
      const to = fileOf(next.values());
      expect(judgeObjects(next, judge, { from: now, put })).toEqual(judgeFile(to, judge));
    });
    fc.assert(same, { numRuns: casesOf(250, 2_500) });
  }, 60_000);

  it("finds them after each of many changes, where most had none", () => {
    const judge = (file: unknown) => poolFaults(file as JsonMap);
    const same = fc.property(fc.array(beside, { maxLength: 12 }), (puts) => {
      let now = byKey(beginning());
      for (const put of puts) {
        const next = new Map(now).set(keyOf(put), put);
        const faults = judgeFile(fileOf(next.values()), judge);
        expect(judgeObjects(next, judge, { from: now, put })).toEqual(faults);
        // As a commit does: only what has no fault is taken, in a map of its own.
        if (faults.length > 0) continue;
        now = new Map(next);
        judgedLike(next, now);
      }
    });
    fc.assert(same, { numRuns: casesOf(250, 2_500) });
  }, 60_000);

  it("asks the groups of a cluster that another word of it ties to a limit", () => {
    const judge = Object.assign(() => [], { leases: true });
    const flight = { engine: "adbc", driver: "flightsql", uri: "grpc+tls://f.example:31337" };
    const account = { "adbc.snowflake.sql.account": "a" };
    const off = { engine: "adbc", driver: "snowflake", dbKwargs: account, enabled: false };
    const clusterOf = (body: JsonMap): ConfigObject => ({ kind: "cluster", name: "a", body });
    const group: ConfigObject = {
      kind: "clusterGroup",
      name: "g",
      body: { members: ["a"], maxRunningQueries: 2 },
    };
    for (const before of [flight, off]) {
      const now = byKey([clusterOf(before), group]);
      expect(judgeObjects(now, judge)).toEqual([]);
      const put = clusterOf({ ...off, enabled: true });
      const next = new Map(now).set(keyOf(put), put);
      const faults = judgeObjects(next, judge, { from: now, put });
      expect(faults.map(({ path }) => path)).toEqual(["clusterGroups.g.maxExecutionSecs"]);
      expect(objectsOfFile(fileOf(next.values()), now, rulesOf(judge))).toMatchObject({
        ok: false,
        error: faults,
      });
      // Where no worker leases slots nothing is asked.
      expect(judgeObjects(next, () => [])).toEqual([]);
    }
  });

  it("asks another judge about all objects", () => {
    const now = byKey(beginning());
    expect(judgeObjects(now, () => [])).toEqual([]);
    const put: ConfigObject = { kind: "cluster", name: "a", body: { engine: "duckDb" } };
    const next = new Map(now).set(keyOf(put), put);
    const faults = [{ path: "clusterGroups.g", reason: "is not welcome" }];
    const judge = (file: unknown) => ((file as JsonMap)["clusterGroups"] ? faults : []);
    expect(judgeObjects(next, judge, { from: now, put })).toEqual(faults);
  });
});

function rulesOf(judge: JudgeConfig) {
  return { judge, refsAllowed: [] };
}

/** A right configuration, whose group depends on the engine of its member and on verified users. */
function beginning(): readonly ConfigObject[] {
  const strategy = { type: "engineAffinity", preference: ["duckDb"] };
  const body = { members: ["a"], maxRunningQueries: 2, strategy };
  return [
    { kind: "cluster", name: "a", body: { engine: "duckDb" } },
    { kind: "cluster", name: "b", body: { engine: "duckDb" } },
    { kind: "clusterGroup", name: "g", body },
  ];
}

/** Faults of a process that takes no pools of three. */
function poolFaults(file: JsonMap): readonly ConfigFault[] {
  return Object.entries(file["clusters"] ?? {}).flatMap(([name, body]) =>
    isMap(body as Json) && (body as JsonMap)["poolSize"] === 3
      ? [{ path: `clusters.${name}.poolSize`, reason: "is three" }]
      : [],
  );
}

/** The same value with its keys in the same order. */
function expectWhole(now: ReadonlyMap<string, ConfigObject>): void {
  const file = fileOf(now.values());
  const parsed = parsedOf(now);
  expect(JSON.stringify(parsed.file)).toBe(JSON.stringify(file));
  const whole = fileSchema.safeParse(file);
  // A setting with the name of a section is not put together, whatever it says.
  const misplaced = now.has("setting/clusters");
  expect(parsed.config).toEqual(whole.success && !misplaced ? whole.data : undefined);
  if (misplaced) return;
  for (const section of ["clusters", "clusterGroups"] as const) {
    const keys = Object.keys(whole.data?.[section] ?? {});
    expect(Object.keys(parsed.config?.[section] ?? {})).toEqual(keys);
  }
}

const names = fc.constantFrom("a", "b", "10", "9", "Z.1");
/** Mostly right, so that the short way is gone often; the wrong ones come seldom. */
const objects: fc.Arbitrary<ConfigObject> = fc.oneof(
  {
    weight: 8,
    arbitrary: objectOf("cluster", names, [
      { engine: "duckDb" },
      { engine: "duckDb", poolSize: 3 },
    ]),
  },
  {
    weight: 8,
    arbitrary: objectOf("clusterGroup", names, [
      { members: ["a"], maxRunningQueries: 2 },
      { members: ["a", "9"], maxRunningQueries: 2, authorization: { allowUsers: ["ann"] } },
    ]),
  },
  {
    weight: 3,
    arbitrary: objectOf("routing", fc.constant("routing"), [
      { routingFallback: "a" },
      { routers: [{ type: "protocolBased", protocols: { postgresWire: "b" } }] },
      { routers: [], routingFallback: "9" },
    ]),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<ConfigObject>(
      { kind: "setting", name: "authorization", body: { provider: "none" } },
      { kind: "setting", name: "history", body: { redaction: "metadata" } },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<ConfigObject>(
      { kind: "cluster", name: "not a name", body: { engine: "duckDb" } },
      { kind: "cluster", name: "a", body: { engine: "duckDb", poolsize: 1 } },
      { kind: "cluster", name: "b", body: null },
      { kind: "clusterGroup", name: "a", body: { members: [] } },
      { kind: "setting", name: "clusters", body: { a: { engine: "duckDb" } } },
      { kind: "setting", name: "catalogProvider", body: {} },
      { kind: "script", name: "s", body: { language: "js" } },
      { kind: "routing", name: "other", body: { routingFallback: "b" } },
    ),
  },
);
/** Clusters that differ in what others see of them, or in nothing that they see. */
const beside: fc.Arbitrary<ConfigObject> = fc.oneof(
  objectOf("cluster", fc.constantFrom("a", "b", "c"), [
    { engine: "duckDb" },
    { engine: "duckDb", poolSize: 2 },
    { engine: "duckDb", poolSize: 3 },
    { engine: "duckDb", poolsize: 2 },
    { engine: "trino", endpoint: "https://trino.test" },
    { engine: "trino", endpoint: "https://other.test" },
    { engine: "trino" },
  ]),
  objectOf("clusterGroup", fc.constantFrom("g"), [
    { members: ["a"], maxRunningQueries: 2 },
    { members: ["c"], maxRunningQueries: 2 },
  ]),
);
const objectLists = fc
  .array(objects, { maxLength: 8 })
  .map((list): readonly ConfigObject[] => [...byKey(list).values()]);

/** A copy for each object, as documents are: none belongs to two. */
function objectOf(
  kind: ConfigObject["kind"],
  name: fc.Arbitrary<string>,
  bodies: readonly Json[],
): fc.Arbitrary<ConfigObject> {
  return fc.record({
    kind: fc.constant(kind),
    name,
    body: fc.constantFrom(...bodies).map((body) => structuredClone(body)),
  });
}
