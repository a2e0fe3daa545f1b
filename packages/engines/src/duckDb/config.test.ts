import { totalmem } from "node:os";
import { describe, expect, it } from "vitest";
import { duckDbConfig } from "./config.ts";
import { processMemoryMax } from "./client/options.ts";

describe("processMemoryMax", () => {
  it("leaves room beside the engine's buffers, and some of the machine where there is no limit", () => {
    const maxOf = (memoryLimit?: string) =>
      processMemoryMax(duckDbConfig.parse({ engine: "duckDb", memoryLimit }));
    expect(maxOf("1.5GB")).toBe(1.5e9 + 2 ** 30);
    expect(maxOf("512MiB")).toBe(2 ** 29 + 2 ** 30);
    expect(maxOf()).toBeLessThan(totalmem());
  });
});

describe("duckDbConfig", () => {
  it("is a database in memory without access to any file unless something is written", () => {
    expect(duckDbConfig.parse({ engine: "duckDb" })).toEqual({
      engine: "duckDb",
      enabled: true,
      databasePath: ":memory:",
      readOnly: false,
      allowedDirectories: [],
      isolation: "process",
      poolSize: 16,
    });
  });

  it("refuses unknown keys, sizes without a unit, relative folders and an empty read-only database", () => {
    const refused = [
      { path: "x" },
      { memoryLimit: "4" },
      { memoryLimit: "80%" },
      { allowedDirectories: ["data"] },
      { readOnly: true },
      { threads: 0 },
      { poolSize: 0 },
      { queryAuth: { type: "impersonate" } },
    ];
    for (const more of refused) {
      expect([more, duckDbConfig.safeParse({ engine: "duckDb", ...more }).success]).toEqual([
        more,
        false,
      ]);
    }
  });
});
