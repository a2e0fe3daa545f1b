import { Home } from "@gateway/core/query/home.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { LiveQueries } from "@gateway/core/run/step/live.ts";
import { queryOf } from "@gateway/core/run/rig/plane.ts";
import { describe, expect, it } from "vitest";
import { localQueries } from "./localQueries.ts";

describe("localQueries", () => {
  it("lists what lives, since when, and where it is", () => {
    const { live, host } = liveOf();
    const query = live.open(queryOf("select 1"), host.clock, new AbortController().signal);
    const queries = localQueries(live);
    expect(queries.list()).toMatchObject([
      { user: "alice", frontend: "postgresWire", state: "queued", cluster: undefined, rows: 0 },
    ]);
    query.group = "main";
    query.started("local", { maxExecutionMs: undefined, maxRows: undefined });
    expect(queries.list()).toEqual([
      {
        id: query.query.id,
        user: "alice",
        frontend: "postgresWire",
        state: "running",
        group: "main",
        cluster: "local",
        since: host.clock.unixMs(),
        rows: 0,
        sql: "select 1",
      },
    ]);
    live.closed(query);
    expect(queries.list()).toEqual([]);
  });

  it("shows of a running statement no more than its record will tell, and little of a long one", () => {
    const { live, host } = liveOf();
    const sql = `select 'hunter2', ${"a, ".repeat(10_000)} b`;
    live.open(queryOf(sql), host.clock, new AbortController().signal);
    const shown = (mode: "full" | "maskLiterals" | "metadata") =>
      localQueries(live, () => mode).list()[0]?.sql;
    expect(shown("full")).toBe(sql.slice(0, 4_096));
    expect(shown("maskLiterals")).toMatch(/^select \?, a, /);
    expect(shown("metadata")).toBe("");
  });

  it("shows the variables of a statement alone with it, without their values", () => {
    const { live, host } = liveOf();
    const call = { home: new Home(), foundRows: false, ignoreSpace: false, settings: "a = 'x'" };
    const query = { ...queryOf("select 1", { dialect: "mysql" }), mysql: call };
    live.open(query, host.clock, new AbortController().signal);
    const shown = (mode: "full" | "maskLiterals") => localQueries(live, () => mode).list()[0]?.sql;
    expect(shown("full")).toBe("SET STATEMENT a = 'x' FOR select 1");
    expect(shown("maskLiterals")).toBe("set statement a = ? for select ?");
  });

  it("cancels for an operator what is here, and says when it is not", () => {
    const { live, host } = liveOf();
    const query = live.open(queryOf("select 1"), host.clock, new AbortController().signal);
    const queries = localQueries(live);
    expect(queries.cancel("another")).toBe(false);
    expect(queries.cancel(query.query.id)).toBe(true);
    expect(query.signal.reason).toMatchObject({ code: "query.cancelled" });
  });
});

function liveOf() {
  return { live: new LiveQueries(), host: virtualHost(1) };
}
