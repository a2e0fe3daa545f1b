import { describe, expect, it } from "vitest";
import { ClientSession } from "../session/clientSession.ts";
import { readLocal } from "./local.ts";
import { answerLocal } from "./localAnswer.ts";
import { firstWords } from "../read/statement.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import { pinOf } from "../rig/session.ts";

const localOf = (sql: string) => readLocal(sql, firstWords(sql));

const set = (name: string, value: string | undefined, local = false) => ({
  kind: "set",
  changes: [{ name, value }],
  local,
});

describe("readLocal", () => {
  it.each([
    ["SET extra_float_digits = 3", set("extra_float_digits", "3")],
    ["set application_name to 'psql'", set("application_name", "psql")],
    ["SET SESSION DateStyle='ISO'", set("datestyle", "ISO")],
    ["SET DateStyle TO ISO, DMY", set("datestyle", "ISO, DMY")],
    ["SET LOCAL statement_timeout = '5s'", set("statement_timeout", "5s", true)],
    ['SET TimeZone = "Europe/Berlin"', set("timezone", "Europe/Berlin")],
    ["SET TIME ZONE -3", set("timezone", "-3")],
    ["SET TIME ZONE LOCAL", set("timezone", undefined)],
    ["SET NAMES 'utf8'", set("client_encoding", "utf8")],
    ["set search_path = \"$user\", 'a', B", set("search_path", '"$user", a, "B"')],
    ["set search_path = 'a, b', ''", set("search_path", '"a, b", ""')],
    ["SET gateway.tags = 'team:red,job:x'", set("gateway.tags", "team:red,job:x")],
    ["SET /* why */ work_mem TO DEFAULT", set("work_mem", undefined)],
    ["SET my.own = 'it''s'", set("my.own", "it's")],
    [
      "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
      set("default_transaction_isolation", "read committed"),
    ],
    ["SET TRANSACTION READ WRITE", set("transaction_read_only", "off", true)],
    ["SET SCHEMA 'sales'", set("search_path", "sales")],
    ["SET ROLE NONE", { kind: "nothing", tag: "SET" }],
    ["SET SESSION AUTHORIZATION DEFAULT", { kind: "nothing", tag: "SET" }],
    ["RESET ALL", { kind: "resetAll" }],
    ["reset timezone", { kind: "reset", name: "timezone" }],
    ["SHOW TRANSACTION ISOLATION LEVEL", { kind: "show", name: "transaction_isolation" }],
    ["show standard_conforming_strings", { kind: "show", name: "standard_conforming_strings" }],
    ["SHOW ALL", { kind: "showAll" }],
    ["DISCARD ALL", { kind: "discardAll" }],
    ["DISCARD TEMPORARY", { kind: "nothing", tag: "DISCARD TEMP" }],
    ['DEALLOCATE PREPARE "S 1"', { kind: "deallocate", name: "S 1" }],
    ["DEALLOCATE ALL", { kind: "deallocate", name: undefined }],
    ["UNLISTEN *", { kind: "nothing", tag: "UNLISTEN" }],
  ])("reads %s", (sql, expected) => {
    expect(localOf(sql)).toEqual(expected);
  });

  it.each([
    "select 1",
    "select user_id from t",
    "select user, name from t",
    "select version() from t",
    "select version()::text",
    "select version() || 'x'",
    "select current_setting(name) from pg_settings",
    "select set_config('a', $1, false)",
    "SET memory_limit = '1GB'",
    "SET x",
    "SHOW TABLES",
    "RESET memory_limit",
    "COPY t TO '/etc/passwd'",
    "insert into t values (1)",
    "(select version())",
    "",
    "-- nothing",
    `select version(), ${"1,".repeat(300)} 1`,
  ])("leaves to the engine: %s", (sql) => {
    expect(localOf(sql)).toBeUndefined();
  });

  it.each([
    "SET ROLE admin",
    "SET SESSION AUTHORIZATION 'root'",
    "PREPARE p AS select 1",
    "LISTEN x",
  ])("refuses %s as not supported", (sql) => {
    expect(localOf(sql)).toMatchObject({ kind: "refuse", error: { code: "query.unsupported" } });
  });

  it.each([
    ["select version()", ["version"]],
    ["SELECT pg_catalog.version()", ["version"]],
    ["select current_user", ["current_user"]],
    ["select pg_backend_pid() as pid, current_setting('TimeZone') zone", ["pid", "zone"]],
    ["SELECT set_config('search_path','x',false)", ["set_config"]],
  ])("answers %s", (sql, labels) => {
    const local = localOf(sql);
    expect(local?.kind === "ask" ? local.questions.map(({ label }) => label) : local).toEqual(
      labels,
    );
  });

  it("knows the question about array types however it is laid out", () => {
    const sql = `
      select b.oid, b.typarray
      from pg_catalog.pg_type a
      left join pg_catalog.pg_type b on b.oid = a.typelem
      where a.typcategory = 'A'
      group by b.oid, b.typarray
      order by b.oid
    `;
    expect(localOf(sql)).toEqual({ kind: "arrayTypes" });
    expect(localOf(sql.replace("'A'", "'B'"))).toBeUndefined();
  });
});

describe("answerLocal", () => {
  it("answers questions from the session", () => {
    const answered = ask("select current_user, current_setting('timezone'), pg_backend_pid()");
    expect(answered).toMatchObject({
      ok: true,
      value: { rows: [["ann", "UTC", 77n]], tag: "SELECT" },
    });
  });

  it("knows no setting that does not exist, unless a miss is allowed", () => {
    expect(ask("select current_setting('nope')")).toMatchObject({
      ok: false,
      error: { sqlState: "42704" },
    });
    expect(ask("select current_setting('nope', true)")).toMatchObject({
      value: { rows: [[null]] },
    });
    expect(ask("show my.own")).toMatchObject({ ok: false, error: { sqlState: "42704" } });
  });

  it("sets by set_config and answers the new value", () => {
    const session = new ClientSession(sessionOf());
    expect(ask("select set_config('TimeZone', 'Asia/Tokyo', false)", session)).toMatchObject({
      value: { rows: [["Asia/Tokyo"]] },
    });
    expect(session.zone.name).toBe("Asia/Tokyo");
  });

  it("warns about SET LOCAL outside of a transaction and changes nothing", () => {
    const session = new ClientSession(sessionOf());
    expect(ask("set local timezone = 'Asia/Tokyo'", session)).toMatchObject({
      value: { tag: "SET", warning: "SET LOCAL can only be used in transaction blocks" },
    });
    expect(session.setting("timezone")).toBe("UTC");
  });

  it("refuses DISCARD ALL inside a transaction", () => {
    const session = new ClientSession(sessionOf({ pin: pinOf() }));
    expect(ask("discard all", session)).toMatchObject({ ok: false, error: { sqlState: "25001" } });
  });

  it("refuses a read-only transaction, which it could not hold", () => {
    expect(ask("set session characteristics as transaction read only")).toMatchObject({
      ok: false,
      error: { code: "query.unsupported" },
    });
  });

  it("lists every setting with its value", () => {
    const all = ask("show all");
    expect(all.ok && all.value.rows).toContainEqual(["server_encoding", "UTF8", ""]);
  });
});

function ask(sql: string, session = new ClientSession(sessionOf())) {
  const local = localOf(sql);
  if (local === undefined) throw new Error(`not local: ${sql}`);
  return answerLocal(local, session, { process: 77 });
}
