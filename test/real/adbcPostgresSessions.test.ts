/** What a PostgreSQL client asks of its session and its transactions, through the ADBC driver: set at the server, or refused. */
import type { Backend, PinnedLane } from "@gateway/core/port/backend.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { codeOf, identifiedOf, never, ran, valueOf } from "@gateway/engines/rig/backend.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postgresCluster } from "./adbcHost.ts";

const settings = (...pairs: readonly (readonly [string, string])[]): Partial<Session> => ({
  dialect: "postgres",
  settings: new Map(pairs),
});

let backend: Backend;
beforeAll(async () => {
  backend = await postgresCluster({ poolSize: 3 });
  await ran(backend, "create table kept (a int)");
});
afterAll(async () => {
  await ran(backend, "drop table kept");
  await backend[Symbol.asyncDispose]();
});
afterEach(() => ran(backend, "truncate kept"));

const yes: Parameter = { type: { kind: "boolean" }, value: true };

async function begun(
  sql: string,
  session: Partial<Session> = { dialect: "postgres" },
): Promise<PinnedLane> {
  return valueOf(await backend.begin(identifiedOf(sql, [], session), never));
}

describe("an isolation that a client asked for", () => {
  const count = "select count(*) from kept";

  it.each([
    ["begin isolation level repeatable read", settings(), 0n],
    ["begin", settings(["default_transaction_isolation", "repeatable read"]), 0n],
    ["begin", settings(), 1n],
    [
      "begin isolation level read committed",
      settings(["default_transaction_isolation", "serializable"]),
      1n,
    ],
    ["start transaction with consistent snapshot", { dialect: "mysql" as const }, 0n],
  ])("holds in the server: %s", async (sql, session, seen) => {
    await using lane = await begun(sql, session);
    if (!sql.endsWith("snapshot")) await ran(lane, count, { session });
    await ran(backend, "insert into kept values (1)");
    expect((await ran(lane, count, { session })).rows).toEqual([[seen]]);
  });

  it("may be said behind the BEGIN, before the first query, and not behind it", async () => {
    const session = settings(
      ["transaction_isolation", "repeatable read"],
      ["search_path", "public"],
    );
    await using early = await begun("begin");
    const shown = "show transaction_isolation";
    expect((await ran(early, shown, { session })).rows).toEqual([["repeatable read"]]);
    await using late = await begun("begin");
    await ran(late, count);
    expect((await ran(late, shown, { session })).last).toMatchObject({
      error: { sqlState: "25001" },
    });
  });

  it("is the server's before a savepoint is set, behind which it takes none", async () => {
    const session = settings(["transaction_isolation", "repeatable read"]);
    await using lane = await begun("begin");
    const { session: whole } = identifiedOf("", [], session);
    const set = await lane.divide?.({ kind: "savepoint", name: "a" }, never, whole);
    expect(set).toMatchObject({ ok: true });
    const shown = await ran(lane, "show transaction_isolation", { session });
    expect(shown.rows).toEqual([["repeatable read"]]);
  });

  it("makes one of two transactions fail that only seem to follow one another", async () => {
    const sql = "begin isolation level serializable";
    await using one = await begun(sql);
    await using two = await begun(sql);
    for (const lane of [one, two]) {
      await ran(lane, count);
      await ran(lane, "insert into kept values (1)");
    }
    expect(await one.commit(never)).toMatchObject({ ok: true });
    expect(await two.commit(never)).toMatchObject({ ok: false, error: { sqlState: "40001" } });
  });

  it("holds for a statement of its own too", async () => {
    const session = settings(["default_transaction_isolation", "serializable"]);
    const shown = "select current_setting('transaction_isolation')";
    expect((await ran(backend, shown, { session })).rows).toEqual([["serializable"]]);
    expect((await ran(backend, shown)).rows).toEqual([["read committed"]]);
  });
});

describe("a transaction", () => {
  const instant = { kind: "timestamp", unit: "us", zoned: true } as const;

  it.each<[string, Parameter]>([
    ["an instant", { type: instant, value: 1_350_305_838_000_000n }],
    ["no instant", { type: instant, value: null }],
    ["a list of instants", { type: { kind: "list", item: instant }, value: [0n] }],
  ])("is not ended by %s among the parameters", async (_, parameter) => {
    await using lane = await begun("begin");
    const sql = "insert into kept select 1 where $1 is null or $1 is not null";
    await ran(lane, sql, { parameters: [parameter] });
    await ran(lane, "insert into kept values (2)");
    await lane.rollback(never);
    expect((await ran(backend, "select a from kept")).rows).toEqual([]);
  });
});

