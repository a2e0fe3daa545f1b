/** Variables where every engine speaks MySQL: they are the engine's. */
import { gatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import { clientOf, doneOf, resultOf, serverOf } from "../rig/mysql.ts";

const text = (name: string) => ({ name, type: { kind: "text" }, nullable: true }) as const;
const refused = {
  kind: "failed",
  error: {
    code: "query.invalid",
    message: "no",
    vendor: { of: "mysql", code: 1231, sqlState: "42000" },
  },
} as const;

const unknownName = { kind: "failed", error: gatewayError("query.unknownObject") } as const;

const answers = {
  "SET SESSION sql_mode = ''": [doneOf()],
  "SET SESSION sql_mode = 'NO_SUCH'": [refused],
  "SET SESSION div_precision_increment = 9": [doneOf()],
  "SET SESSION time_zone = '+02:00'": [doneOf()],
  "SET SESSION collation_connection = 'latin1_swedish_ci'": [doneOf()],
  "SELECT @@sql_mode LIMIT 1": resultOf([text("@@sql_mode")], [["ITS_OWN"]]),
  "SET SESSION sql_mode = 'ITS_OWN,STRICT_TRANS_TABLES'": [doneOf()],
  "select @@sql_mode": resultOf([text("@@sql_mode")], [["ITS_OWN"]]),
  "select version()": resultOf([text("version()")], [["9.7"]]),
  "SHOW SESSION VARIABLES": resultOf(
    [text("Variable_name"), text("Value")],
    [
      ["autocommit", "ON"],
      ["sql_mode", "ITS_OWN"],
    ],
  ),
  "select 1": [doneOf()],
  "select @@transaction_isolation": [unknownName],
  'select @@tx_isolation AS "@@transaction_isolation"': resultOf(
    [text("@@transaction_isolation")],
    [["SERIALIZABLE"]],
  ),
  "SELECT @@sql_mode, @@session.tx_isolation LIMIT 1": [unknownName],
  'SELECT @@sql_mode, @@session.transaction_isolation AS "@@session.tx_isolation" LIMIT 1':
    resultOf([text("m"), text("i")], [["ITS_OWN", "READ-COMMITTED"]]),
} as const;

const openServer = () => serverOf({ answers, dialect: "mysql" });

describe("variables of an engine that speaks MySQL", () => {
  it("are set on it, and kept in the session once it took them", async () => {
    await using server = await openServer();
    await using client = await clientOf(server);
    await client.query("set sql_mode = ''");
    await client.query("set time_zone = '+02:00'");
    await client.query("select 1");
    const settings = server.door.queries.at(-1)?.session.settings;
    expect([settings?.get("sql_mode"), settings?.get("timezone")]).toEqual(["", "+02:00"]);
  });

  it("are none of it where their name is none that a server has: it is not asked", async () => {
    await using server = await openServer();
    await using client = await clientOf(server);
    const unknown = { errno: 1193, sqlMessage: "Unknown system variable 'nosuchö'" };
    await expect(client.query("set nosuchö = 1")).rejects.toMatchObject(unknown);
    expect(server.door.queries).toEqual([]);
  });

  it("stay as they were where it refuses, and the client gets its error", async () => {
    await using server = await openServer();
    await using client = await clientOf(server);
    await client.query("set sql_mode = ''");
    const both = "set div_precision_increment = 9, sql_mode = 'NO_SUCH'";
    await expect(client.query(both)).rejects.toMatchObject({ errno: 1231 });
    await client.query("select 1");
    const settings = server.door.queries.at(-1)?.session.settings;
    expect([settings?.get("sql_mode"), settings?.has("div_precision_increment")]).toEqual([
      "",
      false,
    ]);
  });

  it("are asked of it, also where a SET needs them", async () => {
    await using server = await openServer();
    await using client = await clientOf(server);
    expect((await client.query("select @@sql_mode"))[0]).toEqual([{ "@@sql_mode": "ITS_OWN" }]);
    expect((await client.query("select version()"))[0]).toEqual([{ "version()": "9.7" }]);
    await client.query("set sql_mode = concat(@@sql_mode, ',STRICT_TRANS_TABLES')");
    const [mixed] = await client.query("select @@sql_mode as m, @@autocommit as a");
    expect(mixed).toEqual([{ m: "ITS_OWN", a: 1 }]);
  });

  it("are listed as its own, with those of the session in their places", async () => {
    await using server = await openServer();
    await using client = await clientOf(server);
    await client.query("set autocommit = 0");
    expect((await client.query("show variables"))[0]).toEqual([
      { Variable_name: "autocommit", Value: "OFF" },
      { Variable_name: "sql_mode", Value: "ITS_OWN" },
    ]);
  });

  it("keeps to the session's limit behind the filter of a list", async () => {
    const limit = "SET SESSION sql_select_limit = 1";
    await using server = await serverOf({
      answers: { ...answers, [limit]: [doneOf()] },
      dialect: "mysql",
    });
    await using client = await clientOf(server);
    await client.query("set character_set_results = null, sql_select_limit = 1");
    const [rows] = await client.query("show variables where variable_name like '%o%'");
    expect(rows).toEqual([{ Variable_name: "autocommit", Value: "ON" }]);
    const asked = server.door.queries.at(-1)?.session.settings;
    expect(asked?.has("sql_select_limit")).toBe(false);
    await client.query("select 1");
    expect(server.door.queries.at(-1)?.session.settings.get("sql_select_limit")).toBe("1");
  });

  it.each(["set insert_id = 5", "set sql_mode = 'ANSI_QUOTES'", "set rand_seed1 = 1"])(
    "are refused where a session can not have them: %s",
    async (sql) => {
      await using server = await openServer();
      await using client = await clientOf(server);
      await expect(client.query(sql)).rejects.toMatchObject({ errno: 1235 });
    },
  );
});

describe("NO_BACKSLASH_ESCAPES", () => {
  const mode = "NO_BACKSLASH_ESCAPES";
  const open = (speaks: "mysql" | undefined) =>
    serverOf({
      answers: {
        [`SET SESSION sql_mode = '${mode}'`]: [doneOf()],
        "SET SESSION sql_mode = ''": [doneOf()],
        "select '\\\\' from t": [doneOf()],
      },
      dialect: "mysql",
      ...(speaks && { speaks }),
    });

  it("is the session's where the engine takes it, and its texts are read so", async () => {
    await using server = await open("mysql");
    await using client = await clientOf(server, { multipleStatements: true });
    const [set] = await client.query(`set sql_mode = '${mode}'`);
    expect(set).toMatchObject({ serverStatus: 2 | 512 });
    // The one string ends behind its backslash.
    await client.query("select '\\' from t");
    expect(server.door.queries.at(-1)?.sql).toBe("select '\\\\' from t");
    await client.query("set sql_mode = ''");
    const [after] = await client.query("select '\\\\' from t");
    expect(after).toMatchObject({ serverStatus: 2 });
  });

  it("changes nothing of what stands behind it in one message", async () => {
    await using server = await open("mysql");
    await using client = await clientOf(server, { multipleStatements: true });
    const both = `set sql_mode = '${mode}'; select '\\' from t --'`;
    await expect(client.query(both)).rejects.toMatchObject({ errno: 1235 });
    expect(server.door.queries.map(({ sql }) => sql)).toEqual([`SET SESSION sql_mode = '${mode}'`]);
  });

  it("is refused where statements may reach an engine of another kind", async () => {
    await using server = await open(undefined);
    await using client = await clientOf(server);
    await expect(client.query(`set sql_mode = '${mode}'`)).rejects.toMatchObject({ errno: 1235 });
  });
});

describe("how a session compares texts", () => {
  it("is what the client's login and SET NAMES say", async () => {
    await using server = await openServer();
    await using client = await clientOf(server, { charset: "UTF8MB4_0900_AI_CI" });
    await client.query("select 1");
    await client.query("set names latin1");
    await client.query("select 1");
    await client.query("set names utf8mb4");
    await client.query("select 1");
    const asked = server.door.queries.filter(({ sql }) => sql === "select 1");
    const settings = asked.map(({ session }) => [...session.settings.entries()]);
    expect(settings).toEqual([
      [["names", "utf8mb4 COLLATE utf8mb4_0900_ai_ci"]],
      [
        ["names", "utf8mb4"],
        ["collation_connection", "latin1_swedish_ci"],
      ],
      [["names", "utf8mb4"]],
    ]);
    await expect(client.query("set names utf8mb4 collate latin1_bin")).rejects.toMatchObject({
      errno: 1253,
    });
  });
});

describe("the isolation of a session", () => {
  it("is asked by its other name where the engine does not know the one", async () => {
    await using server = await openServer();
    await using client = await clientOf(server);
    expect((await client.query("select @@transaction_isolation"))[0]).toEqual([
      { "@@transaction_isolation": "SERIALIZABLE" },
    ]);
    const [mixed] = await client.query(
      "select @@sql_mode, @@session.tx_isolation as i, @@autocommit",
    );
    expect(mixed).toEqual([{ "@@sql_mode": "ITS_OWN", i: "READ-COMMITTED", "@@autocommit": 1 }]);
  });

  it("is the engine's to set; that of the next transaction goes with it", async () => {
    await using server = await serverOf({
      answers: { ...answers, "SET SESSION transaction_isolation = 'SERIALIZABLE'": [doneOf()] },
      dialect: "mysql",
    });
    await using client = await clientOf(server);
    const levels = () =>
      server.door.queries
        .filter(({ sql }) => sql === "select 1")
        .map(({ session }) => session.settings.get("transaction_isolation"));
    await client.query("set transaction isolation level read committed");
    await client.query("select 1");
    await client.query("select 1");
    await client.query("set session transaction isolation level serializable");
    await client.query("select 1");
    expect(levels()).toEqual(["READ-COMMITTED", undefined, "SERIALIZABLE"]);
  });
});
