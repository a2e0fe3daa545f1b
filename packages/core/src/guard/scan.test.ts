import { guardrailsSchema } from "@gateway/contract/config/guardrail.ts";
import { describe, expect, it } from "vitest";
import { gatewayError, type GatewayError } from "../error.ts";
import type { ScanEstimate } from "../port/backend.ts";
import type { ResultEvent } from "../query/event.ts";
import type { Pin } from "../query/pin.ts";
import type { Identified } from "../query/query.ts";
import { err, ok, type Result } from "../result.ts";
import { noScripts } from "../route/rule/ask.ts";
import { planeOf, queryOf, type TestPlane } from "../run/rig/plane.ts";
import { runQuery } from "../run/run.ts";
import { compileGuards, judgedNow } from "./guards.ts";
import { lateSaid } from "./late.ts";

const noLimits = { maxExecutionMs: undefined, maxRows: undefined };
type Answer = Result<ScanEstimate, GatewayError>;

/** What guards let through a statement whose engine answers so; `asked` counts the questions. */
async function saidOf(guards: readonly object[], answer: Answer | undefined, sql = "select 1") {
  const { asked, late } = lateOf(guards, sql);
  let questions = 0;
  const askScan = () => {
    questions += 1;
    return answer && Promise.resolve(answer);
  };
  const said = await lateSaid(asked, { ...late, askScan });
  return { said, questions };
}

function lateOf(guards: readonly object[], sql: string) {
  const parsed = guardrailsSchema.parse({
    guards: guards.map((guard, at) => ({ name: `g${at}`, type: "maxScanBytes", ...guard })),
  });
  const compiled = compileGuards(parsed.guards, "main", noLimits, { ask: noScripts });
  if (compiled === undefined) throw new Error("no guards");
  const log = { acted: () => {} };
  const passed = judgedNow(compiled, queryOf(sql), log);
  if (!passed.ok) throw new Error(passed.error.code);
  const made: Partial<Identified> = {
    ...queryOf(sql),
    engineSql: sql,
    guarded: passed.value.guarded,
    slot: { cluster: "main" } as Identified["slot"],
  };
  const { signal } = new AbortController();
  const late = { guards: compiled, dialect: "postgres", log, signal } as const;
  return { asked: made as Identified, late };
}

describe("a guard of scanned bytes", () => {
  it("lets pass what reads no more than its limit, and refuses what does", async () => {
    const guards = [{ maxBytes: 100 }];
    expect((await saidOf(guards, ok({ bytes: 100 }))).said).toEqual(ok([]));
    const message = "The statement would read about 101 bytes; at most 100 are allowed.";
    expect((await saidOf(guards, ok({ bytes: 101 }))).said).toMatchObject({
      error: { code: "policy.denied", message },
    });
    expect((await saidOf(guards, ok({ bytes: Number.NaN }))).said?.ok).toBe(false);
  });

  it("asks once for all guards, and warns where it is told to", async () => {
    const guards = [{ maxBytes: 1, action: "warn", message: "big" }, { maxBytes: 50 }];
    const { said, questions } = await saidOf(guards, ok({ bytes: 7 }));
    expect(said).toEqual(ok(["big (guard g0)"]));
    expect(questions).toBe(1);
  });

  it("refuses what nobody can estimate unless told otherwise, and what its engine refuses", async () => {
    const unknown = ok({ unknown: "it is strange" });
    for (const answer of [unknown, undefined])
      expect((await saidOf([{ maxBytes: 1 }], answer)).said).toMatchObject({
        error: { code: "policy.denied" },
      });
    const allowing = [{ maxBytes: 1, whenUnknown: "allow" }];
    expect((await saidOf(allowing, unknown)).said).toEqual(ok([]));
    const refusal = err(gatewayError("query.syntax"));
    expect((await saidOf(allowing, refusal)).said).toEqual(refusal);
  });

  it("shows where its engine's refusal lies in the client's own text alone", async () => {
    const { asked, late } = lateOf([{ maxBytes: 1 }], "select n");
    const askScan = async () => err({ ...gatewayError("query.syntax"), position: 8 });
    const positionIn = async (engineSql: string) => {
      const said = await lateSaid({ ...asked, engineSql }, { ...late, askScan });
      return said?.ok === false ? [said.error.code, said.error.position] : said;
    };
    expect(await positionIn("select n")).toEqual(["query.syntax", 8]);
    expect(await positionIn("SELECT N")).toEqual(["query.syntax", undefined]);
  });

  it("asks nobody about the bounds of a transaction", async () => {
    expect(await saidOf([{ maxBytes: 1 }], undefined, "begin")).toEqual({
      said: undefined,
      questions: 0,
    });
  });
});

describe("a statement whose engine is asked how much it would read", () => {
  it("goes to another cluster where that one can not be reached", async () => {
    const ran: string[] = [];
    const plane = planeWith((cluster) =>
      cluster === "gone" ? err(gatewayError("cluster.connectFailed")) : ok({ bytes: 1 }),
    );
    const events = await allOf(plane.of(ran), "select 1");
    expect(ran).toEqual(["main"]);
    expect(events.at(-1)?.kind).toBe("done");
  });

  it("never runs above the limit, and gives its slot back", async () => {
    const ran: string[] = [];
    const plane = planeWith(() => ok({ bytes: 11 })).of(ran);
    const last = (await allOf(plane, "select 1")).at(-1);
    expect(last).toMatchObject({ kind: "failed", error: { code: "policy.denied" } });
    expect([ran, plane.slots.size]).toEqual([[], 0]);
  });

  it("fails in its transaction as if it had run", async () => {
    const ran: string[] = [];
    const plane = planeWith(() => err(gatewayError("query.syntax"))).of(ran);
    let pin: Pin | undefined;
    for (const event of await allOf(plane, "begin"))
      if (event.kind === "session" && event.change.kind === "pinned") ({ pin } = event.change);
    const failed = (await allOf(plane, "select 1", pin)).at(-1);
    expect(failed).toMatchObject({ kind: "failed", error: { code: "query.syntax" } });
    const behind = (await allOf(plane, "select 2", pin)).at(-1);
    expect(behind).toMatchObject({ error: { code: "query.transactionAborted" } });
    expect(ran).toEqual([]);
    await allOf(plane, "rollback", pin);
  });
});

function planeWith(answer: (cluster: string) => Answer) {
  const executing = (cluster: string, ran: string[]) =>
    async function* () {
      ran.push(cluster);
      const stats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };
      yield { kind: "done", stats } as const;
    };
  return {
    of: (ran: string[]): TestPlane =>
      planeOf({
        clusters: { gone: executing("gone", ran), main: executing("main", ran) },
        transactions: { goesOn: () => true, begins: () => true },
        estimateScan: async (cluster) => answer(cluster),
        late: (query, told, signal) => {
          const { late, asked } = lateOf([{ maxBytes: 10 }], query.engineSql);
          const { log } = told;
          const askScan: typeof told.askScan = (one) => told.askScan(one);
          return lateSaid({ ...query, guarded: asked.guarded }, { ...late, log, askScan, signal });
        },
      }),
  };
}

async function allOf(plane: TestPlane, sql: string, pin?: Pin): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  const stream = runQuery(queryOf(sql, { pin }), plane, new AbortController().signal);
  for await (const event of stream) events.push(event);
  return events;
}
