import type { Pin } from "@gateway/core/query/pin.ts";
import { describe, expect, it } from "vitest";
import { answerOf, clientOf, contextOf, errnoOf } from "../rig/local.ts";
import { answerLocally } from "./local.ts";

describe("answerLocally", () => {
  it("reads where USE wants to go", () => {
    const sql = "USE `my db`";
    expect(answerOf(sql)).toEqual({ kind: "use", sql, catalog: undefined, schema: "my db" });
    expect(answerOf("use lake.sales")).toMatchObject({ catalog: "lake", schema: "sales" });
    expect(errnoOf("USE a.b.c")).toBe(1064);
    expect(errnoOf("USE")).toBe(1064);
  });

  it("tells KILL QUERY from KILL", () => {
    expect(answerOf("KILL QUERY 5")).toEqual({ kind: "kill", connectionId: 5, whole: false });
    expect(answerOf("kill connection 5")).toEqual({ kind: "kill", connectionId: 5, whole: true });
    expect(answerOf("KILL 5")).toEqual({ kind: "kill", connectionId: 5, whole: true });
    expect(errnoOf("KILL x")).toBe(1064);
    expect(errnoOf("KILL -5")).toBe(1064);
  });

  it("never asks a client for its files", () => {
    expect(errnoOf("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t")).toBe(3948);
    expect(errnoOf("load data low_priority local infile 'x' into table t")).toBe(3948);
    expect(answerOf("LOAD DATA INFILE 'x' INTO TABLE local")).toBeUndefined();
  });

  it("refuses the ends of a transaction that do more than end it, but for the next one behind it", () => {
    expect(errnoOf("COMMIT AND CHAIN")).toBe(1235);
    const pin: Pin = { cluster: "c", group: "g", state: "open", end: async () => undefined };
    const client = clientOf();
    const pinned = { ...client, session: { ...client.session, pin } };
    expect(answerOf("COMMIT AND CHAIN", pinned)).toBeUndefined();
    expect(errnoOf("ROLLBACK RELEASE")).toBe(1235);
    for (const sql of ["COMMIT", "ROLLBACK WORK", "COMMIT AND NO CHAIN", "ROLLBACK TO release"]) {
      expect([sql, answerOf(sql)]).toEqual([sql, undefined]);
    }
  });

  it("leaves the server's variables to a server that speaks MySQL, alone", () => {
    const context = { ...contextOf(), ownWords: () => true, relays: () => true };
    const answered = (sql: string) => answerLocally(sql, context);
    expect(answered("SET GLOBAL max_connections = 5")).toBeUndefined();
    expect(answered("set @@persist.wait_timeout = 5, global x = @@x * 2")).toBeUndefined();
    expect(answered("SET GLOBAL TRANSACTION READ ONLY")).toBeUndefined();
    const mixed = answered("SET GLOBAL max_connections = 5, SESSION autocommit = 0");
    expect(mixed).toMatchObject({ kind: "error", reply: { errno: 1227 } });
    expect(errnoOf("SET GLOBAL max_connections = 5")).toBe(1227);
  });

  it("does not read a long SHOW: no client asks so", () => {
    const [short, long] = [65_000, 70_000].map((length) => `SHOW VARIABLES ${" ".repeat(length)}`);
    expect(answerOf(short ?? "")?.kind).toBe("rows");
    expect(answerOf(long ?? "")).toBeUndefined();
  });

  it("leaves statements of the user to the engine", () => {
    const client = clientOf();
    const others = [
      "select * from orders",
      "insert into t values ('@@port')",
      "with a as (select 1) select * from a",
      "create table `set` (a int)",
      "begin",
      "explain select 1",
      "",
      "?",
    ];
    for (const sql of others) expect([sql, answerOf(sql, client)]).toEqual([sql, undefined]);
  });
});
