/** The protocol by hand: sessions, statements that nobody waits for, chunks, values that are bound, what is refused. */
import { gzipSync } from "node:zlib";
import type { ResultStream } from "@gateway/core/query/event.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { err, ok } from "@gateway/core/result.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import { gateOf, waitForAbort } from "../rig/answers.ts";
import { opened, type TestServer } from "./rig/server.ts";

const n = [columnOf("n", { kind: "integer", bits: 64, signed: true })];
const one = [
  { kind: "columns", columns: n },
  { kind: "batch", batch: batchOf(n, [[1n]]) },
  { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 1, bytes: 8 } },
] as const;
const inserted = [
  { kind: "done", stats: one[2].stats, updateType: "INSERT", updateCount: 2 },
] as const;
const answers = { "SELECT 1": one };
const query = "/queries/v1/query-request?requestId=r1";

describe("a session", () => {
  it("opens by password or token, and says why not otherwise", async () => {
    const server = await opened({ answers, passwords: { ann: "secret" } });
    const { token } = await server.logIn();
    expect((await server.post(query, { sqlText: "SELECT 1" }, token)).data.rowset).toEqual([["1"]]);
    await expect(server.logIn({ PASSWORD: "wrong" })).rejects.toMatchObject({ code: "390100" });
    await expect(server.logIn({ AUTHENTICATOR: "EXTERNALBROWSER" })).rejects.toThrow(/not offered/);
    const keyPair = { AUTHENTICATOR: "SNOWFLAKE_JWT", TOKEN: "a.b.c" };
    await expect(server.logIn(keyPair)).rejects.toMatchObject({ code: "390100" });
    expect(server.door.presented.at(-1)).toMatchObject({ kind: "keyPair", user: "ann" });
  });

  it("names its account to whoever judges the login, and passes on why Snowflake refused", async () => {
    const vendor = { of: "snowflake", code: 390_422 } as const;
    const refusal = gatewayError("auth.refused", { vendor });
    const server = await opened({ answers, passwords: { ann: "secret" } });
    await server.logIn({ ACCOUNT_NAME: "xy1" });
    expect(server.door.presented.at(-1)).toMatchObject({ kind: "password", account: "xy1" });
    server.door.authenticate = async () => err(refusal);
    await expect(server.logIn({ ACCOUNT_NAME: "xy1" })).rejects.toMatchObject({ code: "390422" });
    expect(server.door.refusals).toEqual([]);
  });

  it("tells a user whom Snowflake let in the name that was used there", async () => {
    const server = await opened({ answers, passwords: { ann: "secret" } });
    server.door.authenticate = async (shown) => {
      if (shown.kind !== "password") return err(gatewayError("auth.refused"));
      const { user, password } = shown;
      const identity = { user: `engine:xy1:${user}`, groups: [], roles: [] } as const;
      return ok({
        identity: { ...identity, method: "engine", realm: "xy1" },
        credential: { kind: "password", user, password },
      });
    };
    expect((await server.logIn()).displayUserName).toBe("ann");
  });

  it("is renewed by its master token, and its old token is taken no more", async () => {
    const server = await opened({ answers });
    const { token, masterToken } = await server.logIn();
    server.later(3_601_000);
    expect((await server.post(query, { sqlText: "SELECT 1" }, token)).code).toBe("390112");
    const renewed = await server.post("/session/token-request", {}, masterToken);
    const { sessionToken } = renewed.data;
    expect((await server.post(query, { sqlText: "SELECT 1" }, sessionToken)).success).toBe(true);
    expect((await server.post("/session/token-request", {}, masterToken)).code).toBe("390114");
    expect((await server.post(query, { sqlText: "SELECT 1" }, token)).code).toBe("390111");
  });

  it("is gone after its end, and forged tokens are like those that ended", async () => {
    const server = await opened({ answers });
    const { token } = await server.logIn();
    expect((await server.post("/session/heartbeat", {}, token)).success).toBe(true);
    expect((await server.post("/session?delete=true", {}, token)).success).toBe(true);
    const refused = await Promise.all(
      [token, "forged", `${token}x`, undefined].map((shown) =>
        server.post(query, { sqlText: "SELECT 1" }, shown),
      ),
    );
    expect(new Set(refused.map(({ code, message }) => `${code} ${message}`)).size).toBe(1);
    expect(refused[0]?.code).toBe("390111");
    expect(server.door.queries).toEqual([]);
  });

  it("keeps its place and parameters, and refuses what would not be done", async () => {
    const server = await opened({ answers });
    const { token } = await server.logIn({}, "databaseName=d&schemaName=s&warehouse=w");
    const run = (sqlText: string) => server.post(query, { sqlText }, token);
    await run("use schema other.place;");
    await run("alter session set QUERY_TAG = 'it''s', TIMEZONE = 'Europe/Berlin'");
    await run("SELECT 1");
    const session = server.door.queries.at(-1)?.session;
    expect(session).toMatchObject({ catalog: "other", schema: "place" });
    expect(session?.tags.get("query_tag")).toBe("it's");
    expect(session?.tags.get("warehouse")).toBe("w");
    expect(session?.settings.get("timezone")).toBe("Europe/Berlin");
    for (const sql of [
      "use role admin",
      "alter session set query_tag = 'gateway/x'",
      "put file:///etc/passwd @~",
      "get @~ file:///tmp",
    ]) {
      expect([sql, (await run(sql)).success]).toEqual([sql, false]);
    }
  });

  it("is refused to a user who has half of all there may be, and to nobody else", async () => {
    const passwords = { ann: "secret", bob: "other" };
    const server = await opened({ answers, passwords }, { maxSessions: 4 });
    const first = await server.logIn();
    await server.logIn();
    await expect(server.logIn()).rejects.toThrow(/connections/);
    await server.logIn({ LOGIN_NAME: "bob", PASSWORD: "other" });
    await server.post("/session?delete=true", {}, first.token);
    expect((await server.logIn()).token).toBeDefined();
  });

  it("of another user sees nothing of this one's statements", async () => {
    const passwords = { ann: "secret", bob: "other" };
    const server = await opened({ answers, passwords });
    const ann = await server.logIn();
    const bob = await server.logIn({ LOGIN_NAME: "bob", PASSWORD: "other" });
    const { data } = await server.post(query, { sqlText: "SELECT 1" }, ann.token);
    const path = `/queries/${data.queryId}/result`;
    expect((await server.get(path, ann.token)).data.rowset).toEqual([["1"]]);
    expect((await server.get(path, bob.token)).success).toBe(false);
    const watched = await server.get(`/monitoring/queries/${data.queryId}`, bob.token);
    expect(watched.data.queries).toEqual([]);
  });
});

