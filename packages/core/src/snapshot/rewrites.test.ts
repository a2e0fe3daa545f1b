import { describe, expect, it } from "vitest";
import type { Admitted, QueryId } from "../query/query.ts";
import { ok } from "../result.ts";
import { sessionOf } from "../rig/session.ts";
import type { AskScript } from "../route/rule/ask.ts";
import { readStatement } from "../sql/statement.ts";
import { compileRewrites, rewritten } from "./rewrites.ts";

describe("compileRewrites", () => {
  it("has the scripts of a group in their order, and nothing where there are none", () => {
    const scripts = [
      { script: "a", when: "after" },
      { script: "b", when: "before", clusterGroups: ["lab"] },
      { script: "c", when: "before" },
    ] as const;
    const translation = {
      scripts: scripts.map((one) => ({
        ...one,
        clusterGroups: "clusterGroups" in one ? [...one.clusterGroups] : undefined,
      })),
    };
    expect(compileRewrites(translation, "lab")).toEqual({ before: ["b", "c"], after: ["a"] });
    expect(compileRewrites(translation, "main")).toEqual({ before: ["c"], after: ["a"] });
    expect(compileRewrites({ scripts: [] }, "main")).toBeUndefined();
    expect(compileRewrites(undefined, "main")).toBeUndefined();
  });
});

describe("rewritten", () => {
  it.each([
    ["SELECT a FROM t WHERE b = $1", "SELECT a FROM u WHERE b = $1"],
    ["SELECT 1", "WITH x AS (SELECT 1) SELECT * FROM x"],
    ["INSERT INTO t VALUES (1)", "INSERT INTO u VALUES (1)"],
    ["SELECT $1, $2", "SELECT $1 + 0, $2 + 0"],
  ])("takes for %s the text %s", async (before, after) => {
    expect(await run(before, after)).toEqual(ok(after));
  });

  it.each([
    ["SELECT 1", "DROP TABLE t"],
    ["SELECT 1", "SELECT 1; DROP TABLE t"],
    ["SELECT 1", "-- nothing"],
    ["SELECT 1", "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x"],
    ["SELECT 1", "SELECT 1 INTO t"],
    ["SELECT 1", "EXPLAIN ANALYZE DELETE FROM t"],
    ["SELECT $1", "SELECT 1"],
    ["SELECT $1, $2", "SELECT $2, $1"],
    ["SELECT 1", "SELECT $1"],
  ])("refuses for %s the text %s", async (before, after) => {
    expect(await run(before, after)).toMatchObject({ error: { code: "script.failed" } });
  });

  it("leaves what moves a transaction, and gives no part of a long text", async () => {
    expect(await run("BEGIN", "SELECT 1")).toEqual(ok("BEGIN"));
    const long = `SELECT '${"x".repeat(70_000)}'`;
    expect(await run(long, "SELECT 1")).toMatchObject({ error: { code: "script.failed" } });
  });

  async function run(sql: string, answer: string) {
    const ask = (() => Promise.resolve(ok(answer))) as unknown as AskScript;
    const place = { cluster: "a", engine: "duckDb", dialect: "postgres" } as const;
    const rewrites = { before: ["s"], after: [] };
    return rewritten(queryOf(sql), sql, "before", { rewrites, ask, place });
  }
});

function queryOf(sql: string): Admitted {
  const session = sessionOf({ dialect: "postgres" });
  const query: Partial<Admitted> = {
    id: "q" as QueryId,
    sql,
    statement: readStatement(sql, "postgres"),
    parameters: [],
    session,
    group: "main",
  };
  return query as Admitted;
}
