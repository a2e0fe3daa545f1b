/** `SET STATEMENT … FOR` of MariaDB: the statement behind it is the one that is asked, its variables go beside it. */
import { columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import { clientOf, doneOf, resultOf, serverOf } from "./rig/mysql.ts";

const text = { kind: "text" } as const;
const rows = resultOf([columnOf("a", text)], [["x"]]);
const before = (version: string) =>
  ({ dialect: "mysql", speaks: "mysql", statuses: new Map([["version", version]]) }) as const;
const script = {
  ...before("11.4.2-MariaDB"),
  answers: { "select a from t": rows, "select ?": rows, "insert into t values (1)": [doneOf()] },
  descriptions: { "select ?": { parameters: [text], columns: [columnOf("a", text)] } },
};
const under = "set statement max_statement_time=1, sql_select_limit = 'x' for";
const settings = "max_statement_time = 1, sql_select_limit = 'x'";

describe("SET STATEMENT before a MariaDB", () => {
  it("asks the statement behind it, which decides what it is, and brings its variables", async () => {
    await using server = await serverOf(script);
    await using client = await clientOf(server);
    await client.query(`set statement max_statement_time=1 for select a from t`);
    await client.query(`set statement max_statement_time=1 for insert into t values (1)`);
    await client.execute(`set statement max_statement_time=1 for select ?`, [1]);
    await client.query("select a from t");
    const asked = server.door.queries.map(({ sql, statement, mysql }) => [
      sql,
      statement.kind,
      statement.writes,
      mysql?.settings,
    ]);
    const one = "max_statement_time = 1";
    expect(asked).toEqual([
      ["select a from t", "select", false, one],
      ["insert into t values (1)", "insert", true, one],
      ["select ?", "select", false, one],
      ["select a from t", "select", false, undefined],
    ]);
  });

  it.each([
    [
      "a mode in which texts are read otherwise",
      "set statement sql_mode='ANSI_QUOTES' for select 1",
    ],
    ["what is the session's", `${under} set @a = 1`],
    ["a transaction's end", `${under} commit`],
    ["a text in a text", `${under} prepare s from 'select 1'`],
    ["another of its kind", `${under} ${under} select 1`],
    ["what only some servers read", `${under} select /*M! 1, */ 2`],
  ])("refuses %s, and nothing runs", async (_what, sql) => {
    await using server = await serverOf(script);
    await using client = await clientOf(server);
    await expect(client.query(sql)).rejects.toMatchObject({ errno: expect.any(Number) });
    await expect(client.prepare(sql)).rejects.toMatchObject({ errno: expect.any(Number) });
    expect(server.door.queries).toEqual([]);
  });

  it("answers of the session what is the gateway's to say", async () => {
    await using server = await serverOf(script);
    await using client = await clientOf(server);
    const sql = "set statement max_statement_time=1 for select user() as u";
    expect((await client.query(sql))[0]).toEqual([{ u: "ann@127.0.0.1" }]);
    expect((await client.execute(sql))[0]).toEqual([{ u: "ann@127.0.0.1" }]);
    expect(server.door.queries).toEqual([]);
  });
});

describe("SET STATEMENT before others", () => {
  it("goes to a MySQL as it is, which says that it has none", async () => {
    await using server = await serverOf({ ...script, ...before("9.1.0") });
    await using client = await clientOf(server);
    await client.query(`${under} select a from t`);
    expect(server.door.queries.map(({ mysql }) => mysql?.settings)).toEqual([settings]);
  });

  it("is a syntax error before a MySQL where the gateway would refuse it, and nothing of it runs", async () => {
    await using server = await serverOf({ ...script, ...before("9.1.0") });
    await using client = await clientOf(server);
    for (const sql of [`${under} set sql_mode = ''`, `${under} begin`, `${under} use demo`])
      await expect(client.query(sql)).rejects.toMatchObject({ errno: 1064 });
    expect(server.door.queries).toEqual([]);
  });

  it("is a syntax error where the engine is none of MySQL's", async () => {
    await using server = await serverOf({ answers: script.answers });
    await using client = await clientOf(server);
    await expect(client.query(`${under} select a from t`)).rejects.toMatchObject({ errno: 1064 });
    expect(server.door.queries).toEqual([]);
  });
});
