import { guardrailsSchema } from "@gateway/contract/config/guardrail.ts";
import { describe, expect, it } from "vitest";
import type { Query, QueryLimits, Session } from "../query/query.ts";
import { noScripts } from "../route/rule/ask.ts";
import { queryOf } from "../run/rig/plane.ts";
import { compileGuards, judgedNow, type Guards } from "./guards.ts";
import type { GuardSaid } from "./webhook.ts";

const noLimits: QueryLimits = { maxExecutionMs: undefined, maxRows: undefined };

describe("compileGuards", () => {
  it("makes nothing for a group that no guard names", () => {
    const { guards } = guardrailsSchema.parse({
      guards: [{ name: "a", type: "readOnly", clusterGroups: ["other"] }],
    });
    expect(compileGuards(guards, "main", noLimits, { ask: noScripts })).toBeUndefined();
    expect(compileGuards([], "main", noLimits, { ask: noScripts })).toBeUndefined();
    expect(compileGuards(guards, "other", noLimits, { ask: noScripts })).toBeDefined();
  });

  it("judges only queries for which all conditions hold", () => {
    const conditions = [
      { type: "tags", tags: { job: null } },
      { type: "userGroup", users: ["alice"] },
    ];
    const guards = guardsOf({ type: "readOnly", conditions });
    const tagged = { tags: new Map([["job", "x"]]) };
    expect(judge(guards, query("DROP TABLE t", tagged)).ok).toBe(false);
    expect(judge(guards, query("DROP TABLE t")).ok).toBe(true);
  });

  it("knows the messages of guards that have one, for what is decided later", () => {
    const { guards } = guardrailsSchema.parse({
      guards: [
        { name: "plain", type: "readOnly" },
        { name: "own", type: "readOnly", message: "Ask the data team." },
      ],
    });
    const { messages } = compileGuards(guards, "main", noLimits, { ask: noScripts }) ?? {};
    expect([messages?.get("own"), messages?.get("plain")]).toEqual([
      "Ask the data team.",
      undefined,
    ]);
  });

  it("lets no query pass whose condition could not be asked for", async () => {
    const conditions = [{ type: "script", script: "gone" }];
    const guards = guardsOf({ type: "readOnly", conditions });
    expect(await guards.ask?.(query("SELECT 1"), new AbortController().signal)).toMatchObject({
      ok: false,
      error: { code: "script.failed" },
    });
  });
});

describe("readOnly", () => {
  const guards = guardsOf({ type: "readOnly" });

  it.each(["SELECT 1", "SHOW TABLES", "BEGIN", "COMMIT", "EXPLAIN DELETE FROM t"])(
    "lets %s through",
    (sql) => {
      expect(judge(guards, query(sql))).toMatchObject({
        ok: true,
        value: { sql, guarded: undefined },
      });
    },
  );

  it.each([
    "INSERT INTO t VALUES (1)",
    "WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a",
    "SELECT * INTO u FROM t",
    "EXPLAIN ANALYZE DELETE FROM t",
    "CALL p()",
    "SELECT 'open",
    "SELECT 1; DROP TABLE t",
    "FROBNICATE t",
  ])("refuses %s", (sql) => {
    expect(judge(guards, query(sql))).toMatchObject({
      ok: false,
      error: { code: "policy.denied" },
    });
  });

  it("says in the record what it did, and to the client what the configuration says", () => {
    const log: string[] = [];
    const own = guardsOf({ type: "readOnly", message: "Ask the data team." });
    const refused = judge(own, query("DROP TABLE t"), log);
    expect(refused).toMatchObject({ error: { message: "Ask the data team." } });
    expect(log).toEqual([
      "guard g: denied: Only statements that read may run here, and this one may write.",
    ]);
  });

  it("only warns where that is its action", () => {
    const log: string[] = [];
    const passed = judge(
      guardsOf({ type: "readOnly", action: "warn" }),
      query("DROP TABLE t"),
      log,
    );
    expect(passed).toMatchObject({
      ok: true,
      value: { guarded: { warnings: [expect.stringContaining("guard g")], limits: noLimits } },
    });
    expect(log).toEqual([expect.stringMatching(/^guard g: warned: /)]);
  });
});

