import { describe, expect, it } from "vitest";
import type { Admitted, QueryId } from "../query/query.ts";
import { ok } from "../result.ts";
import { sessionOf } from "../rig/session.ts";
import { noLocal, noScripts } from "../route/rule/ask.ts";
import { readStatement } from "../sql/statement.ts";
import { compileRewrites, ofUnknownGroups, rewritten, type RewriteParts } from "./rewrites.ts";

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
    expect(namesOf({ translation }, "lab")).toEqual([["b", "c"], ["a"]]);
    expect(namesOf({ translation }, "main")).toEqual([["c"], ["a"]]);
    expect(namesOf({ translation: { scripts: [] } }, "main")).toBeUndefined();
    expect(namesOf({}, "main")).toBeUndefined();
    const local = { list: [{ name: "d.py", when: "before", clusterGroups: ["lab"] }] } as const;
    expect(namesOf({ translation, local }, "lab")).toEqual([["b", "c", "d.py"], ["a"]]);
    expect(namesOf({ local }, "main")).toBeUndefined();
  });

  it("refuses what a process adds behind a policy, and does not ask it", async () => {
    const local = { list: [{ name: "d.py", when: "before" }] } as const;
    const asked = () => Promise.reject(new Error("it was asked"));
    const rewrites = compileRewrites(
      { ...partsOf({ local }), policed: true, askLocal: asked },
      "lab",
    );
    const query = queryOf("SELECT 1");
    expect(await rewrites?.before[0]?.ask("d.py", { query })).toMatchObject({
      error: { code: "script.failed" },
    });
  });

  function partsOf(parts: Partial<RewriteParts>): RewriteParts {
    const nothing = { translation: undefined, local: undefined, policed: false };
    return { ...nothing, ask: noScripts, askLocal: noLocal, ...parts };
  }

  function namesOf(parts: Partial<RewriteParts>, group: string) {
    const rewrites = compileRewrites(partsOf(parts), group);
    return rewrites && [rewrites.before, rewrites.after].map((all) => all.map(({ name }) => name));
  }
});

describe("ofUnknownGroups", () => {
  it("names each group that the configuration does not have, with its script", () => {
    const list = [
      { name: "a.py", when: "before", clusterGroups: ["lab", "lap", "constructor"] },
      { name: "b.py", when: "after" },
    ] as const;
    expect(ofUnknownGroups({ list }, { lab: {} })).toEqual([
      { script: "a.py", clusterGroup: "lap" },
      { script: "a.py", clusterGroup: "constructor" },
    ]);
    expect(ofUnknownGroups(undefined, {})).toEqual([]);
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
    const ask = () => Promise.resolve(ok(answer));
    const place = { cluster: "a", engine: "duckDb", dialect: "postgres" } as const;
    const rewrites = { before: [{ name: "s", ask }], after: [] };
    return rewritten(queryOf(sql), sql, "before", { rewrites, place });
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
