/** How transactions run: of the session, and of the next one alone. */
import { gatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import { after, answerOf, clientOf as sessionOf, contextOf, errnoOf } from "../rig/local.ts";
import { clientOf, doneOf, failureOf, serverOf } from "../rig/mysql.ts";
import { answerLocally } from "./local.ts";

const pin = { cluster: "c", group: "g", state: "open", end: async () => undefined } as const;

describe("SET TRANSACTION before other engines", () => {
  it("is refused where it asks for what only a server can do for one transaction", () => {
    expect(errnoOf("SET TRANSACTION READ ONLY")).toBe(1235);
    expect(errnoOf("SET TRANSACTION READ WRITE", after("SET SESSION TRANSACTION READ ONLY"))).toBe(
      1235,
    );
    expect(answerOf("SET TRANSACTION READ WRITE")?.kind).toBe("changed");
  });

  it("is refused for everyone, in a transaction, and in words that are none of MySQL's", () => {
    const client = sessionOf();
    const within = { ...client, session: { ...client.session, pin } };
    expect(errnoOf("SET GLOBAL TRANSACTION READ ONLY")).toBe(1227);
    expect(errnoOf("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", within)).toBe(1568);
    expect(errnoOf("SET TRANSACTION DEFERRABLE")).toBe(1064);
    expect(errnoOf("SET SESSION TRANSACTION READ WRITE, READ ONLY")).toBe(1064);
    expect(errnoOf("SET SESSION TRANSACTION WITH CONSISTENT SNAPSHOT")).toBe(1064);
  });
});

describe("variables of transactions before servers that speak MySQL", () => {
  const changed = (sql: string, client = sessionOf()) => {
    const context = { ...contextOf(client), ownWords: () => true, relays: () => true };
    const answer = answerLocally(sql, context);
    if (answer?.kind === "error") return answer.reply.errno;
    return answer?.kind === "changed" ? answer.client : answer?.kind;
  };

  it.each([
    ["set transaction read only", { readOnly: true }],
    ["set transaction isolation level serializable, read write", both("serializable", false)],
    ["set @@transaction_read_only = on", { readOnly: true }],
    ["set @@tx_isolation = 'read-committed'", { isolation: "readCommitted" }],
    ["set @@transaction_isolation = 3", { isolation: "serializable" }],
  ])("%s is the next transaction's alone", (sql, next) => {
    const client = changed(sql);
    expect(client).toMatchObject({ next, readOnly: false });
    expect(client).toMatchObject({ session: { settings: new Map() } });
  });

  it.each([
    ["set session transaction read only", "transaction_read_only", "ON"],
    ["set tx_read_only = 0", "transaction_read_only", "OFF"],
    ["set @@session.tx_isolation = 'SERIALIZABLE'", "transaction_isolation", "SERIALIZABLE"],
    ["set transaction_isolation = 1", "transaction_isolation", "READ-COMMITTED"],
  ])("%s is the session's, and the last word for the next one", (sql, name, value) => {
    const before = { ...sessionOf(), next: both("repeatableRead", true) };
    const kept = name === "transaction_read_only" ? "isolation" : "readOnly";
    expect(changed(sql, before)).toMatchObject({
      session: { settings: new Map([[name, value]]) },
      next: { [kept]: before.next[kept] },
    });
  });

  it.each([
    ["set @@transaction_isolation = 'no'", 1231],
    ["set transaction_isolation = 4", 1231],
    ["set @@transaction_read_only = 2", 1231],
    ["set @@transaction_isolation = default", 1235],
  ])("%s is refused", (sql, errno) => {
    expect(changed(sql)).toBe(errno);
  });

  it("are no longer said of the session once it takes them back", () => {
    const set = changed("set session transaction read only");
    if (typeof set !== "object") throw new Error("not set");
    expect(changed("set session transaction_read_only = default", set)).toMatchObject({
      readOnly: false,
      session: { settings: new Map() },
    });
  });
});

describe("what was asked for the next transaction", () => {
  const open = (answers: object = {}) =>
    serverOf({ answers: answersOf(answers), dialect: "mysql", speaks: "mysql" });

  it("goes with the statement that begins it, or is it, and with no other", async () => {
    await using server = await open();
    await using client = await clientOf(server);
    const asked = async (...statements: readonly string[]) => {
      const from = server.door.queries.length;
      for (const sql of statements) await client.query(sql);
      return server.door.queries.slice(from).map(({ sql, mysql }) => [sql, mysql?.next?.readOnly]);
    };
    const once = "set transaction read only";
    expect(await asked(once, "select 1", "select a from t", "select a from t")).toEqual([
      ["select 1", undefined],
      ["select a from t", true],
      ["select a from t", undefined],
    ]);
    expect(await asked(once, "show tables", "begin", "begin")).toEqual([
      ["show tables", undefined],
      ["begin", true],
      ["begin", undefined],
    ]);
    expect(await asked(once, "rollback", "begin")).toEqual([
      ["rollback", true],
      ["begin", undefined],
    ]);
    expect(await asked("set autocommit = 0", once, "select a from t")).toEqual([
      ["BEGIN", true],
      ["select a from t", undefined],
    ]);
  });

  it("stays where its statement fails", async () => {
    await using server = await open({ begin: [failed] });
    await using client = await clientOf(server);
    await client.query("set transaction read only");
    for (let times = 0; times < 2; times += 1) {
      expect(await failureOf(client.query("begin"))).toMatchObject({ errno: 1064 });
    }
    await client.query("select a from t");
    expect(server.door.queries.map(({ mysql }) => mysql?.next?.readOnly)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("leaves it to the server what may be written", async () => {
    await using server = await open();
    await using client = await clientOf(server);
    await client.query("set session transaction read only");
    await client.query("insert into t values (1)");
    expect(server.door.queries.map(({ sql }) => sql)).toEqual([
      "SET SESSION transaction_read_only = 'ON'",
      "insert into t values (1)",
    ]);
  });
});

/** The statements of these tests, each done without a result. */
function answersOf(more: object = {}) {
  const texts = [
    "select 1",
    "select a from t",
    "show tables",
    "begin",
    "BEGIN",
    "COMMIT",
    "rollback",
    "insert into t values (1)",
    "SET SESSION transaction_read_only = 'ON'",
  ];
  return { ...Object.fromEntries(texts.map((sql) => [sql, [doneOf()]])), ...more };
}

const failed = { kind: "failed", error: gatewayError("query.syntax") } as const;

function both(isolation: "serializable" | "repeatableRead", readOnly: boolean) {
  return { isolation, readOnly };
}
