/**
 * Clients whose character set has several bytes a character, on a server of MySQL's family and through the gateway
 * before it: the same answers, and every text read here as the server reads it.
 */
import { characterSet } from "@gateway/wire/mysql/charset/characterSet.ts";
import mysql from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { engine, openBefore, password, port, user } from "./mysqlGateway.ts";

/** What the driver has for each (it has no eucjpms), and a text; the second byte of some is a backslash. */
const samples = [
  ["sjis", "SJIS_JAPANESE_CI", "表ソ亜"],
  ["cp932", "CP932_JAPANESE_CI", "表ソ①"],
  ["ujis", "UJIS_JAPANESE_CI", "表亜ｱ"],
  ["gbk", "GBK_CHINESE_CI", "乗誠啊"],
  ["gb2312", "GB2312_CHINESE_CI", "啊阿"],
  ["gb18030", "GB18030_CHINESE_CI", "乗啊🀄"],
  ["big5", "BIG5_CHINESE_CI", "功許育"],
  ["euckr", "EUCKR_KOREAN_CI", "각갂힣"],
] as const;

let gateway: TestGateway;
let known: ReadonlySet<string>;
beforeAll(async () => {
  gateway = await openBefore();
  const server = await clientOf(port, "UTF8MB4_GENERAL_CI");
  await server.query("drop table if exists charset_words");
  await server.query("create table charset_words (w text character set utf8mb4)");
  await server.query("drop table if exists charset_keys");
  await server.query(
    "create table charset_keys (`ä表` varchar(9) character set utf8mb4 primary key)",
  );
  await server.query("insert into charset_keys values ('ä表')");
  const [sets] = await server.query({ sql: "show character set", rowsAsArray: true });
  known = new Set(Array.isArray(sets) ? sets.map((row) => String(Object.values(row)[0])) : []);
  await server.end();
});
afterAll(() => gateway[Symbol.asyncDispose]());

it.each(["SJIS_JAPANESE_CI", "CP932_JAPANESE_CI"])(
  "a backslash in an error is written as the server writes it: %s",
  async (charset) => {
    const told: unknown[] = [];
    for (const at of [port, portOf(gateway, "mysqlWire")]) {
      const client = await clientOf(at, charset);
      const failed: unknown = await client.query("set `a\\b` = 1").catch((error: unknown) => error);
      told.push((failed as { sqlMessage?: string }).sqlMessage);
      await client.end();
    }
    expect(told[1]).toBe(told[0]);
    expect(told[0]).toMatch(/a.b/);
  },
);

it("a variable of a name that no server has is unknown, in the server's words", async () => {
  const told: unknown[] = [];
  for (const at of [port, portOf(gateway, "mysqlWire")]) {
    const client = await clientOf(at, "UTF8MB4_GENERAL_CI");
    for (const name of ["nosuchö", "`表`", "@@session.ä"]) {
      const failed: unknown = await client
        .query(`set ${name} = 1`)
        .catch((error: unknown) => error);
      const { errno, sqlMessage } = failed as mysql.QueryError & { sqlMessage?: string };
      told.push([errno, sqlMessage]);
    }
    await client.end();
  }
  expect(told.slice(3)).toEqual(told.slice(0, 3));
  expect(told[0]).toEqual([1193, "Unknown system variable 'nosuchö'"]);
});

/** By which collation the driver writes its texts. */
interface WrittenBy {
  readonly connection: { readonly config: { charsetNumber: number } };
}

it.skipIf(engine !== "mysql")(
  "strings of bytes that are no text, and the sets of new databases and of its own, are the server's",
  async () => {
    const raw = "'\xe0\xfd\\0\\'''\\\\'";
    const statements = [
      "set character_set_server = 'latin1', character_set_filesystem = 'utf8mb4'",
      "select @@character_set_server, @@collation_server, @@character_set_database",
      "set collation_server = 'utf8mb4_unicode_ci'",
      "select @@character_set_server, @@collation_server, @@character_set_filesystem",
      "set character_set_server = 'utf8mb4'",
      "set character_set_server = 'nothing'",
      "create temporary table raw_bytes (b blob, v varbinary(9), i bit(48))",
      `insert into raw_bytes values (${raw}, _binary${raw}, '\xe0\xfd') /* \xff */`,
      `select hex(b), hex(v), hex(i) from raw_bytes where b = ${raw}`,
      "insert into charset_words values ('\xe0\xfd')",
      "select hex(_latin1'\xe0\xfd'), '\xc3\xa4'",
    ];
    const told: unknown[][] = [];
    for (const at of [port, portOf(gateway, "mysqlWire")]) {
      const client = await clientOf(at, "UTF8MB4_GENERAL_CI");
      // Its texts are written a byte for each character, which nobody is told.
      const { connection } = client as unknown as WrittenBy;
      connection.config.charsetNumber = 8;
      const answers: unknown[] = [];
      for (const sql of statements) {
        const answer = client.query({ sql, rowsAsArray: true }).then(
          ([rows]) => (Array.isArray(rows) ? rows : "done"),
          (error: unknown) => (error as mysql.QueryError).errno,
        );
        answers.push(await answer);
      }
      told.push(answers);
      await client.end();
    }
    expect(told[1]).toEqual(told[0]);
    expect(told[0]?.[8]).toEqual([["E0FD0027275C", "E0FD0027275C", "E0FD"]]);
  },
);

