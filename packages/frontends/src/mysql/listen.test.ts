import { noModes } from "@gateway/core/sql/session/statement.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import { err } from "@gateway/core/result.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import type { Value } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import { waitForAbort } from "../rig/answers.ts";
import { ended, runs } from "../rig/wait.ts";
import { clientOf, doneOf, failureOf, resultOf, serverOf } from "./rig/mysql.ts";

const int32 = { kind: "integer", bits: 32, signed: true } as const;
const int64 = { kind: "integer", bits: 64, signed: true } as const;
const text = { kind: "text" } as const;
const one = resultOf([columnOf("a", int32)], [[1n]]);

describe("a session of mysql2", () => {
  it("gets big integers and decimals without losing a digit, as text and in binary rows", async () => {
    const sql = "select exact";
    const columns = [
      columnOf("big", int64),
      columnOf("huge", { kind: "integer", bits: 64, signed: false }),
      columnOf("price", { kind: "decimal", precision: 38, scale: 2 }),
      columnOf("wide", { kind: "integer", bits: 128, signed: true }),
      columnOf("at", { kind: "timestamp", unit: "us", zoned: false }),
      columnOf("tod", { kind: "time", unit: "us" }),
      columnOf("bytes", { kind: "binary" }),
      columnOf("yes", { kind: "boolean" }),
      columnOf("ratio", { kind: "float", bits: 64 }),
    ];
    const row: readonly Value[] = [
      -9_223_372_036_854_775_808n,
      18_446_744_073_709_551_615n,
      1_234_567_890_123_456_789_012_345n,
      170_141_183_460_469_231_731_687_303_715_884_105_727n,
      1_709_210_096_123_456n,
      86_399_999_999n,
      Uint8Array.of(0, 255),
      true,
      0.1,
    ];
    await using server = await serverOf({
      answers: { [sql]: resultOf(columns, [row]) },
      descriptions: { [sql]: { parameters: [], columns } },
    });
    await using client = await clientOf(server, { supportBigNumbers: true, dateStrings: true });
    const expected = {
      big: "-9223372036854775808",
      huge: "18446744073709551615",
      price: "12345678901234567890123.45",
      wide: "170141183460469231731687303715884105727",
      at: "2024-02-29 12:34:56.123456",
      tod: "23:59:59.999999",
      bytes: Buffer.of(0, 255),
      yes: 1,
      ratio: 0.1,
    };
    expect((await client.query(sql))[0]).toEqual([expected]);
    expect((await client.execute(sql))[0]).toEqual([expected]);
    expect(server.bugs()).toEqual([]);
  });

  it("sends typed parameters to the places the engine described", async () => {
    const sql = "select $1, $2, $3, $4, $5";
    const columns = [columnOf("a", int32)];
    await using server = await serverOf({
      answers: { [sql]: one },
      descriptions: {
        [sql]: {
          parameters: [int32, { kind: "date" }, { kind: "null" }, text, { kind: "binary" }],
          columns,
        },
      },
    });
    await using client = await clientOf(server);
    const values = [42, "2024-02-29", null, "it's", Buffer.of(0, 255)];
    await client.execute("select ?, ?, ?, ?, ?", values);
    expect(server.door.queries.at(-1)?.parameters).toEqual([
      { type: int32, value: 42n },
      { type: { kind: "date" }, value: 19_782n },
      { type: { kind: "null" }, value: null },
      { type: text, value: "it's" },
      { type: { kind: "binary" }, value: Uint8Array.of(0, 255) },
    ]);
    await client.execute("select ?, ?, ?, ?, ?", [43, null, 1.5, null, null]);
    expect(server.door.queries.at(-1)?.parameters[0]).toEqual({ type: int32, value: 43n });
  });

  it("gets one result per statement of a text, up to the first that fails", async () => {
    await using server = await serverOf({
      answers: { "select 1": one, "insert x": [doneOf({ updateType: "INSERT", updateCount: 3 })] },
    });
    await using client = await clientOf(server, { multipleStatements: true });
    const [results] = await client.query("select 1; insert x; set @a = 1; select @a;");
    expect(results).toMatchObject([[{ a: 1 }], { affectedRows: 3 }, {}, [{ "@a": 1 }]]);
    const failure = await failureOf(client.query("select 1; nonsense; select 1"));
    expect(failure).toMatchObject({ errno: 1064, sqlState: "42000" });
    expect(server.door.queries.map(({ sql }) => sql)).toEqual([
      "select 1",
      "insert x",
      "select 1",
      "nonsense",
    ]);
  });

  it("may send one statement only unless it asked for more", async () => {
    await using server = await serverOf({ answers: { "select 1": one } });
    await using client = await clientOf(server);
    expect(await failureOf(client.query("select 1; select 1"))).toMatchObject({ errno: 1064 });
    expect(server.door.queries).toEqual([]);
    expect((await client.query("select 1;"))[0]).toEqual([{ a: 1 }]);
  });

  it("hands values that the package escapes to the engine as the strings they are", async () => {
    const sql = "select 'it''s \\\\ \"q\" --', \"a b\"";
    await using server = await serverOf({
      answers: { [sql]: one, [`${sql}, $1`]: one },
      descriptions: { [`${sql}, $1`]: { parameters: [text], columns: [] } },
    });
    await using client = await clientOf(server);
    const value = 'it\'s \\\\ "q" --';
    await client.query("select ?, ??", [value, "a b"]);
    await client.execute(`${client.format("select ?, ??", [value, "a b"])}, ?`, ["x"]);
    expect(server.door.queries.map((query) => query.sql)).toEqual([sql, `${sql}, $1`]);
  });

  it("learns the query's id from the OK packet, and from an error that is not its statement's own", async () => {
    const broken = { kind: "failed", error: gatewayError("engine.broken") } as const;
    const answers = { "insert x": [doneOf({ updateCount: 1 })], "select x": [broken] };
    await using server = await serverOf({ answers });
    await using client = await clientOf(server);
    const [result] = await client.query("insert x");
    expect(result).toMatchObject({ info: `Query id: ${server.door.queries[0]?.id}` });
    const failure = await failureOf(client.query("select x"));
    expect(failure.message).toContain(server.door.queries[1]?.id);
    const wrong = await failureOf(client.query("nonsense"));
    expect(wrong.message).not.toContain(server.door.queries[2]?.id);
  });

  it("reads notices by SHOW WARNINGS", async () => {
    await using server = await serverOf({
      answers: { "insert x": [{ kind: "notice", code: "n", text: "mind this" }, doneOf()] },
    });
    await using client = await clientOf(server);
    const [result] = await client.query("insert x");
    expect(result).toMatchObject({ warningStatus: 1 });
    expect((await client.query("show warnings"))[0]).toEqual([
      { Level: "Note", Code: 1105, Message: "mind this" },
    ]);
  });

  it("gets no more rows than it asked for by sql_select_limit", async () => {
    const rows = Array.from({ length: 10 }, (_, row) => [BigInt(row)]);
    await using server = await serverOf({
      answers: { "select rows": resultOf([columnOf("a", int32)], rows) },
    });
    await using client = await clientOf(server);
    await client.query("set sql_select_limit = 3");
    expect((await client.query("select rows"))[0]).toEqual([{ a: 0 }, { a: 1 }, { a: 2 }]);
    expect((await client.query("select found_rows() as n"))[0]).toEqual([{ n: 3 }]);
  });

  it("sends and gets more than 16 MB in one piece", async () => {
    const long = "x".repeat(17 * 1024 * 1024);
    const sql = `select '${long}'`;
    await using server = await serverOf(
      { answers: { [sql]: resultOf([columnOf("a", text)], [[long]]) } },
      { maxStatementBytes: 1 << 26 },
    );
    await using client = await clientOf(server);
    const [rows] = await client.query({ sql, rowsAsArray: true });
    const [[cell] = []] = rows as unknown as string[][];
    expect(cell?.length).toBe(long.length);
    expect(cell === long).toBe(true);
  });

  it("is told of a text that is over the limit, however long it is, and goes on", async () => {
    await using server = await serverOf({ answers: { "select 1": resultOf([], []) } });
    await using client = await clientOf(server);
    for (const bytes of [(1 << 20) + 1, 17 << 20, 40 << 20]) {
      const sql = `select '${"x".repeat(bytes)}'`;
      expect(await failureOf(client.query(sql))).toMatchObject({
        errno: 1153,
        message: expect.stringMatching(/maxStatementBytes.*useServerPrepStmts=true/) as string,
      });
      expect(await failureOf(client.execute(sql))).toMatchObject({ errno: 1153 });
      await client.query("select 1");
    }
    expect(server.bugs()).toEqual([]);
  });

  it("is told of a row that is over the limit", async () => {
    const long = "x".repeat(10_000);
    await using server = await serverOf(
      { answers: { "select long": resultOf([columnOf("a", text)], [["short"], [long]]) } },
      { maxMessageBytes: 4096 },
    );
    await using client = await clientOf(server);
    expect(await failureOf(client.query("select long"))).toMatchObject({ errno: 1153 });
    await client.ping();
  });

  it("is ended by max_execution_time with MySQL's number", async () => {
    await using server = await serverOf({ answers: { "select wait": waitForAbort } });
    await using client = await clientOf(server);
    await client.query("set max_execution_time = 1000");
    const failure = failureOf(client.query("select wait"));
    await runs(server.door, "select wait");
    await server.host.advance(1000);
    expect(await failure).toMatchObject({ errno: 3024 });
  });
});

