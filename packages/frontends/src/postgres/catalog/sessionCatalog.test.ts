import { virtualHost } from "@gateway/core/rig/virtual.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { describe, expect, it } from "vitest";
import { scriptedDoor } from "../../rig/scriptedDoor.ts";
import type { CatalogMode } from "../config.ts";
import { statementReader } from "../read/statement.ts";
import { cellsOf, fieldsOf, queryOf, RawClient } from "../rig/rawClient.ts";
import { column, resultOf, served } from "../rig/served.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import { ClientSession } from "../session/clientSession.ts";
import { Mirrors } from "./mirrors.ts";
import { SessionCatalog } from "./sessionCatalog.ts";

const own = "select current_database(), current_user";
const names = "select relname from pg_class";
const live = "select relname, pg_relation_size(oid) from pg_class";

describe("SessionCatalog.takes", () => {
  it.each([
    ["auto", ["postgres"], [true, false, false]],
    ["auto", ["postgres", "duckdb"], [true, true, true]],
    ["auto", ["postgres", undefined], [true, true, true]],
    ["auto", [], [true, true, true]],
    ["mirror", ["postgres"], [true, true, false]],
    ["mirror", ["postgres", "duckdb"], [true, true, true]],
    ["off", ["postgres"], [true, true, true]],
    ["backend", ["duckdb"], [false, false, false]],
  ] as const)("in mode %s over engines that read %j answers %j", (mode, dialects, taken) => {
    expect([own, names, live].map((sql) => takes(sql, mode, dialects))).toEqual(taken);
  });
});

describe("what only an engine knows", () => {
  const sizes = "select pg_relation_size('big')";
  const activity = "select pid from pg_stat_activity";
  const engines = { engines: () => [{ dialect: "postgres", catalogs: [] } as const] };

  it("is asked of a PostgreSQL", async () => {
    const answers = {
      [sizes]: resultOf(column("size"), [8192n]),
      [activity]: resultOf(column("pid"), [17n]),
    };
    await using server = await served({ answers }, {}, engines);
    await using client = await RawClient.start(server.port);
    for (const [sql, cell] of [
      [sizes, "8192"],
      [activity, "17"],
    ] as const) {
      client.send(queryOf(sql));
      const row = (await client.until("Z")).find(({ type }) => type === "D");
      expect(row && cellsOf(row)).toEqual([cell]);
    }
  });

  it("is no lock of a session, which would be gone with its statement", async () => {
    await using server = await served({ answers: {} }, {}, engines);
    await using client = await RawClient.start(server.port);
    client.send(queryOf("select pg_try_advisory_lock(1)"));
    const error = (await client.until("Z")).find(({ type }) => type === "E");
    expect(error && fieldsOf(error)).toMatchObject({ C: "0A000" });
    expect(server.door.queries).toEqual([]);
  });
});

function takes(sql: string, mode: CatalogMode, dialects: readonly (Dialect | undefined)[]) {
  const engines = dialects.map((dialect) => ({ dialect, catalogs: [] }));
  const door = { ...scriptedDoor({ answers: {} }), engines: () => engines };
  const mirrors = new Mirrors(mode, door, virtualHost(1));
  const catalog = new SessionCatalog(mirrors, new ClientSession(sessionOf()), 1);
  const read = statementReader()(sql);
  const [statement] = read.ok ? read.value : [];
  return statement !== undefined && catalog.takes(statement);
}
