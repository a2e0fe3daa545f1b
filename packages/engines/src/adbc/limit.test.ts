/** A statement's limit on its connection: DuckDB's driver in a process, whose connections keep a variable as Snowflake's keep a parameter. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { ok } from "@gateway/core/result.ts";
import { afterEach, describe, expect, it } from "vitest";
import { duckDbDriver } from "../duckDb/library/library.ts";
import { hostOf, identifiedOf, never, ran, valueOf, type Ran } from "../rig/backend.ts";
import { backendOf } from "./adapter.ts";
import { processLimits } from "./client/connections.ts";
import { limitStatements, type LimitState } from "./limit.ts";
import { profileOf, type Profile } from "./profile.ts";

const shown = "select getvariable('limit_secs')";
const minute = { maxExecutionMs: 60_000 };
const backends: Backend[] = [];

afterEach(async () => {
  for (const one of backends.splice(0)) await one[Symbol.asyncDispose]();
});

describe("the limit of a statement", () => {
  it("stands on its connection before it, and goes with the group that has none", async () => {
    const backend = clusterOf();
    expect(backend.limitsExecution).toBe(true);
    expect(onlyCell(await ran(backend, shown))).toBeNull();
    expect(onlyCell(await ran(backend, shown, minute))).toBe(60n);
    expect(onlyCell(await ran(backend, shown, minute))).toBe(60n);
    expect(onlyCell(await ran(backend, shown, { maxExecutionMs: 5_000 }))).toBe(5n);
    expect(onlyCell(await ran(backend, shown))).toBeNull();
  });

  it("stands there also after a statement that failed before it was said", async () => {
    const backend = clusterOf();
    const away = { session: { schema: "nowhere" }, ...minute };
    expect((await ran(backend, shown, away)).last?.kind).toBe("failed");
    expect(onlyCell(await ran(backend, shown, minute))).toBe(60n);
  });

  it("stands before each statement of a transaction", async () => {
    const backend = clusterOf();
    const lane = valueOf(await backend.begin(identifiedOf("begin"), never));
    expect(onlyCell(await ran(lane, shown, minute))).toBe(60n);
    expect(onlyCell(await ran(lane, shown, { maxExecutionMs: 7_000 }))).toBe(7n);
    await lane[Symbol.asyncDispose]();
  });
});

describe("limitStatements", () => {
  const snowflake = profileOf("snowflake");
  const set = "ALTER SESSION SET STATEMENT_TIMEOUT_IN_SECONDS = 60";

  it("says Snowflake's limit once, and again after whatever may have raised it", () => {
    for (const raising of [
      "alter session set statement_timeout_in_seconds = 0",
      "ALTER /**/ SESSION UNSET STATEMENT_TIMEOUT_IN_SECONDS",
      "call raise_it()",
      "with p as procedure () returns int language sql as $$ begin return 1; end $$ call p()",
      "select * from table(raise_it())",
      "execute immediate $$ alter session set x = 1 $$",
      "begin alter\nsession set x = 1; end",
    ]) {
      const taken = { limit: {} as LimitState };
      const said = (engineSql: string) =>
        limitStatements(snowflake, taken, { engineSql, ...minute }).join();
      expect([said("select 1"), said("select 1"), said(raising)]).toEqual([set, "", ""]);
      expect([said(raising), said("select 1"), said("select 1")]).toEqual([set, set, ""]);
    }
  });

  it("says nothing on a connection that never had one, whatever failed or was changed there", () => {
    const taken = { limit: { secs: undefined } as LimitState };
    const said = (engineSql: string) =>
      limitStatements(snowflake, taken, { engineSql, maxExecutionMs: undefined }).join();
    expect([said("call raise_it()"), said("select 1")]).toEqual(["", ""]);
    const limited = limitStatements(snowflake, taken, { engineSql: "select 1", ...minute });
    expect([limited.join(), said("select 1")]).toEqual([
      set,
      "ALTER SESSION UNSET STATEMENT_TIMEOUT_IN_SECONDS",
    ]);
  });

  it("never says more than the engine takes, and nothing where nobody knows how", () => {
    const long = { engineSql: "select 1", maxExecutionMs: 10 ** 12 };
    const fresh = () => ({ limit: { secs: undefined } });
    expect(limitStatements(snowflake, fresh(), long)).toEqual([set.replace("60", "604800")]);
    expect(limitStatements(snowflake, fresh(), { ...long, maxExecutionMs: undefined })).toEqual([]);
    expect(limitStatements(profileOf("flightsql"), fresh(), long)).toEqual([]);
    expect(limitStatements(profileOf(undefined), fresh(), long)).toEqual([]);
  });
});

function onlyCell({ rows, last }: Ran): unknown {
  if (last?.kind !== "done") throw new Error(JSON.stringify(last));
  return rows[0]?.[0];
}

function clusterOf(): Backend {
  const found = duckDbDriver();
  if (!found.ok) throw new Error(found.error);
  const profile: Profile = {
    ...profileOf("duckdb"),
    isolated: true,
    connection: { cleaning: undefined },
    limit: {
      set: (secs) => `SET VARIABLE limit_secs = ${secs}`,
      unset: "RESET VARIABLE limit_secs",
      secsMax: 604_800,
    },
  };
  const backend = backendOf(
    {
      cluster: "limited",
      profile,
      library: found.value,
      size: 1,
      limits: processLimits,
      shared: { key: "limited", settings: "" },
      options: async () => ok({ options: [["path", ":memory:"]], setup: [] }),
    },
    undefined,
    hostOf(),
  );
  backends.push(backend);
  return backend;
}
