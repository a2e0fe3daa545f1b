/** The engine contract on a server of MySQL's wire (the gateway's own, over DuckDB), and what such a server may do wrong. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { Home } from "@gateway/core/query/home.ts";
import type { MysqlCall } from "@gateway/core/query/mysqlCall.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../../../../test/e2e/gateway.ts";
import { engineSuite } from "../engine.suite.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig, type MysqlConfig } from "./config.ts";
import {
  columnOf,
  errorOf,
  okOf,
  rowsOf,
  ScriptedMysql,
  status,
  type Answer,
} from "./rig/scripted.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await gatewayOf(configOf());
});
afterAll(() => gateway[Symbol.asyncDispose]());

engineSuite(
  "MySQL",
  {
    endless:
      "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1",
    flood: "select i, 'row ' || i as label from range(1000000000000) t(i)",
    createTable: "create table suite_t (id integer, label varchar)",
    dropTable: "drop table suite_t",
    echo: "select $1",
    values: [
      { type: { kind: "text" }, value: "h\u00e9llo \u{1f600} ' \" \t\n" },
      { type: { kind: "text" }, value: null },
      { type: { kind: "integer", bits: 32, signed: true }, value: -5n },
      { type: { kind: "decimal", precision: 3, scale: 2 }, value: 125n },
    ],
    broken: { sql: "select 'x' selec from", position: 1 },
  },
  () => backendOf(portOf(gateway, "mysqlWire"), { poolSize: 1 }),
  {
    skip: [
      {
        test: "says where a text is broken",
        reason: "MySQL's errors name a line and no position",
      },
      {
        test: "names the columns and parameters of a query",
        reason: "MySQL does not tell the types of parameters",
      },
    ],
  },
);

const lies: readonly (readonly [string, Answer])[] = [
  ["breaks off", "close"],
  ["answers in another protocol", { raw: Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n") }],
  ["numbers its packets wrongly", { raw: Uint8Array.of(1, 0, 0, 7, 1) }],
  ["claims a million columns", [Uint8Array.of(0xfe, 0x40, 0x42, 0x0f, 0, 0, 0, 0, 0)]],
  ["sends a column that is none", [Uint8Array.of(1), Uint8Array.of(1, 2, 3)]],
  ["ends its columns with a row", [Uint8Array.of(1), columnOf("a"), Uint8Array.of(1, 0x61)]],
  ["breaks off in the middle of a row", { raw: begunRow(), close: true }],
  [
    "breaks off between two rows",
    { raw: packets(rowsOf(["a"], [["1"]]).slice(0, -1)), close: true },
  ],
  ["asks for a file that nobody named", [Uint8Array.of(0xfb, ...Buffer.from("/etc/passwd"))]],
];

describe("a server that misbehaves", () => {
  it.each(lies)(
    "and %s ends the statement with an error, and its connection",
    async (_how, lie) => {
      let lied = false;
      await using server = await ScriptedMysql.start(({ text }) => {
        if (text !== "select 'lie'" || lied) return undefined;
        lied = true;
        return lie;
      });
      await using backend = await backendOf(server.port, { poolSize: 1, connectTimeoutSecs: 1 });
      const last = (await asked(backend, "select 'lie'")).at(-1);
      const code = last?.kind === "failed" ? last.error.code : last?.kind;
      expect(["engine.broken", "query.permission"]).toContain(code);
      const next = await asked(backend, "select 'truth'");
      expect(next.at(-1)?.kind).toBe("done");
      const by = server.seen.filter(({ text }) => text.startsWith("select '"));
      expect(by.map(({ connection }) => connection === by[0]?.connection)).toEqual([true, false]);
    },
  );

  it("and says more than it was asked is left before the next statement", async () => {
    await using server = await ScriptedMysql.start(({ text }) =>
      text === "select 'more'" ? [...rowsOf(["a"], [["1"]]), okOf()] : undefined,
    );
    await using backend = await backendOf(server.port, { poolSize: 1 });
    const [more, next] = ["select 'more'", "select 'next'"];
    const first = (await asked(backend, more)).at(-1);
    expect(["done", "failed"]).toContain(first?.kind);
    expect((await asked(backend, next)).at(-1)?.kind).toBe("done");
    const on = (sql: string) => server.seen.find(({ text }) => text === sql)?.connection;
    expect(on(next)).not.toBe(on(more));
  });

  it("and restarts in a transaction leaves nothing that looks committed", async () => {
    await using server = await ScriptedMysql.start(({ text }) =>
      text === "COMMIT" ? "close" : undefined,
    );
    await using backend = await backendOf(server.port, { poolSize: 1 });
    const call: MysqlCall = { home: new Home(), foundRows: false, ignoreSpace: false };
    const session = { frontend: "mysqlWire", dialect: "mysql" } as const;
    const begun = { ...identifiedOf("begin", [], session), mysql: call };
    await using lane = valueOf(await backend.begin(begun, never));
    expect(await lane.commit(never)).toMatchObject({ ok: false, error: { code: "engine.broken" } });
    await lane[Symbol.asyncDispose]();
    expect((await asked(backend, "select 'after'")).at(-1)?.kind).toBe("done");
  });

  it("and commits although that was cancelled is believed", async () => {
    const controller = new AbortController();
    await using server = await ScriptedMysql.start(({ text }) => {
      if (text === "COMMIT") controller.abort();
      return undefined;
    });
    await using backend = await backendOf(server.port, { poolSize: 1 });
    const call: MysqlCall = { home: new Home(), foundRows: false, ignoreSpace: false };
    const session = { frontend: "mysqlWire", dialect: "mysql" } as const;
    const begun = { ...identifiedOf("begin", [], session), mysql: call };
    await using lane = valueOf(await backend.begin(begun, never));
    expect(await lane.commit(controller.signal)).toMatchObject({ ok: true });
  });

  it("and refuses the pool's login is not reached, in none of its words", async () => {
    await using server = await ScriptedMysql.start();
    server.refuses = true;
    await using backend = await backendOf(server.port, { poolSize: 1 });
    const last = (await asked(backend, "select 1")).at(-1);
    expect(last).toMatchObject({ kind: "failed", error: { code: "cluster.connectFailed" } });
    expect(last?.kind === "failed" && last.error.message).not.toMatch(/ann|denied/i);
    expect(await backend.probe(never)).toBe("unhealthy");
    server.refuses = false;
    expect((await asked(backend, "select 1")).at(-1)?.kind).toBe("done");
  });

  it("and is not there is not reached", async () => {
    await using nobody = await backendOf(1);
    expect(codeOf(await ran(nobody, "select 1"))).toBe("cluster.connectFailed");
    const last = (await asked(nobody, "select 1")).at(-1);
    expect(last).toMatchObject({ kind: "failed", error: { code: "cluster.connectFailed" } });
    expect(await nobody.probe(never)).toBe("unhealthy");
  });

  it("and is not there is passed over for the next one", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port, {
      hosts: ["127.0.0.1:1", `127.0.0.1:${server.port}`],
    });
    expect((await asked(backend, "select 1")).at(-1)?.kind).toBe("done");
  });
});

describe("an answer of the server", () => {
  it("goes on with its definitions, rows, counts and flags", async () => {
    const told = okOf({ affectedRows: 3, insertId: 7n, info: "Records: 3", status: 2 | 32 });
    await using server = await ScriptedMysql.start(({ text }) =>
      text.startsWith("insert") ? [told] : undefined,
    );
    await using backend = await backendOf(server.port);
    const done = (await asked(backend, "insert into t values (1)")).at(-1);
    expect(done).toMatchObject({
      kind: "done",
      report: { changedCount: 3, insertId: 7n, info: "Records: 3", status: 34 },
    });
  });

  it("of several results says where each begins", async () => {
    const more = status.autocommit | status.more;
    const parts = [
      ...rowsOf(["a"], [["1"], ["2"]], more),
      ...rowsOf(["b", "c"], [["x", "y"]], more | status.outParameters),
      okOf({ affectedRows: 1 }),
    ];
    await using server = await ScriptedMysql.start(({ text }) =>
      text.startsWith("call") ? parts : undefined,
    );
    await using backend = await backendOf(server.port);
    const events = await asked(backend, "call several()");
    const shape = events.flatMap((event) =>
      event.kind === "batch" && event.batch.form === "native"
        ? [[event.batch.format, event.batch.rows, event.batch.next?.columns]]
        : [],
    );
    expect(shape).toEqual([
      ["mysqlRows", 2, undefined],
      ["mysqlNext", 0, 2],
      ["mysqlRows", 1, undefined],
      ["mysqlNext", 0, 0],
    ]);
    expect(events.at(-1)).toMatchObject({ kind: "done", report: { changedCount: 1 } });
  });

  it("of several results is whole up to the one that failed", async () => {
    const more = status.autocommit | status.more;
    const parts = [...rowsOf(["a"], [["1"]], more), errorOf(1146, "42S02")];
    await using server = await ScriptedMysql.start(({ text }) =>
      text.startsWith("call") ? parts : undefined,
    );
    await using backend = await backendOf(server.port);
    const events = await asked(backend, "call failing()");
    const [rows, next, last] = events.slice(-3);
    expect(rows).toMatchObject({ kind: "batch", batch: { format: "mysqlRows", rows: 1 } });
    expect(next).toMatchObject({ kind: "batch", batch: { next: { columns: 0, status: more } } });
    expect(last).toMatchObject({ kind: "failed", error: { vendor: { code: 1146 } } });
  });

  it("comes with found rows only to those that count them", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port);
    await asked(backend, "update t set a = 1", { foundRows: true });
    await asked(backend, "update t set a = 1", { foundRows: false });
    const [first, second] = server.seen.filter(({ text }) => text.startsWith("update"));
    expect(first?.connection).not.toBe(second?.connection);
  });
});

describe("what a statement leaves on its connection", () => {
  it.each([
    "create temporary table t (a int)",
    "lock tables t write",
    "select get_lock('x', 1)",
    "select @a := 1",
    "set @a = 1",
    "call p()",
  ])("is kept for its session: %s", async (sql) => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port, { poolSize: 3 });
    const home = new Home();
    await asked(backend, sql, { home });
    expect(home.kept?.cluster).toBe("c");
    await asked(backend, "select 'own'", { home });
    await asked(backend, "select 'other'");
    const on = (text: string) => server.seen.find((seen) => seen.text === text)?.connection;
    expect(on("select 'own'")).toBe(on(sql));
    expect(on("select 'other'")).not.toBe(on(sql));
    await home[Symbol.asyncDispose]();
    expect(server.seen.some(({ code }) => code === commandCode.resetConnection)).toBe(true);
  });

  it("is refused where the configuration says so", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port, { pinning: "refuse" });
    const last = (await asked(backend, "create temporary table t (a int)")).at(-1);
    expect(last).toMatchObject({ kind: "failed", error: { code: "query.unsupported" } });
    expect(server.texts).toEqual([]);
  });

  it("that is gone is told once", async () => {
    await using server = await ScriptedMysql.start(({ text }) =>
      text === "select 'end'" ? "close" : undefined,
    );
    await using backend = await backendOf(server.port);
    const home = new Home();
    await asked(backend, "set @a = 1", { home });
    await asked(backend, "select 'end'", { home });
    const told = (await asked(backend, "select 'next'", { home })).at(-1);
    expect(told).toMatchObject({ kind: "failed", error: { code: "engine.broken" } });
    expect((await asked(backend, "select 'then'", { home })).at(-1)?.kind).toBe("done");
  });

  it("does not reach a session that takes the connection next", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port, { poolSize: 1 });
    const home = new Home();
    await asked(backend, "set @a = 1", { home });
    await home[Symbol.asyncDispose]();
    await asked(backend, "select 'other'");
    const codes = server.seen.map(({ code, text }) => (text === "" ? code : text));
    const reset = codes.indexOf(commandCode.resetConnection);
    expect(reset).toBeGreaterThan(codes.indexOf("set @a = 1"));
    expect(reset).toBeLessThan(codes.indexOf("select 'other'"));
  });
});

describe("a pool mode", () => {
  it("of sessions gives each its own connection from its first statement", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port, { poolMode: "session" });
    const [a, b] = [new Home(), new Home()];
    for (const home of [a, b, a, b]) await asked(backend, "select 'x'", { home });
    const by = server.seen.filter(({ text }) => text === "select 'x'");
    const connections = by.map(({ connection }) => connection);
    expect(connections[0]).toBe(connections[2]);
    expect(connections[1]).toBe(connections[3]);
    expect(connections[0]).not.toBe(connections[1]);
    for (const home of [a, b]) await home[Symbol.asyncDispose]();
  });

  it("of statements has no transactions", async () => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port, { poolMode: "statement" });
    const begun = await backend.begin(identifiedOf("begin"), never);
    expect(begun).toMatchObject({ ok: false, error: { code: "query.unsupported" } });
  });
});

describe("a statement that may not run", () => {
  it.each([
    ["kill 5", "query.permission"],
    ["set global x = 1", "query.permission"],
    ["set password = 'x'", "query.permission"],
    ["prepare s from 'kill 5'", "query.unsupported"],
    ["execute s", "query.unsupported"],
    ["select 1; select 2", "query.unsupported"],
    ["load data local infile 'a' into table t", "query.permission"],
  ])("is refused before it is sent: %s", async (sql, code) => {
    await using server = await ScriptedMysql.start();
    await using backend = await backendOf(server.port);
    const last = (await asked(backend, sql)).at(-1);
    expect(last).toMatchObject({ kind: "failed", error: { code } });
    expect(server.texts).toEqual([]);
  });
});

describe("a cancel", () => {
  it("ends the statement in the server, over a connection of its own", async () => {
    await using server = await ScriptedMysql.start(({ text }) =>
      text === "select sleep(60)" ? [] : undefined,
    );
    await using backend = await backendOf(server.port);
    const stop = new AbortController();
    const running = asked(backend, "select sleep(60)", {}, stop.signal);
    await server.came(({ text }) => text === "select sleep(60)");
    stop.abort();
    await server.came(({ text }) => /^KILL QUERY \d+$/.test(text));
    await backend[Symbol.asyncDispose]();
    expect((await running).at(-1)).toMatchObject({ error: { code: "query.cancelled" } });
  });
});

/** Payloads as the packets of one answer. */
function packets(payloads: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    payloads.flatMap((payload, index) => [
      Uint8Array.of(payload.length, payload.length >> 8, 0, index + 1),
      payload,
    ]),
  );
}

