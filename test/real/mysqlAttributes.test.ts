/**
 * Query attributes of a client: what the server reads of them is the same direct and through the gateway, beside texts
 * and executions, whatever the client's character set. A MariaDB takes none, and clients before it are not offered any.
 */
import { execFile } from "node:child_process";
import mysql, { type Connection, type ConnectionOptions, type QueryOptions } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { openBefore, password, port, user } from "./mysqlGateway.ts";

const host = "127.0.0.1";
let gateway: TestGateway;
let direct: Connection;
let through: Connection;
let isMysql: boolean;
beforeAll(async () => {
  gateway = await openBefore(4);
  direct = await mysql.createConnection(there());
  through = await mysql.createConnection(entered());
  isMysql = !JSON.stringify((await direct.query("select version()"))[0]).includes("MariaDB");
  if (isMysql) await installed();
});
afterAll(async () => {
  for (const client of [direct, through]) await client.end();
  await gateway[Symbol.asyncDispose]();
});

const database = "demo";
const multipleStatements = true;
const there = () => ({ host, port, user, password, database, multipleStatements });
const entered = () => ({
  host,
  port: portOf(gateway, "mysqlWire"),
  user: "ann",
  database,
  multipleStatements,
});

/** The server's function that reads them is a component of its own. */
async function installed(): Promise<void> {
  const root = await mysql.createConnection({ host, port, user: "root" });
  await root.query("install component 'file://component_query_attributes'").catch(() => undefined);
  await root.end();
}

const a = "mysql_query_attribute_string('a')";
const both = `select ${a} a, mysql_query_attribute_string('B') b, hex(${a}) h`;

/** What a client sends beside a statement. */
type Sent = NonNullable<QueryOptions["attributes"]>;
const sent: readonly Sent[] = [
  { a: "x" },
  { a: "ä漢😀", b: "" },
  { a: null, b: null },
  { a: 5, b: -1.5 },
  { a: 2 ** 40, b: true },
  { a: new Date(86_400_123), b: Buffer.from([1, 0, 255]) },
  { a: "l".repeat(300), b: "m".repeat(70_000) },
  { c: "nobody asks", a: "'; select 1 -- " },
  Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`a${index || ""}`, index])),
  {},
];

/** One statement with attributes: its rows, or the number of its error. */
async function answered(
  client: Connection,
  sql: string,
  attributes: Sent,
  values?: readonly (string | number | null)[],
): Promise<unknown> {
  const asked = { sql, attributes, rowsAsArray: true };
  const running = values === undefined ? client.query(asked) : client.execute(asked, [...values]);
  return await running.then(
    ([rows]) => (Array.isArray(rows) ? rows : "done"),
    (error: { readonly errno?: number }) => error.errno,
  );
}

const same = async (
  ...asked: Parameters<typeof answered> extends [Connection, ...infer R] ? R : never
) => {
  const wanted = await answered(direct, ...asked);
  expect(await answered(through, ...asked)).toEqual(wanted);
  return wanted;
};

describe("query attributes", () => {
  it("are offered before a MySQL alone", () => {
    expect(offers(through)).toBe(isMysql);
    expect(offers(direct)).toBe(isMysql);
  });

  it.each(sent)("reach the server beside texts and executions: %j", async (attributes) => {
    if (!isMysql) return;
    const read = await same(both, attributes);
    expect(await same(both, attributes, [])).toEqual(read);
    await same(`select ? v, ${a} a, ? w`, attributes, ["first", null]);
    await same(`select ${a} a, ?`, attributes, [1]);
  });

  it("are read", async () => {
    if (!isMysql) return;
    expect(await same(both, { a: "x", b: 5 })).toEqual([["x", "5", "78"]]);
    expect(await same(`select ?, ${a}`, { b: 5, a: null }, [7])).toEqual([[7, null]]);
    expect(await same(`select ?, ${a}`, { b: 5, a: "x" }, [7])).toEqual([[7, "x"]]);
  });

  it("are those of every statement of a text, and of no statement behind it", async () => {
    if (!isMysql) return;
    expect(await same(`${both}; select 1; ${both}`, { a: "x" })).toEqual([
      [["x", null, "78"]],
      [[1]],
      [["x", null, "78"]],
    ]);
    expect(await same(both, {})).toEqual([[null, null, null]]);
  });

  it("come with what the gateway writes in other words, and with variables and transactions", async () => {
    if (!isMysql) return;
    for (const sql of [
      `select database(), ${a}`,
      `select @@autocommit, ${a}`,
      `select /*!80000 ${a}, */ 1`,
      `set @kept = ${a}`,
      "select @kept",
      "begin",
      `select ${a}`,
      `set @kept = concat(@kept, ${a}), @more = 1`,
      "commit",
      "show variables like 'autocommit'",
      "select broken from nowhere",
    ])
      await same(sql, { a: "x" });
    expect(await same(`select @kept, ${a}`, { a: "behind" })).toEqual([["xx", "behind"]]);
    await through.query("set autocommit = 0");
    await direct.query("set autocommit = 0");
    await same(`select ${a}`, { a: "in one" });
    await same("rollback", { a: "in one" });
    await through.query("set autocommit = 1");
    await direct.query("set autocommit = 1");
  });

  it.each([
    ["sjis", "SJIS_JAPANESE_CI", "表ソ"],
    ["latin1", "LATIN1_SWEDISH_CI", "äöü"],
    ["gbk", "GBK_CHINESE_CI", "乗誠"],
  ])("are read in the client's character set: %s", async (_set, charset, text) => {
    if (!isMysql) return;
    const answers: unknown[] = [];
    for (const way of [there(), entered()]) {
      const options: ConnectionOptions = { ...way, charset };
      const client = await mysql.createConnection(options);
      const named = `select mysql_query_attribute_string('${text}'), hex(${a}), ${a} = '${text}'`;
      const attributes = { [text]: text, a: text };
      answers.push([
        await answered(client, named, attributes),
        await answered(client, `${named}, ?`, attributes, [text]),
      ]);
      await client.end();
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(JSON.stringify(answers[0])).toContain(text);
  });

  it("are sent by MySQL's own client", async () => {
    if (!isMysql) return;
    const lines = `query_attributes a ä b 2\n${both};\n${both};\n`;
    const shown = [
      await shownBy(there(), { MYSQL_PWD: password }, lines),
      await shownBy(entered(), {}, lines),
    ];
    expect(shown[1]).toBe(shown[0]);
    expect(shown[0]).toContain("ä\t2");
  });
});

/** How MySQL's own client runs: the program and its first arguments. */
const ownClient = process.env["GATEWAY_TEST_MYSQL_CLIENT"] ?? "[]";

/** What it prints of these lines. */
function shownBy(
  at: { readonly port: number; readonly user: string },
  env: Readonly<Record<string, string>>,
  lines: string,
): Promise<string> {
  const [program = "mysql", ...args] = JSON.parse(ownClient) as readonly string[];
  const all = [...args, "-P", `${at.port}`, "-u", at.user, "-N", "--commands"];
  return new Promise((resolve) => {
    const child = execFile(program, all, { env }, (error, stdout, stderr) => {
      resolve(`${error?.message ?? "done"} ${stdout} ${stderr}`);
    });
    child.stdin?.end(lines);
  });
}

/** Whether the greeting offers them. */
function offers(client: Connection): boolean {
  const { connection } = client as unknown as {
    readonly connection: { readonly serverCapabilityFlags: number };
  };
  return (connection.serverCapabilityFlags & (1 << 27)) !== 0;
}
