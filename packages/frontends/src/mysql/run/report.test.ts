/** What a server of MySQL's family says at a statement's end, as a client of the frontend is told it. */
import type { ServerReport } from "@gateway/core/query/event.ts";
import { describe, expect, it } from "vitest";
import { clientOf, doneOf, resultOf, serverOf } from "../rig/mysql.ts";

const report: ServerReport = {
  changedCount: 1,
  insertId: 0n,
  warnings: 0,
  info: "",
  foundRows: undefined,
};
const column = { name: "a", type: { kind: "text" }, nullable: true } as const;

const answers = {
  update: [
    doneOf({
      updateType: "UPDATE",
      updateCount: 3,
      report: { ...report, info: "Rows matched: 3  Changed: 1  Warnings: 0" },
    }),
  ],
  insert: [
    { kind: "session", change: { kind: "setting", name: "last_insert_id", value: "42" } },
    { kind: "notice", code: "Warning 1265", text: "Data truncated" },
    doneOf({ updateCount: 1, report: { ...report, insertId: 42n, warnings: 5 } }),
  ],
  "select 1": [
    ...resultOf([column], [["x"]]).slice(0, -1),
    doneOf({ report: { ...report, foundRows: 9 } }),
  ],
} as const;

describe("the end of a statement", () => {
  it.each([
    ["found", "FOUND_ROWS", 3],
    ["changed", "-FOUND_ROWS", 1],
  ])("counts the rows that were %s, as the client's flag asks", async (_what, flag, count) => {
    await using server = await serverOf({ answers });
    await using client = await clientOf(server, { flags: [flag] });
    const [result] = await client.query("update");
    expect(result).toMatchObject({ affectedRows: count, changedRows: 1 });
    expect(await client.query("select row_count() as n")).toMatchObject([[{ n: count }], {}]);
  });

  it("has the query's id behind the server's line, and nothing where that is empty", async () => {
    await using server = await serverOf({ answers });
    await using client = await clientOf(server);
    expect((await client.query("update"))[0]).toMatchObject({
      info: expect.stringMatching(/^Rows matched: 3 {2}Changed: 1 {2}Warnings: 0 {2}Query id: /),
    });
    expect((await client.query("insert"))[0]).toMatchObject({ info: "" });
  });

  it("tells the id that a row got and the server's warnings, and the session keeps both", async () => {
    await using server = await serverOf({ answers });
    await using client = await clientOf(server);
    expect(await client.query("insert")).toMatchObject([
      { insertId: 42, warningStatus: 5 },
      undefined,
    ]);
    const [warnings] = await client.query("show warnings");
    expect(warnings).toEqual([{ Level: "Warning", Code: 1265, Message: "Data truncated" }]);
    const [ids] = await client.query("select last_insert_id() as id, @@identity as same");
    expect(ids).toEqual([{ id: 42, same: 42 }]);
    await client.reset();
    expect((await client.query("select last_insert_id() as id"))[0]).toEqual([{ id: 0 }]);
  });

  it("tells how many rows there were without a limit", async () => {
    await using server = await serverOf({ answers });
    await using client = await clientOf(server);
    await client.query("select 1");
    expect((await client.query("select found_rows() as n"))[0]).toEqual([{ n: 9 }]);
  });
});

describe("where every engine speaks MySQL", () => {
  it("statements about tables go on in the client's own words, and those about the session stay", async () => {
    await using server = await serverOf({ answers, dialect: "mysql" });
    await using client = await clientOf(server);
    const asked = [
      "show full columns from t",
      "show create table t",
      "show table status",
      "describe t",
      "select table_name from information_schema.tables",
    ];
    for (const sql of asked) await client.query(sql).catch(() => undefined);
    expect(server.door.queries.map(({ sql }) => sql)).toEqual(asked);
    await client.query("show full processlist");
    await client.query("show warnings");
    expect(server.door.queries.length).toBe(asked.length);
  });
});