describe("a savepoint", () => {
  let lane: PinnedLane;
  beforeEach(async () => {
    lane = await begun("begin");
  });
  afterEach(() => lane[Symbol.asyncDispose]());

  async function divide(
    kind: "savepoint" | "releaseSavepoint" | "rollbackToSavepoint",
    name: string,
  ) {
    const { session } = identifiedOf("", [], { dialect: "postgres" });
    return await lane.divide?.({ kind, name }, never, session);
  }

  it("is the server's, and a failure behind it costs nothing before it", async () => {
    await ran(lane, "insert into kept values (1)");
    await divide("savepoint", 'a "b');
    await ran(lane, "insert into kept values (2)");
    expect(codeOf(await ran(lane, "select 1/0"))).toBe("query.data");
    expect(await divide("rollbackToSavepoint", 'a "b')).toMatchObject({ ok: true });
    expect(await divide("releaseSavepoint", 'a "b')).toMatchObject({ ok: true });
    expect(await lane.commit(never)).toMatchObject({ ok: true });
    expect((await ran(backend, "select a from kept")).rows).toEqual([[1n]]);
  });

  it("takes back what the session set behind it, and the session sets it again", async () => {
    const where = "select current_setting('search_path')";
    const session = settings(["search_path", "pg_temp"]);
    await divide("savepoint", "a");
    expect((await ran(lane, where, { session })).rows).toEqual([["pg_temp"]]);
    await divide("rollbackToSavepoint", "a");
    expect((await ran(lane, where, { session })).rows).toEqual([["pg_temp"]]);
    expect((await ran(lane, where, { session: settings() })).rows).toEqual([['"$user", public']]);
  });

  it("that is not there has PostgreSQL's own code", async () => {
    const error = { code: "query.invalid", sqlState: "3B001" };
    expect(await divide("rollbackToSavepoint", "nowhere")).toMatchObject({ ok: false, error });
  });
});

describe("what a session keeps", () => {
  it("has its time zone, whichever way its offset is written", async () => {
    const sql = "select '2024-01-01 00:00'::timestamptz at time zone 'UTC' = $1::timestamp";
    for (const [zone, utc] of [
      ["+02:00", "2023-12-31 22:00"],
      ["-03:30", "2024-01-01 03:30"],
      ["America/New_York", "2024-01-01 05:00"],
    ] as const) {
      const parameters = [{ type: { kind: "text" }, value: utc }] as const;
      const session = settings(["timezone", zone]);
      expect([zone, (await ran(backend, sql, { session, parameters })).rows]).toEqual([
        zone,
        [[true]],
      ]);
    }
  });

  it("is no temporary table but of a transaction, with which it ends", async () => {
    const kept = "create temp table scratch (a int)";
    for (const sql of [
      kept,
      "create or replace temporary view scratch as select 1",
      "create table pg_temp.scratch (a int)",
      "select 1 as a into temp scratch",
    ]) {
      expect([sql, codeOf(await ran(backend, sql))]).toEqual([sql, "query.unsupported"]);
    }
    await using lane = await begun("begin");
    expect(codeOf(await ran(lane, kept))).toBe("query.unsupported");
    expect(codeOf(await ran(lane, `${kept} on commit drop`))).toBeUndefined();
    await ran(lane, "insert into scratch values (1)");
    expect((await ran(lane, "select a from scratch")).rows).toEqual([[1n]]);
  });

  it("is no temporary table by a search path that makes every new one temporary", async () => {
    const sql = "create table made_in_temp (a int)";
    const session = settings(["search_path", "pg_temp, public"]);
    expect(codeOf(await ran(backend, sql, { session }))).toBe("query.unsupported");
    const last = settings(["search_path", "public, pg_temp"]);
    expect(codeOf(await ran(backend, sql, { session: last }))).toBeUndefined();
    expect(codeOf(await ran(backend, "drop table made_in_temp"))).toBeUndefined();
  });

  it("begins with what its client is told, whatever the server has for the role", async () => {
    await ran(backend, "alter role current_user set timezone = 'America/New_York'");
    await ran(backend, "alter role current_user set datestyle = 'German'");
    await using later = await postgresCluster();
    const sql = "select current_setting('timezone'), '2024-02-03'::date::text";
    expect((await ran(later, sql)).rows).toEqual([["UTC", "2024-02-03"]]);
    await ran(backend, "alter role current_user reset all");
  });

  it.each([
    ["select set_config('search_path', 'away', false) from kept", true],
    ["select set_config('search_path', current_schema(), $1::bool)", true],
    ["select (set_config)('search_path', 'away', a > 0) from kept", true],
    ["select set_config('search_path', 'a(b', true), a from kept", false],
  ])("is a setting by SET, and none by a function that would lose it: %s", async (sql, refused) => {
    const code = codeOf(await ran(backend, sql, { parameters: sql.includes("$1") ? [yes] : [] }));
    expect(code).toBe(refused ? "query.unsupported" : undefined);
  });

  it("has its own settings, and those that change how a text is read", async () => {
    const sql = "select '01/02/2024'::date::text, current_setting('my.own', true)";
    const session = settings(["datestyle", "ISO, DMY"], ["my.own", "it's"]);
    expect((await ran(backend, sql, { session })).rows).toEqual([["2024-02-01", "it's"]]);
    expect((await ran(backend, sql)).rows).toEqual([["2024-01-02", null]]);
  });

  it("is no advisory lock, but of a transaction", async () => {
    expect(codeOf(await ran(backend, "select pg_advisory_lock(1)"))).toBe("query.unsupported");
    await using lane = await begun("begin");
    expect(codeOf(await ran(lane, "select pg_try_advisory_lock(1)"))).toBe("query.unsupported");
    await using other = await begun("begin");
    const tried = "select pg_try_advisory_xact_lock(1)";
    expect((await ran(other, tried)).rows).toEqual([[true]]);
  });
});