/** A result up to a row that says it is longer than what came. */
function begunRow(): Uint8Array {
  const head = packets(rowsOf(["a"], []).slice(0, -1));
  return Buffer.concat([head, Uint8Array.of(9, 0, 0, 4, 8, 0x61)]);
}

interface Asking {
  readonly home?: Home;
  readonly foundRows?: boolean;
}

/** What a client of MySQL is told of a statement. */
async function asked(
  backend: Backend,
  sql: string,
  { home = new Home(), foundRows = false }: Asking = {},
  signal: AbortSignal = never,
): Promise<readonly ResultEvent[]> {
  const call: MysqlCall = { home, foundRows, ignoreSpace: false };
  const takes = ["mysqlRows", "mysqlBinaryRows", "mysqlNext"] as const;
  const session = { frontend: "mysqlWire", dialect: "mysql" } as const;
  const query = { ...identifiedOf(sql, [], session), mysql: call, takes };
  const events: ResultEvent[] = [];
  for await (const event of backend.execute(query, signal)) events.push(event);
  return events;
}

async function backendOf(port: number, more: Partial<MysqlConfig> = {}): Promise<Backend> {
  const config = mysqlConfig.parse({
    engine: "mysql",
    hosts: [`127.0.0.1:${port}`],
    auth: { type: "basic", username: "ann", password: "none" },
    ...more,
  });
  return valueOf(await open("c", config, hostOf()));
}