describe("a statement", () => {
  it("that nobody waits for goes on, and its result is asked for later", async () => {
    const gate = gateOf();
    const server = await opened({ answers: { "SELECT wait": gate.answer } });
    const { token } = await server.logIn();
    const begun = await server.post(query, { sqlText: "SELECT wait", asyncExec: true }, token);
    expect(begun.code).toBe("333334");
    const { queryId, getResultUrl } = begun.data;
    // Some drivers ask for nothing that is no UUID.
    expect(queryId).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    const state = async () =>
      (await server.get(`/monitoring/queries/${queryId}`, token)).data.queries[0].status as string;
    expect(await state()).toBe("RUNNING");
    gate.open();
    expect((await server.get(getResultUrl, token)).data.rowset).toEqual([["1"]]);
    expect(await state()).toBe("SUCCESS");
    const doubled = await server.get(`/monitoring/queries//${queryId}`, token);
    expect(doubled.data.queries[0].status).toBe("SUCCESS");
    const sqlText = `select * from table(result_scan('${queryId}'))`;
    expect((await server.post(query, { sqlText }, token)).data.rowset).toEqual([["1"]]);
  });

  it.each<[string, (server: TestServer, token: string, id: string) => Promise<unknown>]>([
    [
      "request",
      (server, token) => server.post("/queries/v1/abort-request", { requestId: "r1" }, token),
    ],
    ["id", (server, token, id) => server.post(`/queries/${id}/abort-request`, {}, token)],
    ["session", (server, token) => server.post("/session?delete=true", {}, token)],
  ])("is ended by its %s", async (_what, end) => {
    const server = await opened({ answers: { "SELECT wait": waitForAbort } });
    const { token } = await server.logIn();
    const begun = await server.post(query, { sqlText: "SELECT wait", asyncExec: true }, token);
    await server.door.untilStarted(1);
    await end(server, token, begun.data.queryId);
    await server.door.untilEnded(1);
    expect(server.door.ended).toHaveLength(1);
  });

  it("that has more rows than an answer leaves them to be downloaded, by whoever has the address", async () => {
    const server = await opened({ answers: { many } });
    const { token } = await server.logIn();
    const { data } = await server.post(query, { sqlText: "many" }, token);
    expect(data.total).toBe(manyRows);
    const rows: string[][] = [...data.rowset];
    for (const { url, rowCount } of data.chunks) {
      const text = await (await fetch(url)).text();
      const more = JSON.parse(`[${text}]`) as string[][];
      expect(more).toHaveLength(rowCount);
      for (const row of more) rows.push(row);
    }
    expect(rows.map(([cell]) => Number(cell))).toEqual(
      Array.from({ length: manyRows }, (_, i) => i),
    );
    const [{ url }] = data.chunks;
    const forged = [
      url.replace(/.\/0$/, "/0"),
      url.replace(/\/0$/, "/999"),
      // The id begins with its day; the part before it only says which gateway has it.
      url.replace(/\/20(?=\d{6}_)/, "/21"),
    ];
    for (const other of forged) expect((await fetch(other)).status).toBe(404);
  });

  it("whose result is larger than what is kept fails, and never looks complete", async () => {
    const server = await opened({ answers: { many } }, { maxResultBytes: 1 << 20 });
    const { token } = await server.logIn();
    const answer = await server.post(query, { sqlText: "many" }, token);
    expect(answer).toMatchObject({ success: false, code: "000631" });
  });

  it("finds no room where its user has half of it, until older results are given up", async () => {
    const server = await opened({ answers: { many } }, { maxKeptBytes: 3 << 20 });
    const { token } = await server.logIn();
    const first = await server.post(query, { sqlText: "many" }, token);
    expect(first.success).toBe(true);
    expect((await server.post(query, { sqlText: "many" }, token)).code).toBe("000631");
  });

  it("gets bound values by their types, and refuses what is no value of its type", async () => {
    const server = await opened({ answers: { "SELECT $1, $2, $3, $4": one } });
    const { token } = await server.logIn();
    const bindings = {
      1: { type: "FIXED", value: "12.50" },
      2: { type: "TEXT", value: "it's" },
      3: { type: "DATE", value: "86400000" },
      4: { type: "BINARY", value: "00ff" },
    };
    const sqlText = "SELECT ?, ?, ?, ?";
    expect((await server.post(query, { sqlText, bindings }, token)).success).toBe(true);
    expect(server.door.queries.at(-1)?.parameters).toEqual([
      { type: { kind: "decimal", precision: 4, scale: 2 }, value: 1250n },
      { type: { kind: "text" }, value: "it's" },
      { type: { kind: "date" }, value: 1n },
      { type: { kind: "binary" }, value: Uint8Array.of(0, 255) },
    ]);
    for (const wrong of [
      { ...bindings, 1: { type: "FIXED", value: "1;drop" } },
      { ...bindings, 4: { type: "BINARY", value: "0g" } },
      { ...bindings, 3: { type: "GEOGRAPHY", value: "1" } },
      { 1: bindings[1], 3: bindings[3] },
      { 1: bindings[1] },
    ]) {
      const refused = await server.post(query, { sqlText, bindings: wrong }, token);
      expect(refused).toMatchObject({ success: false, code: "002049" });
    }
  });

  it("inserts the rows of bound arrays at once, and refuses arrays elsewhere", async () => {
    const sql = "INSERT INTO t VALUES ($1, $2), ($3, $4)";
    const server = await opened({ answers: { [sql]: inserted } });
    const { token } = await server.logIn();
    const bindings = {
      1: { type: "FIXED", value: ["1", "2"] },
      2: { type: "TEXT", value: ["a", null] },
    };
    const run = (sqlText: string) => server.post(query, { sqlText, bindings }, token);
    expect((await run("INSERT INTO t VALUES (?, ?)")).data.rowset).toEqual([["2"]]);
    expect((await run("UPDATE t SET a = ? WHERE b = ?")).success).toBe(false);
  });

  it("may be several, when the client says so", async () => {
    const server = await opened({ answers });
    const { token } = await server.logIn();
    const sqlText = "SELECT 1; SELECT 1";
    expect((await server.post(query, { sqlText }, token)).success).toBe(false);
    const parameters = { MULTI_STATEMENT_COUNT: 2 };
    const { data } = await server.post(query, { sqlText, parameters }, token);
    const ids: string[] = data.resultIds.split(",");
    expect(ids).toHaveLength(2);
    expect(ids).not.toContain(data.queryId);
    expect(server.door.queries).toHaveLength(2);
    const results = await Promise.all(ids.map((id) => server.get(`/queries/${id}/result`, token)));
    expect(results.map((answer) => answer.data.rowset)).toEqual([[["1"]], [["1"]]]);
    const other = await server.logIn({ LOGIN_NAME: "bob" });
    expect((await server.get(`/queries/${ids[1]}/result`, other.token)).success).toBe(false);
  });
});

