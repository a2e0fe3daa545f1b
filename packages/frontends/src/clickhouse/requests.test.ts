/** What a request may say and where, and what it gets, over a scripted door. */
import { gatewayError } from "@gateway/core/error.ts";
import type { ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import { compressedBlocks, readCompressed } from "@gateway/wire/clickhouse/compressed.ts";
import { describe, expect, it } from "vitest";
import { answers, endless, waitForAbort } from "../rig/answers.ts";
import { closeOf, ended, rawOf, runs } from "../rig/wait.ts";
import { opened } from "./rig/server.ts";

const script = { answers };

describe("a path and a method", () => {
  it.each([
    ["GET", "/ping", 200, "Ok.\n"],
    ["GET", "/replicas_status", 200, "Ok.\n"],
    ["GET", "/", 200, "Ok.\n"],
    ["POST", "/ping", 405, "Method not allowed\n"],
    ["DELETE", "/", 405, "Method not allowed\n"],
    ["GET", "/play", 404, "There is no such path here\n"],
    ["GET", "/constructor", 404, "There is no such path here\n"],
    ["GET", "/?query=SELECT%201", 200, "1\n"],
    ["POST", "/?query=SELECT%201", 200, "1\n"],
  ])("%s %s is %i", async (method, path, status, text) => {
    const server = await opened(script);
    expect(await server.ask(path, { method })).toMatchObject({ status, text });
  });

  it("is refused from another site's page, and under a name that is not ours", async () => {
    const server = await opened(script);
    const foreign = await server.ask("/?query=SELECT%201", { headers: { origin: "http://evil" } });
    expect(foreign.status).toBe(403);
    expect(server.door.queries).toEqual([]);
  });
});

describe("the text of a statement", () => {
  it("is the field and behind it the body", async () => {
    const server = await opened(script);
    expect(await server.ask("/?query=SELECT", { sql: "1" })).toMatchObject({ code: "62" });
    expect(server.door.queries.at(-1)?.sql).toBe("SELECT\n1");
  });

  it("loses its FORMAT clause, which goes before every other word about the format", async () => {
    const server = await opened(script);
    const asked = async (path: string, sql: string) =>
      (await server.ask(path, { sql, headers: { "x-clickhouse-format": "CSV" } })).headers.get(
        "x-clickhouse-format",
      );
    expect(await asked("/?default_format=TSV", "SELECT 1 FORMAT JSONEachRow;")).toBeNull();
    expect(server.door.queries.at(-1)?.sql).toBe("SELECT 1;");
    expect(await asked("/?default_format=TSV", "SELECT 1 FORMAT JSONEachRow")).toBe("JSONEachRow");
    expect(await asked("/?default_format=TSV", "SELECT 1")).toBe("TSV");
    expect(await asked("/", "SELECT 1")).toBe("CSV");
  });

  it("may be compressed, in HTTP's way or in ClickHouse's blocks", async () => {
    const server = await opened(script);
    const blocks = compressedBlocks(Buffer.from("SELECT 1"));
    const read = await server.ask("/?decompress=1", { method: "POST", body: Buffer.from(blocks) });
    expect(read.text).toBe("1\n");
    const broken = await server.ask("/?decompress=1", { sql: "SELECT 1" });
    expect(broken).toMatchObject({ status: 400, code: "36" });
    const unknown = await server.ask("/", { sql: "x", headers: { "content-encoding": "snappy" } });
    expect(unknown.code).toBe("48");
  });

  it.each([
    ["SELECT 1; SELECT 2", "62"],
    ["", "62"],
    ["BEGIN", "48"],
    ["CREATE TEMPORARY TABLE t (a Int32)", "48"],
    ["/* a */ create or replace temporary table t (a Int32)", "48"],
    ["KILL QUERY WHERE user = 'bob'", "48"],
    ["INSERT INTO t FORMAT CSV 1", "48"],
    ["SELECT 1 FORMAT Parquet", "73"],
  ])("is refused: %s", async (sql, code) => {
    const server = await opened(script);
    expect((await server.ask("/", { sql })).code).toBe(code);
    expect(server.door.queries).toEqual([]);
  });

  it("changes nothing by GET, and nothing where the client reads only", async () => {
    const server = await opened(script);
    const insert = "/?query=INSERT%20INTO%20t%20VALUES%20(1)";
    expect((await server.ask(insert)).code).toBe("164");
    expect((await server.ask(`${insert}&readonly=1`, { method: "POST" })).code).toBe("164");
    expect((await server.ask(insert, { method: "POST" })).status).toBe(200);
  });
});

describe("who asks", () => {
  const passwords = { ann: "right horse" };
  const basic = `Basic ${Buffer.from("ann:right horse").toString("base64")}`;

  it.each<[string, string, Record<string, string>]>([
    ["Authorization", "", { authorization: basic }],
    ["headers", "", { "x-clickhouse-user": "ann", "x-clickhouse-key": "right horse" }],
    ["fields", "&user=ann&password=right%20horse", {}],
  ])("shows it in its %s", async (_place, more, headers) => {
    const server = await opened({ answers, passwords });
    expect((await server.ask(`/?query=SELECT%201${more}`, { headers })).text).toBe("1\n");
    expect(server.door.queries.at(-1)?.session.identity.user).toBe("ann");
    expect(JSON.stringify(server.door.queries)).not.toContain("right");
  });

  it("is refused when two places name somebody", async () => {
    const server = await opened({ answers, passwords });
    const path = "/?query=SELECT%201&user=ann&password=right%20horse";
    const twice = await server.ask(path, { headers: { authorization: basic } });
    expect(twice).toMatchObject({ status: 403, code: "516" });
    expect(server.door.presented).toEqual([]);
  });
});

describe("fields of the address", () => {
  it.each([
    ["a name that comes twice", "/?query=SELECT%201&max_threads=1&max_threads=2", "36"],
    ["a role", "/?query=SELECT%201&role=admin", "48"],
    ["a setting of a ClickHouse server", "/?query=SELECT%201&join_algorithm=hash", "115"],
    [
      "a session that must be there and is not",
      "/?query=SELECT%201&session_id=a&session_check=1",
      "372",
    ],
    [
      "a session for longer than it may be",
      "/?query=SELECT%201&session_id=a&session_timeout=9999",
      "374",
    ],
  ])("are refused with %s", async (_what, path, code) => {
    const server = await opened(script);
    expect((await server.ask(path)).code).toBe(code);
    expect(server.door.queries).toEqual([]);
  });

  it("hold typed parameters, which never become part of the text", async () => {
    const server = await opened(script);
    await server.ask("/?param_n=5&param_s=it's%5Cta", {
      sql: "SELECT {n:Int32}, {s:String}, {n:Int32}",
    });
    const query = server.door.queries.at(-1);
    expect(query?.sql).toBe("SELECT $1, $2, $1");
    expect(query?.parameters.map(({ value }) => value)).toEqual([5n, "it's\ta"]);
    const missing = await server.ask("/?param_n=5", { sql: "SELECT {m:Int32}" });
    expect(missing.code).toBe("457");
  });

  it("hold what a ClickHouse cluster is told, and nothing of who asks", async () => {
    const server = await opened({ answers, dialect: "clickhouse" });
    const path = "/?user=ann&join_algorithm=hash&param_n=5&session_id=x&compress=1&query_id=q";
    await server.ask(path, { sql: "SELECT 1 FORMAT Parquet" });
    expect(server.door.queries.at(-1)?.relay).toMatchObject({
      fields: [
        ["join_algorithm", "hash"],
        ["param_n", "5"],
      ],
      form: [
        ["default_format", "Parquet"],
        ["compress", "1"],
      ],
      body: undefined,
    });
  });

  it("hold the database; the name that every client sends is none before another engine", async () => {
    const server = await opened(script);
    await server.ask("/?database=sales", { sql: "SELECT 1" });
    expect(server.door.queries.at(-1)?.session.schema).toBe("sales");
    await server.ask("/?database=default", { sql: "SELECT 1" });
    expect(server.door.queries.at(-1)?.session.schema).toBeUndefined();
  });
});

describe("a session", () => {
  it("remembers settings for its user, and takes one statement at a time", async () => {
    const server = await opened({ answers: { ...answers, "SELECT wait": waitForAbort } });
    const session = "/?session_id=s&user=ann";
    expect((await server.ask(session, { sql: "SET readonly = 1" })).status).toBe(200);
    const insert = { sql: "INSERT INTO t VALUES (1)" };
    expect((await server.ask(session, insert)).code).toBe("164");
    expect((await server.ask("/?session_id=s&user=bob", insert)).status).toBe(200);
    const waiting = server.ask(`${session}&query_id=w`, { sql: "SELECT wait" });
    await runs(server.door, "SELECT wait");
    expect((await server.ask(session, { sql: "SELECT 1" })).code).toBe("373");
    await server.ask("/?user=ann", { sql: "KILL QUERY WHERE query_id = 'w' SYNC" });
    expect((await waiting).code).toBe("394");
    expect((await server.ask(`${session}&session_check=1`, { sql: "SELECT 1" })).text).toBe("1\n");
  });
});

describe("KILL QUERY", () => {
  it("ends a query of the same user, and nobody else's", async () => {
    const server = await opened({ answers: { ...answers, "SELECT wait": waitForAbort } });
    const waiting = server.ask("/?query_id=mine&user=ann", { sql: "SELECT wait" });
    await runs(server.door, "SELECT wait");
    const kill = { sql: "KILL QUERY WHERE query_id = 'mine' SYNC" };
    expect((await server.ask("/?user=bob", kill)).text).toBe("");
    const again = await server.ask("/?query_id=mine&user=ann", { sql: "SELECT 1" });
    expect(again.code).toBe("216");
    expect((await server.ask("/?user=ann", kill)).text).toBe("finished\tmine\tann\tSELECT wait\n");
    await ended(server.door, "SELECT wait");
    expect(await waiting).toMatchObject({ status: 500, code: "394" });
  });
});

describe("an answer", () => {
  it("is packed as its client asks", async () => {
    const server = await opened(script);
    const blocks = await fetch(`http://127.0.0.1:${server.port}/?query=SELECT%201&compress=1`);
    const read = readCompressed(new Uint8Array(await blocks.arrayBuffer()), 1000);
    expect(Buffer.from(read as Uint8Array).toString()).toBe("1\n");
    const gzip = await server.ask("/?query=SELECT%20batches&enable_http_compression=1");
    expect(gzip.headers.get("content-encoding")).toBe("gzip");
    expect(gzip.text.split("\n")).toHaveLength(10_001);
  });

  it("breaks off behind the reason when rows were sent already, and says so in its records", async () => {
    const server = await opened({ answers: { ...answers, "SELECT much": muchThenBroken } });
    const raw = await rawAnswer(
      server.port,
      "GET /?query=SELECT%20much HTTP/1.1\r\nHost: localhost\r\n\r\n",
    );
    const tag = /X-ClickHouse-Exception-Tag: ([0-9a-f]{16})/.exec(raw)?.[1] ?? "none";
    expect(raw).toContain(`\r\n__exception__\r\n${tag}\r\nCode: 210. DB::Exception: `);
    // Without the last chunk the answer is no whole one.
    expect(raw.endsWith("0\r\n\r\n")).toBe(false);
  });

  it("waits for the end where its client asks for that, and is then refused as a whole", async () => {
    const server = await opened({ answers: { ...answers, "SELECT much": muchThenBroken } });
    const whole = await server.ask("/?query=SELECT%20much&wait_end_of_query=1");
    expect(whole).toMatchObject({ status: 503, code: "210" });
  });

  it("passes as a ClickHouse engine sends it, with nothing added", async () => {
    const server = await opened({
      answers: { "SELECT raw": relayed(undefined) },
      dialect: "clickhouse",
    });
    const { text, headers, status } = await server.ask("/", { sql: "SELECT raw FORMAT Pretty" });
    expect({ text, status }).toEqual({ text: "one two", status: 200 });
    expect(headers.get("x-clickhouse-format")).toBe("Pretty");
    expect(headers.get("x-clickhouse-exception-tag")).toBeNull();
  });

  it("goes out as one with its length where all of it is here, unless it failed", async () => {
    const server = await opened({
      answers: {
        "SELECT raw": relayed(undefined),
        "SELECT bad": relayed(gatewayError("query.data")),
      },
      dialect: "clickhouse",
    });
    const { door } = server;
    Object.assign(door, {
      answer: async (...asked: Parameters<typeof door.run>) => {
        const events: ResultEvent[] = [];
        for await (const event of door.run(...asked)) events.push(event);
        return events;
      },
    });
    const ask = (sql: string) =>
      rawAnswer(
        server.port,
        `POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 10\r\n\r\n${sql}`,
      );
    const whole = await ask("SELECT raw");
    expect(whole).toContain("\r\nContent-Length: 7\r\n");
    expect(whole).not.toContain("chunked");
    expect(whole.endsWith("\r\n\r\none two")).toBe(true);
    const failed = await ask("SELECT bad");
    expect(failed).toContain("chunked");
    expect(failed.endsWith("0\r\n\r\n")).toBe(false);
  });

  it("is cut, and not explained again, where the engine has told why in its own bytes", async () => {
    const vendor = { of: "clickHouse", code: 395, name: "FUNCTION_THROW_IF" } as const;
    const failed = gatewayError("query.data", { message: "wrong", vendor });
    const server = await opened({ answers: { "SELECT raw": relayed(failed) } });
    const raw = await rawAnswer(
      server.port,
      "GET /?query=SELECT%20raw HTTP/1.1\r\nHost: localhost\r\n\r\n",
    );
    expect(raw).toContain("two");
    expect(raw).not.toContain("wrong");
    expect(raw.endsWith("0\r\n\r\n")).toBe(false);
  });

  it("ends its query when the client leaves in the middle of it", async () => {
    const server = await opened({ answers: { ...answers, "SELECT endless": endless } });
    const socket = await rawOf(server.port);
    socket.write("GET /?query=SELECT%20endless HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await runs(server.door, "SELECT endless");
    socket.destroy();
    await expect(ended(server.door, "SELECT endless")).resolves.toBeUndefined();
  });
});

/** More than is held, and then a failure. */
async function* muchThenBroken(...args: Parameters<typeof endless>): ResultStream {
  let batches = 0;
  for await (const event of endless(...args)) {
    yield event;
    if (event.kind === "batch") batches += 1;
    if (batches === 100) break;
  }
  yield { kind: "failed", error: gatewayError("engine.broken") };
}

function relayed(failed: ReturnType<typeof gatewayError> | undefined) {
  const piece = (text: string) =>
    ({
      kind: "batch",
      batch: { form: "native", format: "clickHouseBody", rows: 0, bytes: Buffer.from(text) },
    }) as const;
  const headers = { "x-clickhouse-format": "Pretty" };
  const native = { format: "clickHouseBody", bytes: new Uint8Array(0), headers } as const;
  const stats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 7 };
  const last = failed === undefined ? ({ kind: "done", stats } as const) : undefined;
  return [
    { kind: "columns", columns: [], native } as const,
    piece("one "),
    piece("two"),
    last ?? ({ kind: "failed", error: failed ?? gatewayError("engine.broken") } as const),
  ];
}

/** Everything that a server writes until it closes. */
async function rawAnswer(port: number, request: string): Promise<string> {
  const socket = await rawOf(port);
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.write(request);
  await closeOf(socket);
  return text;
}