describe.each(samples)("a client of %s", (set, charset, text) => {
  it("gets what the server gives: texts, names, values and errors", async () => {
    // A MariaDB has no gb18030, and says so (1115).
    if (!known.has(set)) return;
    const direct = await answersOf("direct", charset, text);
    expect(await answersOf("through", charset, text)).toEqual(direct);
    expect(direct.texts).toEqual([text, Array.from(text).length]);
    // What the set has not is a question mark.
    expect(direct.stored).toEqual([[text], [text], [set === "gb18030" ? "ก" : "?"]]);
  });

  it("gets the same after SET NAMES", async () => {
    if (!known.has(set)) return;
    const client = await clientOf(portOf(gateway, "mysqlWire"), "UTF8MB4_GENERAL_CI");
    const bytes = Buffer.from(characterSet(set).encode(text)).toString("hex");
    await client.query(`set names ${set}`);
    const [rows] = await client.query({
      sql: `select convert(_${set} x'${bytes}' using utf8mb4) w, @@character_set_results`,
      rowsAsArray: true,
    });
    expect(rows).toEqual([[text, set]]);
    await client.end();
  });
});

it.each(["UTF8_GENERAL_CI", "ASCII_GENERAL_CI"])(
  "a client of %s gets question marks where the server writes them",
  async (charset) => {
    const told: unknown[] = [];
    for (const at of [port, portOf(gateway, "mysqlWire")]) {
      const client = await clientOf(at, charset);
      const query = (sql: string) =>
        client.query<mysql.RowDataPacket[]>({ sql, rowsAsArray: true });
      // An a with two dots, and a character of four bytes.
      const text = "convert(x'61c3a4f09f92a9' using utf8mb4)";
      const [rows, fields] = await query(`select ${text} as t, x'f09f92a9' as b`);
      const [, named] = await query("select * from charset_keys");
      const failed: unknown = await query(
        "insert into charset_keys select * from charset_keys",
      ).catch((error: unknown) => error);
      told.push([rows, [...fields, ...named].map(({ name, characterSet: set }) => [name, set])]);
      told.push((failed as { sqlMessage?: string }).sqlMessage);
      await client.end();
    }
    expect(told.slice(2)).toEqual(told.slice(0, 2));
    const shown = charset.startsWith("UTF8") ? "aä?" : "a??";
    expect(told[0]).toMatchObject([[[shown, expect.anything()]], expect.anything()]);
  },
);

it("a client of utf8 is told of characters of four bytes what the server tells it", async () => {
  const told: unknown[][] = [];
  for (const at of [port, portOf(gateway, "mysqlWire")]) {
    const client = await clientOf(at, "UTF8_GENERAL_CI");
    const all: unknown[] = [];
    await client.query("create temporary table beyond (a text character set utf8mb4)");
    const sent = [
      ...beyond.map((sql) => ["query", sql]),
      ...prepared.map((sql) => ["execute", sql]),
      ...boundTexts.map((sql) => ["execute", sql, "ä💩"]),
    ];
    for (const [how, sql = "", value = "ä"] of sent) {
      const values = sql.includes("?") ? [value] : [];
      const asked = { sql, rowsAsArray: true, values };
      const answering =
        how === "query"
          ? client.query<mysql.RowDataPacket[]>(asked)
          : client.execute<mysql.RowDataPacket[]>(asked);
      const answer = await answering.then(
        ([rows, fields]) => [rows, fields?.map(({ name }) => name)],
        (error: unknown) => {
          const { errno, sqlMessage } = error as mysql.QueryError & { sqlMessage?: string };
          return [errno, sqlMessage];
        },
      );
      all.push([sql, answer]);
    }
    await client.end();
    told.push(all);
  }
  expect(told[1]).toEqual(told[0]);
});