describe("a session without autocommit", () => {
  it("begins a transaction with its first change of rows, and ends it when it says so", async () => {
    const pin = { end: async () => {} } as never;
    const scripted = {
      BEGIN: [
        { kind: "session", change: { kind: "pinned", pin, modes: {} as never } },
        inserted[0],
      ],
      COMMIT: [
        { kind: "session", change: { kind: "unpinned", outcome: "committed" } },
        inserted[0],
      ],
      "INSERT INTO t VALUES (1)": inserted,
      "SELECT 1": one,
    } as const;
    const server = await opened({ answers: scripted });
    const { token } = await server.logIn({ SESSION_PARAMETERS: { AUTOCOMMIT: false } });
    const run = (sqlText: string) => server.post(query, { sqlText }, token);
    const insert = "INSERT INTO t VALUES (1)";
    for (const sql of ["SELECT 1", "COMMIT", insert, insert, "COMMIT", "ROLLBACK"]) {
      expect([sql, (await run(sql)).success]).toEqual([sql, true]);
    }
    const texts = server.door.queries.map(({ sql }) => sql);
    expect(texts).toEqual(["SELECT 1", "BEGIN", insert, insert, "COMMIT"]);
  });

  it("runs no change where no transaction could begin", async () => {
    const server = await opened({ answers: { "INSERT INTO t VALUES (1)": inserted } });
    const { token } = await server.logIn({ SESSION_PARAMETERS: { AUTOCOMMIT: false } });
    const answer = await server.post(query, { sqlText: "INSERT INTO t VALUES (1)" }, token);
    expect(answer.success).toBe(false);
    expect(server.door.queries.map(({ sql }) => sql)).toEqual(["BEGIN"]);
  });
});

