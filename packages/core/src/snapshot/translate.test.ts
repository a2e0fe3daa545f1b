import { guardrailsSchema } from "@gateway/contract/config/guardrail.ts";
import { describe, expect, it } from "vitest";
import { compileGuards } from "../guard/guards.ts";
import type { Backend } from "../port/backend.ts";
import type { Admitted } from "../query/query.ts";
import { ok } from "../result.ts";
import { noScripts } from "../route/rule/ask.ts";
import { virtualHost } from "../rig/virtual.ts";
import { queryOf } from "../run/rig/plane.ts";
import { readStatement } from "../sql/statement.ts";
import { forEngine } from "./translate.ts";

const limits = { maxExecutionMs: undefined, maxRows: undefined };

describe("guards behind a translation", () => {
  it.each<[object, string, string]>([
    [
      { type: "queryRegex", regex: "cross join" },
      "SELECT 1 FROM a, b",
      "SELECT 1 FROM a CROSS JOIN b",
    ],
    [{ type: "readOnly" }, "SELECT 1", "DELETE FROM t"],
    [{ type: "statementKinds", deny: ["ddl"] }, "SELECT 1", "DROP TABLE t"],
    [
      { type: "requirePredicate", tables: ["t"], columns: ["day"] },
      "SELECT 1 FROM t WHERE day = 1",
      "SELECT 1 FROM t",
    ],
  ])("%j refuses for %s the text %s", async (guard, sql, made) => {
    expect(await sentOf(guard, sql, made)).toMatchObject({
      ok: false,
      error: {
        code: "policy.denied",
        hint: expect.stringContaining("would be sent to the engine"),
      },
    });
    expect(await sentOf(guard, sql, sql)).toMatchObject({ ok: true, value: { engineSql: sql } });
  });

  it("judge a long text as well", async () => {
    const made = `DELETE FROM t WHERE a IN (${"1, ".repeat(40_000)}1)`;
    expect(await sentOf({ type: "readOnly" }, "SELECT 1", made)).toMatchObject({ ok: false });
  });

  it("say nothing more where they warn, or are not meant", async () => {
    const made = "DELETE FROM t";
    const warns = { type: "readOnly", action: "warn" };
    expect(await sentOf(warns, "SELECT 1", made)).toMatchObject({ ok: true });
    const conditions = [{ type: "tags", tags: { job: null } }];
    expect(await sentOf({ type: "readOnly", conditions }, "SELECT 1", made)).toMatchObject({
      ok: true,
    });
  });
});

/** What becomes of a text that is translated to `made`. */
async function sentOf(guard: object, sql: string, made: string) {
  const { guards: parsed } = guardrailsSchema.parse({ guards: [{ name: "g", ...guard }] });
  const guards = compileGuards(parsed, "main", limits, { ask: noScripts });
  const query = queryOf(sql);
  const session = { ...query.session, dialect: "postgres" } as const;
  const asked: Partial<Admitted> = {
    ...query,
    session,
    statement: readStatement(sql, "postgres"),
    allowedSql: sql,
    slot: { cluster: "main" } as Admitted["slot"],
  };
  const writing = {
    host: virtualHost(1),
    backend: { dialect: "duckdb" } as Backend,
    signal: new AbortController().signal,
    recordsMasked: false,
    translator: { translated: () => ok(made) },
  };
  const rules = { limits, ask: noScripts, rewrites: undefined, guards };
  const answer = forEngine(asked as Admitted, writing, rules);
  const run = Promise.resolve(answer);
  const watch = { done: false };
  void run.finally(() => {
    watch.done = true;
  });
  while (!watch.done) await writing.host.advance(1);
  return await run;
}
