import { noModes } from "@gateway/core/sql/session/statement.ts";
import { describe, expect, it } from "vitest";
import { withChange } from "../session/clientSession.ts";
import { after, answerOf, clientOf, errnoOf, rowsOf } from "../rig/local.ts";

describe("answerSet", () => {
  it("takes what drivers send at the start", () => {
    const statements = [
      "SET NAMES utf8mb4",
      "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci'",
      "SET NAMES DEFAULT",
      "SET CHARACTER SET utf8",
      "SET character_set_results = NULL",
      "SET AUTOCOMMIT = 1",
      "set autocommit=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')",
      "SET SESSION sql_mode='TRADITIONAL,NO_ENGINE_SUBSTITUTION', SESSION wait_timeout = 60",
      "SET @@session.net_write_timeout := 60",
      "SET LOCAL time_zone = '+00:00'",
      "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
      "SET SESSION TRANSACTION READ WRITE",
      "/*!40101 SET NAMES utf8 */",
      "SET session_track_schema=1",
    ];
    for (const sql of statements) expect([sql, answerOf(sql)?.kind]).toEqual([sql, "changed"]);
  });

  it("does not read a value of more than 64 Ki characters: it is nobody's", () => {
    const long = "1".repeat(65_537);
    const refusals = [
      [`set @n = ${long}`, "Variable '@n' can't be set to the value of '…'"],
      [`set @n = concat('${long}')`, "Variable '@n' can't be set to the value of '…'"],
      [`set sql_mode = '${long}'`, "Variable 'sql_mode' can't be set to the value of '…'"],
      [`set time_zone = -${long}`, "Variable 'time_zone' can't be set to the value of '…'"],
      [`set names '${long}'`, "Unknown character set: '…'"],
      [`set names utf8mb4 collate '${long}'`, "Unknown collation: '…'"],
    ] as const;
    for (const [sql, message] of refusals) {
      const answer = answerOf(sql);
      expect(answer).toMatchObject({ kind: "error", reply: { message } });
    }
    expect(rowsOf("select @n", after(`set @n = ${long.slice(1)}`))).toEqual([
      [BigInt(long.slice(1))],
    ]);
  });

  it("keeps what was set for the next question", () => {
    const client = after("set sql_mode = concat(@@sql_mode, ',X'), @n = 'v', wait_timeout = 7");
    expect(rowsOf("select @@wait_timeout, @n", client)).toEqual([[7n, "v"]]);
    expect(rowsOf("select @@sql_mode", client)).toEqual([
      [expect.stringMatching(/NO_ENGINE_SUBSTITUTION,X$/)],
    ]);
    expect(rowsOf("select @@wait_timeout", after("set wait_timeout = default", client))).toEqual([
      [28_800n],
    ]);
  });

  it("turns autocommit off and on, and commits what its absence began", () => {
    const off = after("SET autocommit = OFF");
    expect(off.autocommit).toBe(false);
    expect(answerOf("SET autocommit = ON", off)).toMatchObject({ kind: "changed", commit: true });
    expect(answerOf("SET autocommit = ON")).toMatchObject({ kind: "changed", commit: false });
  });

  it("moves the session to a time zone by name or offset", () => {
    const client = after("set time_zone = 'Europe/Berlin'");
    expect(client.zone.name).toBe("Europe/Berlin");
    expect(client.session.settings.get("timezone")).toBe("Europe/Berlin");
    const system = after("set time_zone = SYSTEM", client);
    expect([system.zone.name, system.session.settings.has("timezone")]).toEqual(["UTC", false]);
    expect(errnoOf("set time_zone = 'Mars/Base'")).toBe(1298);
  });

  it("tells the client what it tracks", () => {
    expect(after("set autocommit = 0").tracked).toEqual([
      { kind: "variable", name: "autocommit", value: "OFF" },
    ]);
  });

  it("puts tags into the session", () => {
    expect([...after("SET @gateway_tags = 'team:a,app:b'").session.tags]).toEqual([
      ["team", "a"],
      ["app", "b"],
    ]);
  });

  it("limits the rows of later results", () => {
    expect(after("SET SQL_SELECT_LIMIT=200").rowLimit).toBe(200);
    expect(after("SET sql_select_limit = DEFAULT").rowLimit).toBeUndefined();
    expect(after("SET sql_select_limit = 18446744073709551615").rowLimit).toBeUndefined();
  });

  it("refuses what it can not honour", () => {
    const refused: Record<string, number> = {
      "SET GLOBAL max_connections = 1": 1227,
      "SET @@global.wait_timeout = 1": 1227,
      "SET PERSIST wait_timeout = 1": 1227,
      "SET nosuch = 1": 1193,
      "SET nosuchö = 1": 1193,
      "SET @@session.`ö` = 1": 1193,
      "SET version = 'x'": 1238,
      "SET NAMES greek": 1115,
      "SET sql_mode = 'ANSI_QUOTES'": 1235,
      "SET sql_mode = 'NO_BACKSLASH_ESCAPES,STRICT_TRANS_TABLES'": 1235,
      "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE": 1235,
      "SET wait_timeout = 'x'": 1232,
      "SET autocommit = 5": 1231,
      "SET @x = (select 1)": 1235,
      "SET wait_timeout = 1 + 1": 1235,
      "SET ROLE admin": 1235,
      "SET PASSWORD = 'x'": 1064,
      SET: 1064,
    };
    for (const [sql, errno] of Object.entries(refused)) {
      expect([sql, errnoOf(sql)]).toEqual([sql, errno]);
    }
  });

  it("accepts a fixed variable being set to what it is", () => {
    expect(answerOf("SET local_infile = 0")?.kind).toBe("changed");
    expect(errnoOf("SET local_infile = 1")).toBe(1238);
  });

  it("changes nothing when one of several changes is refused", () => {
    const client = clientOf();
    expect(answerOf("SET autocommit = 0, nosuch = 1", client)?.kind).toBe("error");
    expect(client.autocommit).toBe(true);
  });

  it("keeps a bounded number of user variables", () => {
    let client = clientOf();
    for (let index = 0; index < 1000; index += 1) client = after(`set @v${index} = 1`, client);
    expect(errnoOf("set @one_more = 1", client)).toBe(1231);
    expect(errnoOf(`set @v1 = '${"x".repeat(70_000)}'`, client)).toBe(1231);
  });
});