describe("statements that can not be described", () => {
  it("are prepared all the same where only the values can tell", async () => {
    await using server = await serverOf({ answers: { "select $1 + 1": one } });
    const { door } = server;
    const error = gatewayError("query.unknownObject", { sqlState: "42883" });
    Object.assign(door, { describe: async () => err(error) });
    await using client = await clientOf(server);
    expect((await client.execute("select ? + 1", [1.5]))[0]).toEqual([{ a: 1 }]);
    expect(door.queries.at(-1)?.parameters).toEqual([
      { type: { kind: "float", bits: 64 }, value: 1.5 },
    ]);
  });
});

describe("leaving and killing", () => {
  it("ends the query of a client whose socket is gone, and gives its transaction back", async () => {
    const { pin, gone } = pinOf();
    await using server = await serverOf({
      answers: { begin: beginWith(pin), "select wait": waitForAbort },
    });
    const client = await clientOf(server);
    await client.query("begin");
    client.query("select wait").catch(() => undefined);
    await runs(server.door, "select wait");
    client.destroy();
    await ended(server.door, "select wait");
    expect(await gone).toBe("given back");
  });

  it("gives back the transaction of a client that leaves between statements", async () => {
    const { pin, gone } = pinOf();
    await using server = await serverOf({ answers: { begin: beginWith(pin) } });
    const client = await clientOf(server);
    await client.query("begin");
    client.destroy();
    expect(await gone).toBe("given back");
  });

  it("lets the owner kill a query from another connection, and nobody else", async () => {
    await using server = await serverOf({ answers: { "select wait": waitForAbort } });
    await using client = await clientOf(server, { user: "ann" });
    await using twin = await clientOf(server, { user: "ann" });
    await using stranger = await clientOf(server, { user: "eve" });
    const id = client.threadId;
    const killed = failureOf(client.query("select wait"));
    await runs(server.door, "select wait");
    expect(await failureOf(stranger.query(`kill query ${id}`))).toMatchObject({ errno: 1095 });
    expect(await failureOf(stranger.query(`kill 4000`))).toMatchObject({ errno: 1094 });
    await twin.query(`kill query ${id}`);
    expect(await killed).toMatchObject({ errno: 1317, sqlState: "70100" });
    await client.ping();
  });
});

