/** Cursors of the server's own: their rows stay there until they are fetched. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import { Home } from "@gateway/core/query/home.ts";
import type { MysqlCursor } from "@gateway/core/query/mysqlCall.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { mysqlConfig } from "../config.ts";
import {
  columnOf,
  eofOf,
  errorOf,
  preparedOf,
  ScriptedMysql,
  type Answer,
  type Seen,
} from "../rig/scripted.ts";

const cursorExists = 2 | 64;
const lastRowSent = 2 | 128;
const row = Uint8Array.of(0, 0, 1, 0x7a);

/** Answers of a server whose cursor has so many rows; `lie` says what it answers to a fetch instead. */
function scriptOf(rows: number, lie?: Answer): (seen: Seen) => Answer {
  let left = rows;
  return ({ code, payload }) => {
    switch (code) {
      case commandCode.stmtPrepare:
        return [preparedOf(9, 1, 0), columnOf("a"), eofOf()];
      case commandCode.stmtExecute:
        left = rows;
        return [Uint8Array.of(1), columnOf("a"), eofOf(cursorExists)];
      case commandCode.stmtFetch: {
        if (lie !== undefined) return lie;
        const asked = Buffer.from(payload).readUInt32LE(5);
        const given = Math.min(asked, left);
        left -= given;
        const end = given < asked ? lastRowSent : cursorExists;
        return [...Array.from({ length: given }, () => row), eofOf(end)];
      }
      default:
        return undefined;
    }
  };
}

interface Stand extends AsyncDisposable {
  readonly server: ScriptedMysql;
  readonly backend: Backend;
  readonly home: Home;
}