/** The driver writes the character as two halves, which a server takes for two characters of texts, and for none of names. */
const beyond = [
  "select '💩'",
  "select hex('💩'), length('💩'), charset('💩')",
  "select '💩' as a, 1",
  "select '\\'', '💩' -- 💩",
  `select '${"x".repeat(2_000)}💩'`,
  "select '💩' = 'a', 'ä'",
  "select nosuch💩",
  "select 1 as `💩`",
  "select hex(convert('💩' using utf8mb4))",
  "insert into beyond values ('💩')",
  "select 'ä', '表'",
  "select hex(a) from beyond",
  "select @@character_set_client, @@character_set_results",
];

const prepared = [
  "select '💩', ?",
  "insert into beyond values ('💩')",
  "select 'ä', ?",
  "select hex(a) from beyond",
];

/** With the character in their value. */
const boundTexts = [
  "select ?",
  "select hex(?), 'ä'",
  "select ? = '💩', '💩'",
  "insert into beyond values (?)",
  "select hex(a), length(a) from beyond",
  "select hex(convert(? using utf8mb4))",
];

describe.each([...samples.map(([set]) => set), "eucjpms" as const])("a text of %s", (set) => {
  it("is read as the server reads it", async () => {
    if (!known.has(set)) return;
    const client = await clientOf(port, "UTF8MB4_GENERAL_CI");
    const { decode } = characterSet(set);
    const different: string[] = [];
    for (let lead = 0x81; lead < 0xff; lead += 1) {
      const codes = Array.from({ length: 0xff - 0x40 }, (_, at) => (lead << 8) | (0x40 + at));
      const read = codes.map(
        (code) => `hex(convert(convert(unhex('${hexOf(code)}') using ${set})
        using utf32))`,
      );
      const [[row]] = await client.query<mysql.RowDataPacket[][]>({
        sql: `select ${read.join(",")}`,
        rowsAsArray: true,
      });
      for (const [at, code] of codes.entries()) {
        const here = decode(Buffer.from(hexOf(code), "hex"));
        const there = textOf(row?.[at]);
        // Where the server has no character, or one of ASCII in two bytes, there is none here.
        if (here === undefined ? isCharacter(there) : here !== there)
          different.push(`${hexOf(code)} ${here} ${there}`);
      }
    }
    await client.end();
    expect(different).toEqual([]);
  });
});

function isCharacter(text: string): boolean {
  return Array.from(text).length === 1 && text > "~" && text !== "\ufffd";
}

function hexOf(code: number): string {
  return code.toString(16).padStart(4, "0");
}

function textOf(utf32: unknown): string {
  const points = String(utf32).match(/.{8}/g) ?? [];
  return points.map((point) => String.fromCodePoint(Number.parseInt(point, 16))).join("");
}

async function answersOf(way: "direct" | "through", charset: string, text: string) {
  const client = await clientOf(way === "direct" ? port : portOf(gateway, "mysqlWire"), charset);
  try {
    const sql = `select '${text}' as \`${text}\`, char_length('${text}')`;
    const [rows, fields] = await client.query<mysql.RowDataPacket[]>({ sql, rowsAsArray: true });
    const [bound] = await client.execute({ sql: "select ? a", rowsAsArray: true }, [text]);
    await client.query("delete from charset_words");
    await client.query(`insert into charset_words values ('${text}')`);
    await client.execute("insert into charset_words values (?)", [text]);
    await client.query("insert into charset_words values (convert(0xE0B881 using utf8mb4))");
    const [stored] = await client.query({ sql: "select w from charset_words", rowsAsArray: true });
    const failed: unknown = await client.query(`select * from \`${text}\``).then(
      () => "no error",
      (error: unknown) => error,
    );
    const { errno, sqlMessage } = failed as mysql.QueryError & { sqlMessage?: string };
    const told = sqlMessage?.split(" (query")[0]?.split(". Query id")[0];
    return { texts: rows[0], names: fields.map(({ name }) => name), bound, stored, errno, told };
  } finally {
    await client.end();
  }
}

async function clientOf(at: number, charset: string): Promise<mysql.Connection> {
  const own = { host: "127.0.0.1", user, password, database: "demo" };
  return await mysql.createConnection({ ...own, port: at, charset });
}
