/**
 * Clients whose client_encoding is not UTF-8, in each way of pooling: the server answers in it, one session's never
 * reaches another, and every text is read here as the server reads it.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { charsetOf } from "@gateway/wire/postgres/charset/charset.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { PgRaw, type Raw } from "./postgresRaw.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
beforeAll(async () => {
  server = await emptyDatabase("encodings");
  const setup = new pg.Client({ connectionString: server.href });
  await setup.connect();
  await setup.query("create table words (w text); insert into words values ('é'), ('表'), ('''')");
  await setup.end();
});

/** A text with what its set writes in bytes of its own. */
const samples = [
  ["LATIN1", "é"],
  ["WIN1252", "€"],
  ["KOI8R", "я"],
  ["SJIS", "表"],
  ["GBK", "乗"],
  ["BIG5", "功"],
  ["EUC_JP", "表"],
  ["EUC_KR", "각"],
  ["EUC_CN", "啊"],
  ["EUC_TW", "龘"],
  ["UHC", "갂"],
  ["JOHAB", "뷁"],
  ["GB18030", "🀄"],
  ["LATIN10", "ț"],
  ["EUC_JIS_2004", "\u{20089}"],
  ["SHIFT_JIS_2004", "噂"],
] as const;

describe.each(["session", "transaction", "statement"])("pooled by %s", (poolMode) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const auth = { type: "basic", username: server.username, password: "none" };
    const local = {
      engine: "postgresql",
      hosts: [server.host],
      database: "encodings",
      auth,
      poolSize: poolMode === "session" ? 4 : 1,
      poolMode,
    };
    gateway = await gatewayOf(configOf({ clusters: { local } }));
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());
  const through = async (settings: Readonly<Record<string, string>> = {}): Promise<Raw> =>
    await PgRaw.open(portOf(gateway, "postgresWire"), "encodings", settings);

  it.each(samples)("texts, rows and names are in %s", async (encoding, text) => {
    await using client = await through({ client_encoding: encoding });
    expect(client.statuses.get("client_encoding")).toBe(encoding);
    const bytes = bytesOf(encoding, text);
    const sql = join("select '", bytes, "' as \"", bytes, '"');
    const { cells, names } = await client.query(sql);
    expect(cells).toEqual([bytes]);
    expect(names).toEqual([bytes]);
    expect((await client.query(join("select length('", bytes, "')"))).texts).toEqual(["1"]);
    expect((await client.bound("select $1::text || ''", bytes)).cells).toEqual([bytes]);
  });

  it("an error of the server and one of the gateway are in it", async () => {
    await using client = await through({ client_encoding: "SJIS" });
    const name = bytesOf("SJIS", "表");
    const { error } = await client.query(join('select * from "', name, '"'));
    expect(error?.get("C")?.toString()).toBe("42P01");
    expect(error?.get("M")?.includes(name)).toBe(true);
    expect(error?.get("P")?.toString()).toBe("15");
    const setting = await client.query(join('show "', name, '"'));
    expect(setting.error?.get("M")?.includes(name)).toBe(true);
  });

  it("a character that the client's encoding has not is the server's error", async () => {
    await using client = await through({ client_encoding: "LATIN1" });
    const { error } = await client.query("select w from words where w > 'zzz'");
    expect(error?.get("C")?.toString()).toBe("22P05");
    expect((await client.query("select 1")).texts).toEqual(["1"]);
    await client.query(Buffer.from("set gateway.tags = 'a:é'", "latin1"));
    await client.query("set client_encoding = 'KOI8R'");
    const shown = await client.query("show gateway.tags");
    expect(shown.error?.get("C")?.toString()).toBe("22P05");
    await client.query("set client_encoding = 'WIN1252'");
    expect((await client.query("show gateway.tags")).cells).toEqual([bytesOf("LATIN1", "a:é")]);
  });

  it("bytes that are no text of it are refused", async () => {
    await using client = await through({ client_encoding: "SJIS" });
    const { error } = await client.query(Buffer.from([0x73, 0x83]));
    expect(error?.get("C")?.toString()).toBe("22021");
    expect((await client.query("select 1")).texts).toEqual(["1"]);
  });

  it("clients of different encodings take turns and none sees another's", async () => {
    const clients = await Promise.all(
      [...samples, ["UTF8", "é"] as const]
        .map(async ([encoding, text]) => {
          const client = await through({ client_encoding: encoding });
          return { client, encoding, bytes: bytesOf(encoding, text) };
        })
        .slice(poolMode === "session" ? -4 : 0),
    );
    for (let turn = 0; turn < 20; turn += 1) {
      const answers = await Promise.all(
        clients.map(async ({ client, bytes }) => await client.query(join("select '", bytes, "'"))),
      );
      expect(answers.map(({ cells }) => cells)).toEqual(clients.map(({ bytes }) => [bytes]));
    }
    for (const { client, encoding } of clients) {
      expect(client.statuses.get("client_encoding")).toBe(encoding);
      await client[Symbol.asyncDispose]();
    }
  });

  it("SET, SET NAMES, RESET, set_config and a setting by a value are told and hold", async () => {
    await using client = await through();
    const told = (): string | undefined => client.statuses.get("client_encoding");
    const word = "select w from words where length(w) = 1 order by w desc limit 1 offset 1";
    const changes = [
      ["set client_encoding to 'latin-1'", "LATIN1"],
      ["set names 'win1252'", "WIN1252"],
      ["reset client_encoding", "UTF8"],
      ["select set_config('client_encoding', 'iso88591', false)", "LATIN1"],
      ["reset all", "UTF8"],
    ] as const;
    for (const [sql, encoding] of changes) {
      await client.query(sql);
      expect([sql, told()]).toEqual([sql, encoding]);
      expect((await client.query("show client_encoding")).texts).toEqual([encoding]);
      expect((await client.query(word)).cells).toEqual([bytesOf(encoding, "é")]);
    }
    // What a connection would keep is refused there, and changes nothing.
    if (poolMode === "statement") return;
    await client.bound("select set_config('client_encoding', $1, false)", Buffer.from("latin9"));
    expect(told()).toBe("LATIN9");
    expect((await client.query(word)).cells).toEqual([bytesOf("LATIN9", "é")]);
    const refused = await client.query("set client_encoding = 'MULE_INTERNAL'");
    expect(refused.error?.get("C")?.toString()).toBe("0A000");
    expect(told()).toBe("LATIN9");
    // A server has no conversion between it and the UTF-8 of the database.
    const direct = new pg.Client({ connectionString: server.href });
    await direct.connect();
    const itself = direct.query("set client_encoding = 'MULE_INTERNAL'");
    await expect(itself).rejects.toMatchObject({ code: "0A000" });
    await direct.end();
  });

  it.skipIf(poolMode === "statement")("a transaction takes it back", async () => {
    await using client = await through();
    const word = "select 'é'";
    const told = (): string | undefined => client.statuses.get("client_encoding");
    await client.query("begin");
    await client.query("set local client_encoding = 'LATIN1'");
    expect((await client.query(Buffer.from(word, "latin1"))).cells).toEqual([Buffer.from([0xe9])]);
    await client.query("commit");
    expect(told()).toBe("UTF8");
    expect((await client.query(word)).texts).toEqual(["é"]);
    await client.query("begin");
    await client.query("set client_encoding = 'LATIN1'");
    expect((await client.query(Buffer.from(word, "latin1"))).cells).toEqual([Buffer.from([0xe9])]);
    await client.query("savepoint s");
    await client.query("set client_encoding = 'SJIS'");
    await client.query("select 1");
    await client.query("rollback to s");
    expect((await client.query(Buffer.from(word, "latin1"))).cells).toEqual([Buffer.from([0xe9])]);
    await client.query("select 1 / 0");
    await client.query("rollback");
    expect(told()).toBe("UTF8");
    expect((await client.query(word)).texts).toEqual(["é"]);
  });

  // The second byte of each is a backslash or stands where a quotation mark could: one text for reader and server.
  it.each([
    ["SJIS", [0x95, 0x5c]],
    ["GBK", [0x81, 0x5c]],
    ["BIG5", [0xa5, 0x5c]],
    ["GB18030", [0x81, 0x5c]],
    ["GB18030", [0x81, 0x30, 0x81, 0x30]],
    ["EUC_TW", [0x8e, 0xa2, 0xa1, 0xa1]],
    ["UHC", [0x81, 0x41]],
    ["SHIFT_JIS_2004", [0x95, 0x5c]],
    ["EUC_JIS_2004", [0x8f, 0xa1, 0xa1]],
  ] as const)("a byte of a character of %s ends no literal", async (encoding, char) => {
    await using client = await through({ client_encoding: encoding });
    const bytes = Buffer.from(char);
    const sql = join("select E'", bytes, "', '", bytes, "' -- ' from words");
    expect((await client.query(sql)).cells).toEqual([bytes, bytes]);
    // A lead byte before the mark takes it along nowhere: it is no character of the set.
    const broken = join("select '", bytes.subarray(0, 1), "' or 1=1 --'");
    expect((await client.query(broken)).error?.get("C")?.toString()).toBe("22021");
  });
});

function bytesOf(encoding: string, text: string): Buffer {
  const charset = charsetOf(encoding);
  return Buffer.from(charset?.encode(text) ?? Buffer.from(text));
}

function join(...parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}