async function standOf(script: (seen: Seen) => Answer): Promise<Stand> {
  const server = await ScriptedMysql.start(script);
  const config = mysqlConfig.parse({
    engine: "mysql",
    hosts: [`127.0.0.1:${server.port}`],
    auth: { type: "basic", username: "ann", password: "none" },
    poolSize: 1,
  });
  const backend = valueOf(await open("c", config, hostOf()));
  return {
    server,
    backend,
    home: new Home(),
    [Symbol.asyncDispose]: async () => {
      await backend[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function opened(
  { backend, home }: Stand,
  cursor: MysqlCursor | undefined,
  signal: AbortSignal = never,
): ResultStream {
  return backend.execute(cursorOf(home, cursor), signal);
}

/** An execution; its rows come at once without a cursor. */
function cursorOf(home: Home, cursor: MysqlCursor | undefined) {
  const execution = { parameters: 0, body: new Uint8Array(), longData: new Map(), cursor };
  const called = calledOf(home, "select a from t");
  return { ...called, mysql: { ...called.mysql, execution } };
}

function calledOf(home: Home, sql: string) {
  const mysql = { home, foundRows: false, ignoreSpace: false };
  const takes = ["mysqlRows", "mysqlBinaryRows", "mysqlNext"] as const;
  const session = { frontend: "mysqlWire", dialect: "mysql" } as const;
  return { ...identifiedOf(sql, [], session), mysql, takes };
}

/** A statement without a cursor. */
function plain({ backend }: Stand, home: Home): ResultStream {
  return backend.execute(calledOf(home, "select 1"), never);
}

async function all(events: ResultStream): Promise<readonly unknown[]> {
  const told: unknown[] = [];
  for await (const event of events) told.push(shapeOf(event));
  return told;
}

/** The next event in short. */
async function next(events: ResultStream): Promise<string | number | undefined> {
  const { value } = await events.next();
  return shapeOf(value ?? undefined);
}

function shapeOf(event: ResultEvent | undefined): string | number | undefined {
  if (event?.kind === "batch") return event.batch.rows;
  return event?.kind === "failed" ? event.error.code : event?.kind;
}

const fetches = ({ server }: Stand) =>
  server.seen
    .filter(({ code }) => code === commandCode.stmtFetch)
    .map(({ payload }) => Buffer.from(payload).readUInt32LE(5));

function asksOne(): (seen: Seen) => Answer {
  const many = scriptOf(5);
  return (seen) =>
    seen.code === commandCode.query && seen.text.endsWith("select 1")
      ? [Uint8Array.of(1), columnOf("1"), eofOf(), Uint8Array.of(1, 0x31), eofOf()]
      : many(seen);
}

describe("a cursor in a transaction", () => {
  it("leaves its connection to the transaction's statements between two fetches", async () => {
    await using stand = await standOf(asksOne());
    await using lane = valueOf(await stand.backend.begin(calledOf(stand.home, "begin"), never));
    const cursor = { wanted: 2 };
    const events = lane.execute(cursorOf(stand.home, cursor), never);
    expect([await next(events), await next(events)]).toEqual(["columns", 2]);
    const beside = lane.execute(calledOf(stand.home, "select 1"), never);
    expect(await all(beside)).toEqual(["columns", 1, "done"]);
    cursor.wanted = 9;
    expect([await next(events), await next(events)]).toEqual([3, "done"]);
    expect(await next(events)).toBeUndefined();
    expect(fetches(stand)).toEqual([2, 9]);
    expect(stand.server.logins).toBe(1);
  });

  it("keeps its connection from others where the transaction ends before it", async () => {
    await using stand = await standOf(asksOne());
    const lane = valueOf(await stand.backend.begin(calledOf(stand.home, "begin"), never));
    const events = lane.execute(cursorOf(stand.home, { wanted: 2 }), never);
    expect(await next(events)).toBe("columns");
    await lane.commit(never);
    await lane[Symbol.asyncDispose]();
    expect(await all(plain(stand, new Home()))).toEqual(["columns", 1, "done"]);
    expect(stand.server.logins).toBe(2);
    await events.return();
    expect(await all(plain(stand, new Home()))).toEqual(["columns", 1, "done"]);
    expect(fetches(stand)).toEqual([]);
  });
});

describe("a cursor of the server, where all connections are taken", () => {
  it("leaves its connection to other statements of its session between two fetches", async () => {
    await using stand = await standOf(asksOne());
    const cursor = { wanted: 2 };
    const events = opened(stand, cursor);
    expect([await next(events), await next(events)]).toEqual(["columns", 2]);
    expect(await all(plain(stand, stand.home))).toEqual(["columns", 1, "done"]);
    const second = opened(stand, { wanted: 9 });
    expect(await next(second)).toBe("columns");
    await second.return();
    cursor.wanted = 9;
    expect([await next(events), await next(events)]).toEqual([5, "done"]);
    expect(await next(events)).toBeUndefined();
    expect(stand.server.logins).toBe(1);
    // Whoever had it last gave it back.
    expect(await all(plain(stand, new Home()))).toEqual(["columns", 1, "done"]);
    expect(stand.server.logins).toBe(1);
  });

  it("leaves it to nobody else", async () => {
    await using stand = await standOf(asksOne());
    const events = opened(stand, { wanted: 2 });
    expect(await next(events)).toBe("columns");
    const other = all(plain(stand, new Home()));
    expect(await all(plain(stand, stand.home))).toEqual(["columns", 1, "done"]);
    const texts = () => stand.server.texts.filter((text) => text.endsWith("select 1"));
    expect(texts()).toHaveLength(1);
    await events.return();
    expect(await other).toEqual(["columns", 1, "done"]);
    expect(texts()).toHaveLength(2);
    expect(stand.server.logins).toBe(1);
  });

  it("ends behind a statement that runs there, and not in the middle of it", async () => {
    await using stand = await standOf(asksOne());
    const events = opened(stand, { wanted: 2 });
    expect(await next(events)).toBe("columns");
    const beside = plain(stand, stand.home);
    expect(await next(beside)).toBe("columns");
    const closed = () => stand.server.seen.some(({ code }) => code === commandCode.stmtClose);
    const ending = events.return();
    // The server has answered on another connection since.
    expect(await stand.backend.probe(never)).toBe("healthy");
    expect(closed()).toBe(false);
    expect([await next(beside), await next(beside)]).toEqual([1, "done"]);
    expect(await next(beside)).toBeUndefined();
    await ending;
    await stand.server.came(({ code }) => code === commandCode.stmtClose);
    expect(await all(plain(stand, new Home()))).toEqual(["columns", 1, "done"]);
  });
});

describe("a cursor of the server", () => {
  it("that can not be opened is the statement's error, in the place of its columns' end", async () => {
    await using stand = await standOf((seen) =>
      seen.code === commandCode.stmtExecute
        ? [Uint8Array.of(1), columnOf("a"), errorOf(1242, "21000")]
        : scriptOf(5)(seen),
    );
    const events = opened(stand, { wanted: 0 });
    const { value } = await events.next();
    expect(value).toMatchObject({ kind: "failed", error: { sqlState: "21000" } });
    expect(await next(events)).toBeUndefined();
    // The connection is at rest, and serves the next one.
    expect(await next(opened(stand, { wanted: 0 }))).toBe("query.invalid");
    expect(stand.server.logins).toBe(1);
  });

  it("is asked for the rows that are wanted, when they are", async () => {
    await using stand = await standOf(scriptOf(5));
    const cursor = { wanted: 0 };
    const events = opened(stand, cursor);
    expect(await next(events)).toBe("columns");
    expect(fetches(stand)).toEqual([]);
    const execute = stand.server.seen.find(({ code }) => code === commandCode.stmtExecute);
    expect(execute?.payload[5]).toBe(1);
    cursor.wanted = 2;
    expect(await next(events)).toBe(2);
    expect(fetches(stand)).toEqual([2]);
    cursor.wanted = 9;
    expect(await next(events)).toBe(3);
    expect(await next(events)).toBe("done");
    expect(fetches(stand)).toEqual([2, 9]);
    expect(await next(events)).toBeUndefined();
    await stand.server.came(({ code }) => code === commandCode.stmtClose);
  });

  it.each([
    ["before a fetch", ["columns"]],
    ["between two", ["columns", 1]],
  ])("is closed without a cancel where its client leaves it %s", async (_when, told) => {
    await using stand = await standOf(scriptOf(5));
    const leave = new AbortController();
    const cursor = { wanted: 1 };
    const events = opened(stand, cursor, leave.signal);
    for (const one of told) expect(await next(events)).toBe(one);
    leave.abort();
    await events.return();
    await stand.server.came(({ code }) => code === commandCode.stmtClose);
    expect(stand.server.seen.some(({ text }) => text.startsWith("KILL"))).toBe(false);
    const after = opened(stand, undefined);
    await after.return();
  });

  it("fetches nothing more once it was cancelled", async () => {
    await using stand = await standOf(scriptOf(5));
    const stop = new AbortController();
    const events = opened(stand, { wanted: 1 }, stop.signal);
    expect([await next(events), await next(events)]).toEqual(["columns", 1]);
    stop.abort();
    expect(await next(events)).toBe("query.cancelled");
    expect(fetches(stand)).toEqual([1]);
    await events.return();
  });

  it("is none where the server opens none", async () => {
    await using stand = await standOf((seen) =>
      seen.code === commandCode.stmtExecute
        ? [Uint8Array.of(1), columnOf("a"), eofOf(), row, row, eofOf()]
        : scriptOf(0)(seen),
    );
    const events = opened(stand, { wanted: 1 });
    expect([await next(events), await next(events), await next(events)]).toEqual([
      "columns",
      2,
      "done",
    ]);
    expect(fetches(stand)).toEqual([]);
  });

  it("ends with the server's error, on a connection that goes on", async () => {
    await using stand = await standOf(scriptOf(5, [errorOf(1317, "70100")]));
    const events = opened(stand, { wanted: 1 });
    expect([await next(events), await next(events)]).toEqual(["columns", "query.cancelled"]);
    expect(await next(events)).toBeUndefined();
    await stand.server.came(({ code }) => code === commandCode.stmtClose);
  });

  it.each([
    ["neither rows nor an end", [eofOf(cursorExists)]],
    ["more than an end", [eofOf(lastRowSent), eofOf(lastRowSent)]],
    ["packets out of order", { raw: Uint8Array.of(1, 0, 0, 7, 1) }],
    ["nothing any more", "close"],
  ] as const)("that answers with %s is thrown away", async (_how, lie) => {
    await using stand = await standOf(scriptOf(5, lie));
    const events = opened(stand, { wanted: 1 });
    expect([await next(events), await next(events)]).toEqual(["columns", "engine.broken"]);
    await events.return();
    const again = opened(stand, { wanted: 1 });
    expect(await next(again)).toBe("columns");
    await again.return();
    const executed = stand.server.seen.filter(({ code }) => code === commandCode.stmtExecute);
    expect(new Set(executed.map(({ connection }) => connection)).size).toBe(2);
  });
});