describe("statementKinds", () => {
  it("lets through what it allows, and nothing that may hold another kind", () => {
    const guards = guardsOf({ type: "statementKinds", allow: ["select", "insert"] });
    expect(judge(guards, query("SELECT 1")).ok).toBe(true);
    expect(judge(guards, query("INSERT INTO t VALUES (1)")).ok).toBe(true);
    expect(judge(guards, query("WITH a AS (DELETE FROM t RETURNING *) SELECT 1")).ok).toBe(false);
    expect(judge(guards, query("UPDATE t SET a = 1")).ok).toBe(false);
    expect(judge(guards, query("FROBNICATE")).ok).toBe(false);
  });

  it("says which kind a statement is of, or may hold", () => {
    const guards = guardsOf({ type: "statementKinds", deny: ["delete"] });
    const holding = "WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a";
    expect(judge(guards, query("DELETE FROM t"))).toMatchObject({
      error: { message: "Statements of the kind delete may not run here." },
    });
    expect(judge(guards, query(holding))).toMatchObject({
      error: { message: expect.stringContaining("and this one may hold one") },
    });
  });

  it("refuses what it denies, and what is not known", () => {
    const guards = guardsOf({ type: "statementKinds", deny: ["ddl"] });
    expect(judge(guards, query("DELETE FROM t")).ok).toBe(true);
    expect(judge(guards, query("DROP TABLE t")).ok).toBe(false);
    expect(judge(guards, query("SELECT * INTO u FROM t")).ok).toBe(false);
    expect(judge(guards, query("FROBNICATE")).ok).toBe(false);
    expect(judge(guards, query("SELECT 1; DROP TABLE t")).ok).toBe(false);
  });
});

describe("queryRegex", () => {
  const guards = guardsOf({ type: "queryRegex", regex: "cross\\s+join" });

  it("refuses a text in which it matches", () => {
    expect(judge(guards, query("SELECT * FROM a CROSS  JOIN b")).ok).toBe(false);
    expect(judge(guards, query("SELECT * FROM a JOIN b USING (c)")).ok).toBe(true);
  });

  it("refuses a text that is too long to search, so that nothing hides behind white space", () => {
    const ofLength = (length: number) => query(`SELECT ${" ".repeat(length - 8)}1`);
    expect(judge(guards, ofLength(65_536)).ok).toBe(true);
    expect(judge(guards, ofLength(65_537)).ok).toBe(false);
  });
});

describe("requirePredicate", () => {
  const guards = guardsOf({
    type: "requirePredicate",
    tables: ["sales.orders", "events_*"],
    columns: ["Day"],
  });

  it.each([
    "SELECT * FROM orders WHERE day = 1",
    "SELECT * FROM sales.orders o WHERE o.day > 1",
    'SELECT * FROM x.sales."Orders" WHERE DAY = 1 AND 1 = 1',
    "SELECT * FROM other.orders",
    "SELECT * FROM reorders",
    "WITH orders AS (SELECT 1) SELECT * FROM orders",
    "INSERT INTO orders VALUES (1)",
    "SHOW COLUMNS FROM orders",
    "SELECT events_1 FROM t",
  ])("lets %s through", (sql) => {
    expect(judge(guards, query(sql))).toMatchObject({ ok: true });
  });

  it.each([
    "SELECT * FROM orders",
    "SELECT * FROM EVENTS_2024",
    "SELECT * FROM orders WHERE day = 1 OR TRUE",
    "SELECT * FROM orders o JOIN days d ON o.id = d.id WHERE d.day = 1",
    "SELECT * FROM t WHERE day = 1 AND id IN (SELECT id FROM orders)",
    "SELECT * FROM (SELECT * FROM orders) WHERE day = 1",
    "DELETE FROM sales.orders",
    "COPY sales.orders TO STDOUT",
    "FROBNICATE orders",
    "SELECT 1; SELECT * FROM orders",
    "SELECT 'open",
  ])("refuses %s", (sql) => {
    expect(judge(guards, query(sql))).toMatchObject({
      ok: false,
      error: { code: "policy.denied" },
    });
  });

  it("asks for a condition on one of its columns, and not on each", () => {
    const either = guardsOf({
      type: "requirePredicate",
      tables: ["orders"],
      columns: ["day", "hour"],
    });
    expect(judge(either, query("SELECT * FROM orders WHERE day = 1")).ok).toBe(true);
    expect(judge(either, query("SELECT * FROM orders WHERE hour = 1")).ok).toBe(true);
    expect(judge(either, query("SELECT * FROM orders WHERE minute = 1")).ok).toBe(false);
  });

  it("without columns asks for any condition that names one", () => {
    const any = guardsOf({ type: "requirePredicate", tables: ["orders"] });
    expect(judge(any, query("SELECT * FROM orders WHERE a = 1")).ok).toBe(true);
    expect(judge(any, query("SELECT * FROM orders WHERE 1 = 1")).ok).toBe(false);
    expect(judge(any, query("SELECT * FROM orders LIMIT 5")).ok).toBe(false);
  });
});