describe("transactions", () => {
  it("are shown in the status, and BEGIN commits what is open", async () => {
    const { pin } = pinOf();
    await using server = await serverOf({
      answers: { begin: beginWith(pin), COMMIT: commit, commit },
    });
    await using client = await clientOf(server);
    await client.query("begin");
    await client.query("begin");
    const [result] = await client.query("commit");
    expect(result).toMatchObject({ serverStatus: 2 });
    expect(server.door.queries.map(({ sql }) => sql)).toEqual([
      "begin",
      "COMMIT",
      "begin",
      "commit",
    ]);
  });

  it("begin by themselves before a write without autocommit, and end when it is turned on", async () => {
    const { pin } = pinOf();
    await using server = await serverOf({
      answers: {
        BEGIN: beginWith(pin),
        COMMIT: commit,
        "select 1": one,
        "insert into t values (1)": [doneOf({ updateCount: 1 })],
      },
    });
    await using client = await clientOf(server);
    await client.query("set autocommit = 0");
    await client.query("select 1");
    const [result] = await client.query("insert into t values (1)");
    // In a transaction, and no autocommit.
    expect(result).toMatchObject({ serverStatus: 1 });
    await client.query("set autocommit = 1");
    expect(server.door.queries.map(({ sql }) => sql)).toEqual([
      "select 1",
      "BEGIN",
      "insert into t values (1)",
      "COMMIT",
    ]);
  });

  it("run without one on an engine that has none", async () => {
    const refused = { kind: "failed", error: gatewayError("query.unsupported") } as const;
    await using server = await serverOf({
      answers: { BEGIN: [refused], "insert into t values (1)": [doneOf({ updateCount: 1 })] },
    });
    await using client = await clientOf(server);
    await client.query("set autocommit = 0");
    const [result] = await client.query("insert into t values (1)");
    expect(result).toMatchObject({ affectedRows: 1, serverStatus: 0 });
  });

  it("refuse writes where only reading was asked for", async () => {
    await using server = await serverOf();
    await using client = await clientOf(server);
    await client.query("set session transaction read only");
    expect(await failureOf(client.query("delete from t"))).toMatchObject({ errno: 1792 });
    expect(server.door.queries).toEqual([]);
  });
});

const commit = [
  { kind: "session", change: { kind: "unpinned", outcome: "committed" } } as const,
  doneOf(),
];

function beginWith(pin: Pin) {
  return [{ kind: "session", change: { kind: "pinned", modes: noModes, pin } } as const, doneOf()];
}

/** A pin, and a promise for its end. */
function pinOf() {
  let end: (how: string) => void = () => undefined;
  const gone = new Promise<string>((resolve) => {
    end = resolve;
  });
  const pin: Pin = { cluster: "c", group: "g", state: "open", end: async () => end("given back") };
  return { pin, gone };
}
