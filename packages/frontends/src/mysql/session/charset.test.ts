/** Clients of other character sets than utf8mb4. */
import { gatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import { clientOf, doneOf, failureOf, resultOf, serverOf } from "../rig/mysql.ts";
import { charsetNamed } from "./charset.ts";

const described = { parameters: [{ kind: "null" }], columns: [] } as const;
const refused = gatewayError("query.invalid", {
  message: "no ąž",
  vendor: { of: "mysql", code: 1054, sqlState: "42S22" },
});

const openServer = (speaks: { readonly speaks?: "mysql" } = { speaks: "mysql" }) =>
  serverOf({
    answers: {
      "select 'ąž'": [doneOf()],
      "select ?": [doneOf()],
      "select '💩ą𝄞'": [doneOf()],
      "select ą": [{ kind: "failed", error: refused }],
      "select c": [{ kind: "failed", error: { ...refused, message: "no ąž💩" } }],
      'USE "ąž"': [{ kind: "failed", error: gatewayError("query.unknownObject") }],
      "SET SESSION collation_connection = 'cp1257_general_ci'": [doneOf()],
      "SET SESSION collation_connection = 'sjis_japanese_ci'": [doneOf()],
      "select a": resultOf([{ name: "a", type: { kind: "text" }, nullable: true }], [["ąž"]]),
    },
    descriptions: { "select ?": described },
    dialect: "mysql",
    ...speaks,
  });

describe("a client of another character set", () => {
  it("is read in the one of its login, and answered in it by a server of MySQL's", async () => {
    await using server = await openServer();
    await using client = await clientOf(server, { charset: "CP1257_BIN" });
    await client.query("select 'ąž'");
    const [query] = server.door.queries;
    expect(query?.mysql?.results).toBe("cp1257");
    expect(query?.session.settings.get("collation_connection")).toBe("cp1257_bin");
    await client.query("set names utf8mb4");
    await client.query("select 'ąž'");
    expect(server.door.queries.at(-1)?.mysql?.results).toBeUndefined();
  });

  it("has its own for what it writes and for what it reads, as it says", async () => {
    await using server = await openServer();
    await using client = await clientOf(server);
    const asked = async () => {
      await client.query("select 'ąž'");
      return server.door.queries.at(-1)?.mysql?.results;
    };
    await client.query("set character_set_results = cp1257");
    expect(await asked()).toBe("cp1257");
    await client.query("set character_set_results = null");
    expect(await asked()).toBeUndefined();
    await client.query("set character_set_client = cp1257");
    expect(await asked()).toBeUndefined();
    await client.query("set names cp1257");
    expect(await asked()).toBe("cp1257");
  });

  it("gets errors in it", async () => {
    await using server = await openServer();
    await using client = await clientOf(server, { charset: "CP1257_BIN" });
    expect((await failureOf(client.query("select ą"))).message).toBe("no ąž");
  });

  it("gets those of a login in it, and of a change of the user", async () => {
    await using server = await openServer();
    const [charset, database] = ["CP1257_BIN", "ąž"];
    const unknown = "Unknown database 'ąž'";
    expect((await failureOf(clientOf(server, { charset, database }))).message).toBe(unknown);
    await using client = await clientOf(server);
    const change = client.changeUser({ user: "bea", charset, database });
    expect((await failureOf(change)).message).toBe(unknown);
  });

  it("has the values of its prepared statements read in it", async () => {
    await using server = await openServer();
    await using client = await clientOf(server, { charset: "CP1257_BIN" });
    await client.execute("select ?", ["ąž"]);
    const body = server.door.queries.at(-1)?.mysql?.execution?.body ?? [];
    expect(Buffer.from(body).toString("latin1")).toContain(
      `\x04${Buffer.from("ąž").toString("latin1")}`,
    );
  });

  it("reads what comes from other engines by what its definitions say", async () => {
    await using server = await openServer({});
    await using client = await clientOf(server, { charset: "CP1257_BIN" });
    expect((await client.query("select a"))[0]).toEqual([{ a: "ąž" }]);
  });

  it.each([
    ["SJIS_JAPANESE_CI", "sjis", "表"],
    ["GBK_CHINESE_CI", "gbk", "乗"],
    ["BIG5_CHINESE_CI", "big5", "功"],
  ])("%s: no second byte is an escape, short or long", async (charset, results, text) => {
    const short = `select '${text}'`;
    const long = `select '${text}', '${"\\".repeat(40_001)}${text.repeat(20_000)}'`;
    const answers = { [short]: [doneOf()], [long]: [doneOf()] };
    await using server = await serverOf({ answers, dialect: "mysql", speaks: "mysql" });
    await using client = await clientOf(server, { charset });
    for (const sql of [short, long]) {
      await client.query(sql);
      expect(server.door.queries.at(-1)?.sql).toBe(sql);
      expect(server.door.queries.at(-1)?.mysql?.results).toBe(results);
    }
  });

  it("is refused what is no text of its set, and sets that no client may have", async () => {
    await using server = await openServer();
    await using client = await clientOf(server);
    // The driver does not hear of it, and goes on in UTF-8.
    await client.query("set session_track_system_variables = ''");
    await client.query("set names sjis");
    expect(await failureOf(client.query("select '💩'"))).toMatchObject({ errno: 1300 });
    await client.query("set names utf8mb4");
    for (const set of ["ucs2", "utf16", "utf16le", "utf32"])
      expect(await failureOf(client.query(`set names ${set}`))).toMatchObject({ errno: 1115 });
  });

  it("has characters of four bytes in two halves, where it says utf8", async () => {
    await using server = await openServer();
    await using client = await clientOf(server, { charset: "UTF8_GENERAL_CI" });
    await client.query("select '💩ą𝄞'");
    expect(server.door.queries[0]?.sql).toBe("select '💩ą𝄞'");
    // Half of one is none.
    expect(charsetNamed("utf8")?.decode(Uint8Array.of(0xed, 0xa0, 0xbd, 0x61))).toBeUndefined();
  });

  it.each([
    ["UTF8_GENERAL_CI", "utf8mb3", "no ąž?"],
    ["ASCII_GENERAL_CI", "ascii", "no ???"],
  ])("gets question marks for what its own has not: %s", async (charset, results, message) => {
    await using server = await openServer();
    await using client = await clientOf(server, { charset });
    expect((await failureOf(client.query("select c"))).message).toBe(message);
    expect(server.door.queries[0]?.mysql?.results).toBe(results);
    await using other = await clientOf(server);
    expect((await failureOf(other.query("select c"))).message).toBe("no ąž💩");
    expect(server.door.queries[1]?.mysql?.results).toBeUndefined();
  });

  it("is told of all three variables", async () => {
    await using server = await openServer();
    await using client = await clientOf(server);
    const [set] = await client.query("set names cp1257");
    expect(set).toMatchObject({
      stateChanges: {
        systemVariables: {
          character_set_client: "cp1257",
          character_set_connection: "cp1257",
          character_set_results: "cp1257",
        },
      },
    });
  });
});
