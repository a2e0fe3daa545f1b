import { describe, expect, it } from "vitest";
import { hostOf, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { duckDbConfig } from "../config.ts";
import {
  overlapOf,
  statementBegins,
  statementsLogged,
  type StatementEntry,
} from "./statementLog.ts";

describe("statementsLogged", () => {
  it("knows what is running and what has ended", async () => {
    using log = statementsLogged();
    const started = log.started("a");
    const first = statementBegins("c", "a", hostOf().clock);
    await started;
    const second = statementBegins("c", "a", hostOf().clock);
    let over = false;
    const ended = (async () => {
      await log.ended("a");
      over = true;
    })();
    first[Symbol.dispose]();
    await Promise.resolve();
    expect(over).toBe(false);
    second[Symbol.dispose]();
    await ended;
    expect(log.statements()).toMatchObject([{ sql: "a" }, { sql: "a" }]);
  });

  it("hears nothing after it was disposed", () => {
    const log = statementsLogged();
    log[Symbol.dispose]();
    statementBegins("c", "a", hostOf().clock)[Symbol.dispose]();
    expect(log.statements()).toEqual([]);
  });

  it("sees as many statements at once in the engine as the pool has threads", async () => {
    using log = statementsLogged();
    const config = duckDbConfig.parse({ engine: "duckDb", threads: 1, poolSize: 3 });
    await using backend = valueOf(await open("logged", config, hostOf()));
    const sql = "select count(*) from range(200000) t(i) where hash(i) % 7 = 0";
    await Promise.all(Array.from({ length: 20 }, () => ran(backend, sql)));
    const ours = log.statements().filter((entry) => entry.cluster === "logged");
    expect(ours).toHaveLength(20);
    expect(overlapOf(ours)).toBe(3);
  });
});

describe("overlapOf", () => {
  it("counts the most at one moment, an end before a start at the same one", () => {
    expect(overlapOf([])).toBe(0);
    expect(overlapOf([entryOf(0, 1), entryOf(1, 2)])).toBe(1);
    expect(overlapOf([entryOf(0, 3), entryOf(1, 2), entryOf(1, 4), entryOf(3, 5)])).toBe(3);
    expect(overlapOf([entryOf(0, undefined), entryOf(7, 8)])).toBe(2);
  });
});

function entryOf(startedMs: number, endedMs: number | undefined): StatementEntry {
  return { cluster: "c", sql: "s", startedMs, endedMs };
}
