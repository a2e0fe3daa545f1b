import { accessControlSchema } from "@gateway/contract/config/accessControl.ts";
import { catalogProviderSchema } from "@gateway/contract/config/catalogProvider.ts";
import { guardrailsSchema } from "@gateway/contract/config/guardrail.ts";
import type { QueryAuth } from "@gateway/contract/config/queryAuth.ts";
import { translationSchema } from "@gateway/contract/config/translation.ts";
import { describe, expect, it } from "vitest";
import { groupSchema } from "@gateway/contract/config/group.ts";
import { routersSchema } from "@gateway/contract/config/router.ts";
import { checkSnapshot, type SnapshotParts } from "./check.ts";

describe("checkSnapshot", () => {
  it("finds nothing wrong with a config whose parts fit together", () => {
    const routers = [
      { type: "protocolBased", protocols: { trinoHttp: "main" } },
      { type: "header", headerName: "x", headerValueToGroup: { a: "main" } },
      { type: "userGroup", userToGroup: { a: "main" }, groupToGroup: { b: "main" } },
      {
        type: "queryRegex",
        rules: [
          { regex: "a+", targetGroup: "main" },
          { regex: "b", action: "deny" },
        ],
      },
      { type: "tags", rules: [{ tags: { a: null }, targetGroup: "main" }] },
      {
        type: "compound",
        combine: "all",
        conditions: [{ type: "queryRegex", regex: "a" }],
        targetGroup: "main",
      },
    ];
    const strategy = { type: "weighted", weights: { duck: 2 } };
    expect(problemsOf({ routers, routingFallback: "main", main: { strategy } })).toEqual([]);
  });

  it("asks for a catalog where access control needs one, and for access control where there is one", () => {
    const of = (more: object, views: string, catalogProvider?: object) =>
      checkSnapshot({
        clusters: { duck: { engine: "duckDb" } },
        clusterGroups: {},
        routers: [],
        accessControl: accessControlSchema.parse({
          provider: "rules",
          rules: [{ name: "all", tables: ["*.*"], ...more }],
          views,
        }),
        catalogProvider: catalogProvider && catalogProviderSchema.parse(catalogProvider),
      }).map(({ path, reason }) => `${path.join(".")}: ${reason}`);
    const masks = { email: "'***'" };
    const catalog = { provider: "static", tables: { "a.b": { columns: ["email"] } } };
    expect(of({ masks }, "deny")).toEqual([
      "accessControl.rules.0.masks: needs columns beside it, or a catalogProvider that knows them",
      "accessControl.views: deny needs a catalogProvider",
    ]);
    expect(of({ masks }, "deny", catalog)).toEqual([]);
    expect(of({ masks, columns: ["email"] }, "asTables")).toEqual([]);
    const alone = { catalogProvider: catalogProviderSchema.parse(catalog) };
    const parts = { clusters: {}, clusterGroups: {}, routers: [], ...alone };
    expect(checkSnapshot(parts).map(({ path }) => path)).toEqual([["catalogProvider"]]);
  });

  it("asks for an account where a cluster's users bring their own identity, and the engine is the catalog", () => {
    const of = (type: QueryAuth["type"], account?: object, members = ["a"]) =>
      checkSnapshot({
        clusters: { a: { engine: "trino", queryAuth: { type } as QueryAuth } },
        clusterGroups: {
          g: groupSchema.parse({ members, maxRunningQueries: 1 }),
          free: groupSchema.parse({ members: ["a"], maxRunningQueries: 1 }),
        },
        routers: [],
        accessControl: accessControlSchema.parse({
          provider: "rules",
          clusterGroups: ["g"],
          rules: [{ name: "all", tables: ["*.*"] }],
        }),
        catalogProvider: catalogProviderSchema.parse({ provider: "engine", engine: { account } }),
      }).map(({ path, reason }) => `${path.join(".")}: ${reason}`);
    const user = "meta";
    expect(of("serviceAccount")).toEqual([]);
    expect(of("impersonate", { user })).toEqual([]);
    expect(of("passthrough", { user, password: "p" })).toEqual([]);
    expect(of("impersonate")).toEqual([
      'catalogProvider.engine: cluster "a" is under impersonate, which needs an account with the user',
    ]);
    expect(of("passthrough", { user })).toEqual([
      'catalogProvider.engine: cluster "a" is under passthrough, which needs an account with user and password',
    ]);
    expect(of("tokenExchange", { user })).toEqual([
      expect.stringContaining("a token is exchanged for users alone"),
    ]);
  });

  it("asks for the engine as the catalog where translation goes by types", () => {
    const of = (catalogProvider?: object) =>
      checkSnapshot({
        clusters: {},
        clusterGroups: {},
        routers: [],
        translation: translationSchema.parse({ mode: "strict", schemaResolutionTimeoutMs: 500 }),
        catalogProvider: catalogProvider && catalogProviderSchema.parse(catalogProvider),
      }).map(({ path, reason }) => `${path.join(".")}: ${reason}`);
    const at = "translation.schemaResolutionTimeoutMs";
    expect(of({ provider: "engine" })).toEqual([]);
    expect(of()).toEqual([`${at}: needs a catalogProvider`]);
    expect(of({ provider: "static", tables: {} })).toEqual([
      `${at}: needs the catalogProvider engine: static does not tell types as the engines name them`,
    ]);
  });

  it("lets no script change what access control judged", () => {
    const scripts = { now: { use: "rewrite" as const } };
    const rule = {
      name: "all",
      tables: ["*.*"],
      actions: ["select" as const],
      effect: "allow" as const,
    };
    const of = (scripted?: readonly string[], policed?: readonly string[]) =>
      checkSnapshot({
        clusters: { duck: { engine: "duckDb" } },
        clusterGroups: {
          main: groupSchema.parse({ members: ["duck"], maxRunningQueries: 1 }),
          other: groupSchema.parse({ members: ["duck"], maxRunningQueries: 1 }),
        },
        routers: [],
        scripts,
        translation: translationSchema.pick({ scripts: true }).parse({
          scripts: [{ script: "now", when: "after", ...(scripted && { clusterGroups: scripted }) }],
        }),
        accessControl: accessControlSchema.parse({
          provider: "rules",
          rules: [rule],
          ...(policed && { clusterGroups: policed }),
        }),
      }).map(({ path, reason }) => `${path.join(".")}: ${reason}`);
    const refused = "translation.scripts.0: would change statements that accessControl judged, of";
    expect(of()).toEqual([`${refused} main`]);
    expect(of(["other"])).toEqual([`${refused} other`]);
    expect(of(undefined, ["other"])).toEqual([`${refused} other`]);
    expect(of(["main"], ["other"])).toEqual([]);
  });

  it("lets nothing be translated that access control judged", () => {
    const rule = { name: "all", tables: ["*.*"], actions: ["select"], effect: "allow" };
    const of = (mode: string, translated?: readonly string[], policed?: readonly string[]) =>
      checkSnapshot({
        clusters: { duck: { engine: "duckDb" } },
        clusterGroups: {
          main: groupSchema.parse({ members: ["duck"], maxRunningQueries: 1 }),
          other: groupSchema.parse({ members: ["duck"], maxRunningQueries: 1 }),
        },
        routers: [],
        translation: translationSchema.parse({
          mode,
          ...(translated && { clusterGroups: translated }),
        }),
        accessControl: accessControlSchema.parse({
          provider: "rules",
          rules: [rule],
          ...(policed && { clusterGroups: policed }),
        }),
      }).map(({ path, reason }) => `${path.join(".")}: ${reason}`);
    const refused = "translation.mode: would translate statements that accessControl judged, of";
    expect(of("strict")).toEqual([expect.stringContaining(`${refused} main`)]);
    expect(of("bestEffort", undefined, ["other"])).toEqual([
      expect.stringContaining(`${refused} other`),
    ]);
    expect(of("strict", ["main"], ["other"])).toEqual([]);
    expect(of("off")).toEqual([]);
    expect(of("off", ["gone"])).toEqual([expect.stringContaining("translation.clusterGroups.0")]);
  });

  it("finds every target that does not exist, in every kind of router, at once", () => {
    const routers = [
      { type: "protocolBased", protocols: { trinoHttp: "main", mysqlWire: "gone" } },
      { type: "header", headerName: "x", headerValueToGroup: { a: "gone" } },
      { type: "userGroup", userToGroup: { a: "gone" }, groupToGroup: { b: "gone" } },
      {
        type: "queryRegex",
        rules: [
          { regex: "b", action: "deny" },
          { regex: "a", targetGroup: "gone" },
        ],
      },
      { type: "tags", rules: [{ tags: { a: null }, targetGroup: "gone" }] },
      {
        type: "compound",
        combine: "all",
        conditions: [{ type: "tags", tags: { a: "b" } }],
        targetGroup: "gone",
      },
    ];
    const problems = problemsOf({ routers, routingFallback: "gone" });
    expect(problems.map(({ path }) => path.join("."))).toEqual([
      "routers.0.protocols.mysqlWire",
      "routers.1.headerValueToGroup.a",
      "routers.2.userToGroup.a",
      "routers.2.groupToGroup.b",
      "routers.3.rules.1.targetGroup",
      "routers.4.rules.0.targetGroup",
      "routers.5.targetGroup",
      "routingFallback",
    ]);
    expect(new Set(problems.map(({ reason }) => reason))).toEqual(
      new Set(['there is no cluster group "gone"; known: main']),
    );
  });

  it("finds members that do not exist and members listed twice", () => {
    expect(problemsOf({ main: { members: ["duck", "gone", "duck"] } })).toEqual([
      {
        path: ["clusterGroups", "main", "members", 1],
        reason: 'there is no cluster "gone"; known: duck, trino',
      },
      { path: ["clusterGroups", "main", "members", 2], reason: '"duck" is listed twice' },
    ]);
  });

  it("finds weights that name no member and preferences that no member has", () => {
    const weighted = problemsOf({
      main: { strategy: { type: "weighted", weights: { trino: 1 } } },
    });
    expect(weighted).toEqual([
      {
        path: ["clusterGroups", "main", "strategy", "weights", "trino"],
        reason: 'there is no member of the group "trino"; known: duck',
      },
    ]);
    const preference = ["duckDb", "trino"];
    const affinity = problemsOf({ main: { strategy: { type: "engineAffinity", preference } } });
    expect(affinity.map(({ path }) => path.at(-1))).toEqual([1]);
  });

  it("finds regular expressions that do not compile, also inside conditions, and says where", () => {
    const nested = {
      type: "compound",
      combine: "any",
      conditions: [{ type: "queryRegex", regex: "(" }],
    };
    const routers = [
      { type: "queryRegex", rules: [{ regex: "a(b", targetGroup: "main" }] },
      { type: "compound", combine: "all", conditions: [nested], targetGroup: "main" },
    ];
    const problems = problemsOf({ routers });
    expect(problems.map(({ path }) => path.join("."))).toEqual([
      "routers.0.rules.0.regex",
      "routers.1.conditions.0.conditions.0.regex",
    ]);
    for (const { reason } of problems) expect(reason).toMatch(/\(at character \d+\)$/);
  });

  it("finds what is wrong in guards: names, groups and patterns", () => {
    const guardrails = guardrailsSchema.parse({
      guards: [
        { name: "a", type: "readOnly", clusterGroups: ["main", "gone"] },
        { name: "b", type: "queryRegex", regex: "(" },
        {
          name: "a",
          type: "timeLimit",
          maxExecutionSecs: 1,
          conditions: [{ type: "queryRegex", regex: "[" }],
        },
      ],
    });
    const problems = problemsOf({ guardrails });
    expect(problems.map(({ path }) => path.join("."))).toEqual([
      "guardrails.guards.0.clusterGroups.1",
      "guardrails.guards.1.regex",
      "guardrails.guards.2.name",
      "guardrails.guards.2.conditions.0.regex",
    ]);
  });

  it("lists at most ten names", () => {
    const clusters = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`c${index}`, { engine: "duckDb" }]),
    );
    const [problem] = problemsOf({ main: { members: ["gone"] }, clusters });
    expect(problem?.reason).toBe(
      'there is no cluster "gone"; known: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, …',
    );
  });
});

interface Parts {
  readonly routers?: readonly unknown[];
  readonly routingFallback?: string;
  readonly main?: object;
  readonly clusters?: SnapshotParts["clusters"];
  readonly guardrails?: SnapshotParts["guardrails"];
}

/** Through the schemas: what they refuse never comes to this check. */
function problemsOf({ routers = [], main = {}, ...more }: Parts) {
  return checkSnapshot({
    clusters: { duck: { engine: "duckDb" }, trino: { engine: "trino" } },
    clusterGroups: {
      main: groupSchema.parse({ members: ["duck"], maxRunningQueries: 1, ...main }),
    },
    routers: routersSchema.parse(routers),
    ...more,
  });
}