describe("a request", () => {
  it("may be compressed, but not beyond what a plain one may have", async () => {
    const server = await opened({ answers }, { maxMessageBytes: 4_096, maxStatementBytes: 4_096 });
    const { token } = await server.logIn();
    const send = (body: string) =>
      fetch(server.url + query, {
        method: "POST",
        body: gzipSync(body),
        headers: { "content-encoding": "gzip", authorization: `Snowflake Token="${token}"` },
      });
    expect((await send(JSON.stringify({ sqlText: "SELECT 1" }))).status).toBe(200);
    expect((await send(" ".repeat(1 << 20))).status).toBe(413);
  });

  it("of any other kind is refused, and nothing runs", async () => {
    const server = await opened({ answers });
    const { token } = await server.logIn();
    const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    const statuses = await Promise.all([
      fetch(`${server.url}/queries/v1/query-request`),
      fetch(`${server.url}/session/authenticator-request`, { method: "POST", body: "{}" }),
      fetch(server.url + query, {
        method: "POST",
        body: deep,
        headers: { authorization: `Snowflake Token="${token}"` },
      }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 400]);
    expect(server.door.queries).toEqual([]);
  });
});

const manyRows = 600_000;

/** More than one chunk. */
async function* many(): ResultStream {
  yield { kind: "columns", columns: n };
  const rows = 10_000;
  for (let from = 0; from < manyRows; from += rows) {
    const values = Array.from({ length: rows }, (_, row) => [BigInt(from + row)]);
    yield { kind: "batch", batch: batchOf(n, values) };
  }
  yield { kind: "done", stats: one[2].stats };
}