describe("a guard that was asked", () => {
  it.each<readonly [GuardSaid, object]>([
    [null, { ok: true, value: { guarded: undefined } }],
    [{ warn: "slow" }, { ok: true, value: { guarded: { warnings: ["slow (guard g)"] } } }],
    [{ deny: "no" }, { ok: false, error: { code: "policy.denied", message: "no" } }],
  ])("decides by what it said: %j", (answer, decision) => {
    const said = new Map([["g", { holds: true, answer }]]);
    const log = { acted: () => {} };
    const guards = guardsOf({ type: "script", script: "s" });
    expect(judgedNow(guards, query("SELECT 1"), log, said)).toMatchObject(decision);
  });

  it("leaves to later what its service is asked about the engine's text, and says what it wrote", () => {
    const url = "http://127.0.0.1/";
    const named = [
      { name: "early", type: "webhook", url, rewrites: true, statement: "text" },
      { name: "late", type: "webhook", url, stages: ["after"] },
    ];
    const services = new Map(named.map(({ name }) => [name, { ask: () => unasked() }]));
    const { guards: configs } = guardrailsSchema.parse({ guards: named });
    const guards = compileGuards(configs, "main", noLimits, { ask: noScripts, services });
    const said = new Map([
      ["early", { holds: true, answer: null, rewrote: true as const }],
      ["late", { holds: true, answer: null }],
    ]);
    const acted: string[] = [];
    const log = { acted: (one: string) => void acted.push(one) };
    expect(guards && judgedNow(guards, query("SELECT 1"), log, said)).toMatchObject({
      value: { guarded: { late: { services: ["late"], scans: [] } } },
    });
    expect(acted).toEqual(["guard early: rewrote the statement"]);
    expect(() => compileGuards(configs, "main", noLimits, { ask: noScripts })).toThrow(
      "no service was opened for the guard early",
    );
  });
});

describe("timeLimit and rowLimit", () => {
  it("hold the lowest of all limits", () => {
    const guards = guardsOf(
      { type: "timeLimit", maxExecutionSecs: 7 },
      { type: "timeLimit", maxExecutionSecs: 9 },
      { type: "rowLimit", maxRows: 50 },
    );
    expect(judge(guards, query("SELECT 1"))).toMatchObject({
      value: { sql: "SELECT 1", guarded: { limits: { maxExecutionMs: 7_000, maxRows: 50 } } },
    });
  });

  it("never raise a limit of the group", () => {
    const limits = { maxExecutionMs: 1_000, maxRows: 5, maxTransactionMs: 3 };
    const guards = guardsOver(
      limits,
      { type: "timeLimit", maxExecutionSecs: 7 },
      { type: "rowLimit", maxRows: 50 },
    );
    expect(judge(guards, query("SELECT 1"))).toEqual({
      ok: true,
      value: { sql: "SELECT 1", guarded: undefined },
    });
  });

  it("write a LIMIT into a query, the lowest that any of them asks for", () => {
    const guards = guardsOf(
      { type: "rowLimit", action: "rewrite", maxRows: 50 },
      { type: "rowLimit", action: "rewrite", maxRows: 20 },
    );
    expect(judge(guards, query("SELECT * FROM t"))).toMatchObject({
      value: { sql: "SELECT * FROM t LIMIT 20", guarded: { limits: { maxRows: 20 } } },
    });
  });

  it("refuse a query whose place for it is not found, and only count the rows of other statements", () => {
    const guards = guardsOf({ type: "rowLimit", action: "rewrite", maxRows: 50 });
    expect(judge(guards, query("SELECT 1 LIMIT 5 + 5"))).toMatchObject({
      error: { code: "policy.denied" },
    });
    expect(judge(guards, query("SELECT 'open"))).toMatchObject({
      error: { code: "policy.denied" },
    });
    // Where an engine ends the text that another goes on with, a LIMIT would stand in the wrong place.
    const doubtful = "SELECT 'a\\' , 'b'";
    expect(judge(guards, query(doubtful, { dialect: "generic" }))).toMatchObject({
      error: { code: "policy.denied" },
    });
    for (const sql of ["DELETE FROM t RETURNING *", "SHOW TABLES", "SELECT * INTO u FROM t"]) {
      expect(judge(guards, query(sql))).toMatchObject({
        value: { sql, guarded: { limits: { maxRows: 50 } } },
      });
    }
  });
});

function guardsOf(...configs: readonly object[]): Guards {
  return guardsOver(noLimits, ...configs);
}

function guardsOver(limits: QueryLimits, ...configs: readonly object[]): Guards {
  const named = configs.map((config, at) => ({ name: at === 0 ? "g" : `g${at}`, ...config }));
  const made = compileGuards(guardrailsSchema.parse({ guards: named }).guards, "main", limits, {
    ask: noScripts,
  });
  if (made === undefined) throw new Error("no guard");
  return made;
}

function unasked(): never {
  throw new Error("nobody is to be asked");
}

function query(sql: string, session: Partial<Session> = {}): Query {
  return queryOf(sql, { dialect: "postgres", ...session });
}

function judge(guards: Guards, asked: Query, log: string[] = []): ReturnType<typeof judgedNow> {
  return judgedNow(guards, asked, { acted: (action) => void log.push(action) });
}