describe("changes that are told", () => {
  it("are those that the session's variables name", () => {
    const named = (sql: string, client = clientOf()) => after(sql, client).tracked;
    const zone = { kind: "variable", name: "time_zone", value: "+02:00" };
    expect(named("SET time_zone = '+02:00'")).toEqual([zone]);
    expect(named("SET SESSION transaction_isolation = 'REPEATABLE-READ'")).toEqual([]);
    const all = after("SET session_track_system_variables = '*', session_track_state_change = ON");
    expect(named("SET transaction_isolation = 'REPEATABLE-READ'", all)).toEqual([
      { kind: "variable", name: "transaction_isolation", value: "REPEATABLE-READ" },
      { kind: "state" },
    ]);
    const none = after("SET session_track_system_variables = ''");
    expect(named("SET time_zone = '+02:00'", none)).toEqual([]);
  });

  it("are the ends of a transaction where the client wants them", () => {
    const begun = (client = clientOf()) =>
      withChange(client, { kind: "pinned", modes: noModes, pin: { ...pin } }).tracked;
    expect(begun()).toEqual([]);
    const states = after("SET session_track_transaction_info = 'STATE'");
    expect(begun(states)).toEqual([{ kind: "transaction", marks: "T_______" }]);
    const over = { kind: "unpinned", outcome: "committed" } as const;
    expect(withChange(states, over).tracked).toEqual([]);
    const open = { ...states, session: { ...states.session, pin } };
    expect(withChange(open, over).tracked).toEqual([{ kind: "transaction", marks: "________" }]);
    const all = after("SET session_track_transaction_info = 'CHARACTERISTICS', autocommit = 0");
    expect(begun(all).slice(-2)).toEqual([
      { kind: "characteristics", sql: "START TRANSACTION;" },
      { kind: "transaction", marks: "I_______" },
    ]);
  });
});

const pin = {
  cluster: "c",
  group: "g",
  state: "open",
  end: async () => undefined,
} as const;
