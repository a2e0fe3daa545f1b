/**
 * A client of MySQL before engine `mysql`: what the server says arrives as it was said. Servers are scripted, and another
 * gateway over DuckDB.
 */
import { Readable } from "node:stream";
import mysql, { type Connection, type ConnectionOptions } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  okOf,
  preparedOf,
  columnOf,
  eofOf,
  rowsOf,
  ScriptedMysql,
  status,
  type Script,
} from "@gateway/engines/mysql/rig/scripted.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const auth = { type: "basic", username: "gateway", password: "none" };
const clusterAt = (port: number, more: object = {}) => ({
  engine: "mysql",
  hosts: [`127.0.0.1:${port}`],
  auth,
  poolSize: 3,
  ...more,
});

async function clientOf(gateway: TestGateway, more: ConnectionOptions = {}): Promise<Connection> {
  const port = portOf(gateway, "mysqlWire");
  return await mysql.createConnection({ host: "127.0.0.1", port, user: "u", ...more });
}

interface Stand extends AsyncDisposable {
  readonly server: ScriptedMysql;
  readonly gateway: TestGateway;
}

async function standOf(script: Script, more: object = {}): Promise<Stand> {
  const server = await ScriptedMysql.start(script);
  const gateway = await gatewayOf(configOf({ clusters: { local: clusterAt(server.port, more) } }));
  return {
    server,
    gateway,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("over another gateway", () => {
  let server: TestGateway;
  let gateway: TestGateway;
  beforeAll(async () => {
    server = await gatewayOf(configOf());
    const local = clusterAt(portOf(server, "mysqlWire"));
    gateway = await gatewayOf(configOf({ clusters: { local } }));
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it("answers texts, prepared statements and transactions", async () => {
    const client = await clientOf(gateway);
    await client.query("create table relayed (a int, b varchar(20))");
    const [inserted] = await client.execute("insert into relayed values (?, ?)", [1, "x"]);
    expect(inserted).toMatchObject({ affectedRows: 1 });
    await client.beginTransaction();
    await client.query("insert into relayed values (2, 'y')");
    await client.rollback();
    const [rows] = await client.execute("select a, b from relayed where a = ?", [1]);
    expect(rows).toEqual([{ a: 1, b: "x" }]);
    const [all] = await client.query("select count(*) as n from relayed");
    expect(all).toEqual([{ n: 1 }]);
    await client.end();
  });
});

const more = status.autocommit | status.more;

describe("over a scripted server", () => {
  it("gives a client every result of a procedure", async () => {
    await using stand = await standOf(({ text }) =>
      text.startsWith("call")
        ? [...rowsOf(["a"], [["1"], ["2"]], more), ...rowsOf(["b"], [["x"]], more), okOf()]
        : undefined,
    );
    const client = await clientOf(stand.gateway);
    const [results] = await client.query("call several()");
    expect(results).toMatchObject([[{ a: "1" }, { a: "2" }], [{ b: "x" }], { affectedRows: 0 }]);
    expect((await client.query("select 1"))[0]).toEqual([{ a: "1" }]);
    await client.end();
  });

  it("prepares on the server, with the values as the client sent them", async () => {
    await using stand = await standOf(({ code, text }) => {
      if (code === commandCode.stmtPrepare && text.startsWith("select"))
        return [preparedOf(9, 1, 1), columnOf("?"), eofOf(), columnOf("a"), eofOf()];
      if (code === commandCode.stmtExecute)
        return [Uint8Array.of(1), columnOf("a"), eofOf(), Uint8Array.of(0, 0, 1, 0x7a), eofOf()];
      return undefined;
    });
    const client = await clientOf(stand.gateway);
    const [rows] = await client.execute("select ? as a", ["value"]);
    expect(rows).toEqual([{ a: "z" }]);
    const [again] = await client.execute("select ? as a", ["other"]);
    expect(again).toEqual([{ a: "z" }]);
    const sent = stand.server.seen.filter(({ code }) => code === commandCode.stmtExecute);
    expect(sent.map(({ payload }) => Buffer.from(payload).includes("value"))).toEqual([
      true,
      false,
    ]);
    await client.end();
  });

  it("keeps a user variable where the session's next statements find it, and for nobody else", async () => {
    await using stand = await standOf(() => undefined);
    const [client, other] = [await clientOf(stand.gateway), await clientOf(stand.gateway)];
    await client.query("set @n = 5");
    expect((await client.query("select @n as n"))[0]).toEqual([{ n: 5 }]);
    expect(stand.server.texts).toEqual([]);
    await client.query("select @n + 1 from t");
    await other.query("select 'other' from t");
    await client.query("select @n + 2 from t");
    const { seen } = stand.server;
    const on = (text: string) => seen.find((one) => one.text === text)?.connection;
    expect(seen.map(({ text }) => text).find((text) => text.startsWith("SET @"))).toContain("= 5");
    expect(on("select @n + 2 from t")).toBe(on("select @n + 1 from t"));
    expect(on("select 'other' from t")).not.toBe(on("select @n + 1 from t"));
    await client.end();
    await stand.server.came(({ code }) => code === commandCode.resetConnection);
    await other.end();
  });

  it("sends a client's file to the server, and only the one that its statement names", async () => {
    const request = (name: string) => [Uint8Array.of(0xfb, ...Buffer.from(name))];
    await using stand = await standOf(
      ({ text }) => {
        if (text.includes("'mine.csv'")) return request("mine.csv");
        return text.includes("'yours.csv'") ? request("/etc/passwd") : undefined;
      },
      { localFiles: true },
    );
    const client = await clientOf(stand.gateway, { flags: ["LOCAL_FILES"] });
    const asked: string[] = [];
    const infileStreamFactory = (name: string): Readable => {
      asked.push(name);
      return Readable.from([Buffer.from("1,a\n"), Buffer.from("2,b\n")]);
    };
    const load = (name: string) =>
      client.query({ sql: `load data local infile '${name}' into table t`, infileStreamFactory });
    const [loaded] = await load("mine.csv");
    expect(loaded).toMatchObject({ affectedRows: 1 });
    expect(Buffer.concat(stand.server.file).toString()).toBe("1,a\n2,b\n");
    await expect(load("yours.csv")).rejects.toMatchObject({ errno: 1142 });
    expect(asked).toEqual(["mine.csv"]);
    expect((await client.query("select 1 from t"))[0]).toEqual([{ a: "1" }]);
    await client.end();
  });

  it("takes no file where the configuration does not allow it", async () => {
    await using stand = await standOf(() => undefined);
    const client = await clientOf(stand.gateway, { flags: ["LOCAL_FILES"] });
    const sql = "load data local infile 'mine.csv' into table t";
    await expect(client.query(sql)).rejects.toMatchObject({ errno: 3948 });
    await client.end();
  });

  it("ends a transaction that the server ended by itself", async () => {
    await using stand = await standOf(({ text }) => {
      if (text.startsWith("create")) return [okOf({ status: status.autocommit })];
      return text.startsWith("insert")
        ? [okOf({ status: status.autocommit | status.transaction })]
        : undefined;
    });
    const client = await clientOf(stand.gateway);
    await client.query("begin");
    await client.query("insert into t values (1)");
    await client.query("create table u (a int)");
    await client.query("select 'after' from t");
    const { texts } = stand.server;
    expect(texts).toEqual([
      "insert into t values (1)",
      "create table u (a int)",
      "select 'after' from t",
    ]);
    expect(stand.server.seen.some(({ text }) => text === "COMMIT")).toBe(true);
    await client.end();
  });

  it.each([
    ["a text", commandCode.query],
    ["the preparation of a statement", commandCode.stmtPrepare],
    ["its execution", commandCode.stmtExecute],
  ])("ends one statement where its server ends at %s", async (_what, dies) => {
    let died = false;
    await using stand = await standOf(({ code, text }) => {
      const now =
        !died && code === dies && (text.includes("'dies'") || code === commandCode.stmtExecute);
      died ||= now;
      if (now) return "close";
      return code === commandCode.stmtExecute
        ? [Uint8Array.of(1), columnOf("a"), eofOf(), Uint8Array.of(0, 0, 1, 0x7a), eofOf()]
        : undefined;
    });
    const client = await clientOf(stand.gateway);
    const asked =
      dies === commandCode.query
        ? client.query("select 'dies' from t")
        : client.execute("select 'dies' from t");
    await expect(asked).rejects.toMatchObject({ sqlState: "HY000" });
    expect(died).toBe(true);
    expect((await client.query("select 'lives' from t"))[0]).toEqual([{ a: "1" }]);
    await client.end();
  });

  it("tells a client in a transaction that its server ended, and commits nothing", async () => {
    await using stand = await standOf(({ text }) => {
      if (text.includes("'dies'")) return "close";
      const begun = status.autocommit | status.transaction;
      return text.startsWith("insert") ? [okOf({ status: begun })] : undefined;
    });
    const client = await clientOf(stand.gateway);
    await client.beginTransaction();
    await client.query("insert into t values (1)");
    await expect(client.query("select 'dies' from t")).rejects.toMatchObject({ sqlState: "HY000" });
    await client.commit().catch(() => undefined);
    expect(stand.server.seen.some(({ text }) => text === "COMMIT")).toBe(false);
    expect((await client.query("select 'lives' from t"))[0]).toEqual([{ a: "1" }]);
    await client.end();
  });
});
