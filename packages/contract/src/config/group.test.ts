import { describe, expect, it } from "vitest";
import { z } from "zod";
import { capacityWaitTimeoutMs, groupSchema } from "./group.ts";
import { fieldsWithoutTitle } from "./rig/fieldsWithoutTitle.ts";

const least = { members: ["duck"], maxRunningQueries: 5 };

describe("groupSchema", () => {
  it("needs members and a cap, and fills in the rest", () => {
    expect(groupSchema.parse(least)).toEqual({
      ...least,
      enabled: true,
      order: 0,
      strategy: { type: "roundRobin" },
      capacityWaitTimeoutSecs: 300,
      weight: 1,
      defaultTags: {},
    });
    expect(pathsOf({})).toEqual(["members", "maxRunningQueries"]);
    expect(pathsOf({ ...least, members: [] })).toEqual(["members"]);
  });

  it("refuses unknown keys and values out of range, all at once", () => {
    const wrong = {
      maxRunningQueries: 0,
      maxQueuedQueries: -1,
      weight: 0,
      maxRows: 0,
      order: 0.5,
      unknown: 1,
    };
    expect(pathsOf({ ...least, ...wrong }).toSorted()).toEqual([
      "",
      "maxQueuedQueries",
      "maxRows",
      "maxRunningQueries",
      "order",
      "weight",
    ]);
  });

  it("fills in the circuit breaker only where one is written", () => {
    expect(groupSchema.parse({ ...least, circuitBreaker: {} }).circuitBreaker).toEqual({
      failures: 5,
      openSecs: 30,
    });
    expect(groupSchema.parse(least).circuitBreaker).toBeUndefined();
  });

  it("keeps an absent allow list apart from an empty one", () => {
    const { authorization } = groupSchema.parse({ ...least, authorization: { allowUsers: [] } });
    expect(authorization).toEqual({ allowUsers: [] });
  });

  it("takes every strategy, and none without what it needs", () => {
    const built = [
      { type: "roundRobin" },
      { type: "leastLoaded" },
      { type: "failover" },
      { type: "engineAffinity", preference: ["duckDb"] },
      { type: "weighted", weights: { duck: 0.5 } },
      { type: "script", script: "spread" },
    ];
    for (const strategy of built)
      expect(groupSchema.parse({ ...least, strategy }).strategy).toEqual(strategy);
    expect(pathsOf({ ...least, strategy: { type: "script" } })).toEqual(["strategy.script"]);
    expect(pathsOf({ ...least, strategy: { type: "random" } })).toEqual(["strategy.type"]);
  });

  it("gives every field a title and a description", () => {
    expect(
      fieldsWithoutTitle(z.toJSONSchema(groupSchema, { io: "input", unrepresentable: "any" })),
    ).toEqual([]);
  });
});

describe("capacityWaitTimeoutMs", () => {
  it("reads 0 as the default and counts in milliseconds", () => {
    expect(capacityWaitTimeoutMs({ capacityWaitTimeoutSecs: 0 })).toBe(300_000);
    expect(capacityWaitTimeoutMs({ capacityWaitTimeoutSecs: 7 })).toBe(7_000);
  });
});

function pathsOf(config: object): readonly string[] {
  const issues = groupSchema.safeParse(config).error?.issues ?? [];
  return issues.map((issue) => issue.path.join("."));
}
