import { noModes } from "@gateway/core/sql/session/statement.ts";
import { once } from "node:events";
import { gatewayError } from "@gateway/core/error.ts";
import type { ResultStream } from "@gateway/core/query/event.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import type { Query } from "@gateway/core/query/query.ts";
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import { describe, expect, it } from "vitest";
import {
  failing,
  manyBatches,
  opened,
  rawClient,
  rowsOf,
  sendRaw,
  start,
  untilAborted,
  type TestServer,
} from "./rig/server.ts";
import { batchOfNumbers, done, numbers, resultOf } from "./rig/trino.ts";

const java = { "user-agent": "StatementClientV1/476" };
const single = resultOf(numbers, [[1n]]);

describe("POST /v1/statement", () => {
  it("answers a short query in one request to a client that reads rows there, and in two otherwise", async () => {
    const server = await opened({ answers: { "SELECT 1": resultOf(numbers, [[1n]]) } });
    const one = await server.follow("SELECT 1", java);
    const two = await server.follow("SELECT 1");
    expect([one.length, two.length]).toEqual([1, 2]);
    expect([rowsOf(one), rowsOf(two)]).toEqual([[[1]], [[1]]]);
    expect(two[0]?.results).not.toHaveProperty("data");
  });

  it("takes rows in Trino's own form, and nothing of another", async () => {
    const server = await opened({ answers: { "SELECT 1": single } });
    await server.follow("SELECT 1");
    expect(server.door.queries[0]?.takes).toEqual(["trinoData"]);
  });

  it("hands the session of the headers to the door", async () => {
    const server = await opened({ answers: { "SELECT 1": resultOf(numbers, [[1n]]) } });
    await server.follow("SELECT 1", { "x-trino-catalog": "tpch", "x-trino-client-tags": "a:b" });
    expect(server.door.queries[0]?.session).toMatchObject({
      frontend: "trinoHttp",
      identity: { user: "alice" },
      clientAddress: "127.0.0.1",
      catalog: "tpch",
      tags: new Map([["a", "b"]]),
    });
  });

  it("takes prepared statements and properties over many requests, as a client keeps them", async () => {
    const server = await opened({ answers: { "SELECT $1": resultOf(numbers, [[7n]]) } });
    const [prepared] = await server.follow("PREPARE p FROM SELECT ?", java);
    const header = prepared?.headers.get("x-trino-added-prepare") ?? "";
    const answers = await server.follow("EXECUTE p USING 7", {
      "x-trino-prepared-statement": header,
    });
    expect(rowsOf(answers)).toEqual([[7]]);
    expect(server.door.queries[0]?.parameters).toMatchObject([{ value: 7n }]);
  });

  it("answers statements about the session also to clients that read the link only", async () => {
    const server = await opened({ answers: {} });
    const answers = await server.follow("SHOW CATALOGS");
    expect(rowsOf(answers)).toEqual([["memory"]]);
    const failed = await server.follow("EXECUTE nothing");
    expect(failed.at(-1)?.results.error?.errorName).toBe("NOT_FOUND");
    expect(server.door.queries).toEqual([]);
  });

  it("answers a refusal before the query by a status, to every client", async () => {
    const server = await opened({
      answers: {
        starting: failing("config.notReady"),
        draining: failing("gateway.draining"),
        identity: failing("auth.noBackendIdentity"),
      },
    });
    for (const sql of ["starting", "draining"]) {
      for (const headers of [java, {}]) {
        const response = await server.ask("/v1/statement", { sql, headers });
        expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
      }
    }
    const answers = await server.follow("identity");
    expect(answers.at(-1)?.results.error).toMatchObject({
      errorName: "PERMISSION_DENIED",
      errorCode: 4,
    });
  });

  it("refuses a body that is too long, compressed, not UTF-8, or empty", async () => {
    const server = await opened({ answers: {} }, { maxMessageBytes: 1024 });
    const status = async (sql: string | Uint8Array<ArrayBuffer>, headers = {}) =>
      (await server.ask("/v1/statement", { method: "POST", body: sql, headers })).status;
    expect(await status("x".repeat(1025))).toBe(413);
    expect(await status("SELECT 1", { "content-encoding": "gzip" })).toBe(400);
    expect(await status(Uint8Array.of(0x53, 0xff))).toBe(400);
    expect(await status(" \n")).toBe(400);
    expect(server.door.queries).toEqual([]);
  });

  it("refuses an announced length before anything of it came, and a chunked body as it grows", async () => {
    const server = await opened({ answers: {} }, { maxMessageBytes: 1024 });
    const head = "POST /v1/statement HTTP/1.1\r\nHost: localhost\r\nX-Trino-User: alice\r\n";
    expect(await sendRaw(server.port, `${head}Content-Length: 1000000000\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 413 .*Connection: close/s,
    );
    const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
    expect(
      await sendRaw(server.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`),
    ).toMatch(/^HTTP\/1.1 413 /);
  });
});

describe("GET of a link", () => {
  it("repeats the same answer for the same number and refuses one that is past", async () => {
    const server = await opened({ answers: { many: manyBatches } });
    const links: string[] = [];
    const texts: string[] = [];
    let next = (await start(server, "many")).nextUri;
    while (next !== undefined) {
      links.push(next);
      const [first, again] = [await textOf(server, next), await textOf(server, next)];
      expect(again).toBe(first);
      texts.push(first);
      next = (JSON.parse(first) as QueryResults).nextUri;
    }
    const rows = texts.flatMap((text) => (JSON.parse(text) as QueryResults).data ?? []);
    expect(rows).toHaveLength(60_000);
    expect((await server.ask(links.at(-2) ?? "")).status).toBe(410);
    expect(await textOf(server, links.at(-1) ?? "")).toBe(texts.at(-1));
  });

  it("answers another user, a forged link, an expired one and a forgotten query alike", async () => {
    const server = await opened({ answers: { slow: untilAborted, "SELECT 1": single } });
    const { nextUri = "" } = await start(server, "slow");
    const forgotten = (await start(server, "SELECT 1")).nextUri ?? "";
    await server.door.untilEnded(1);
    await (await server.ask(forgotten)).text();
    const forged = nextUri.slice(0, -1) + (nextUri.endsWith("A") ? "B" : "A");
    const asBob = { headers: { "x-trino-user": "bob" } };
    const asked = [
      await server.ask(nextUri, asBob),
      await server.ask(nextUri, { ...asBob, method: "DELETE" }),
      await server.ask(forged),
      await server.ask(`${nextUri}A`),
      await server.ask(nextUri.slice(0, nextUri.lastIndexOf("/") + 1) + "A".repeat(80)),
    ];
    server.later(61_000);
    asked.push(await server.ask(forgotten));
    server.later(24 * 3_600_000);
    asked.push(await server.ask(nextUri));
    const answers = await Promise.all(asked.map(async (one) => [one.status, await one.text()]));
    expect(new Set(answers.map(String))).toEqual(new Set(["404,There is no such query."]));
    expect(server.door.ended).toHaveLength(1);
  });

  it("sends a link that another instance gave out elsewhere, to be tried again", async () => {
    const server = await opened({ answers: { slow: untilAborted } });
    const { nextUri = "" } = await start(server, "slow");
    const foreign = nextUri.replace(/\/[0-9a-f]{12}\//, "/000000000000/");
    const response = await server.ask(foreign);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  });

  it("needs no name where names are not verified: the link is the secret", async () => {
    const server = await opened({ answers: { "SELECT 1": resultOf(numbers, [[1n]]) } });
    const { nextUri = "" } = await start(server, "SELECT 1");
    const response = await fetch(nextUri);
    expect(await response.json()).toMatchObject({ data: [[1]] });
  });

  it("cancels the query when its client hangs up while it waits", async () => {
    const server = await opened({ answers: { slow: untilAborted } });
    const { nextUri = "" } = await start(server, "slow");
    const client = await rawClient(server.port);
    const path = nextUri.slice(server.url.length);
    client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Trino-User: alice\r\n\r\n`);
    await server.door.untilStarted(1);
    client.destroy();
    await server.door.untilEnded(1);
    expect(await (await server.ask(nextUri)).json()).toMatchObject({
      stats: { state: "FAILED" },
      error: { errorName: "USER_CANCELED" },
    });
  });

  it("cancels also when its client left while its login was checked", async () => {
    const server = await opened({ answers: { slow: untilAborted } });
    const { nextUri = "" } = await start(server, "slow");
    const authenticate = server.door.authenticate.bind(server.door);
    const asked = gateOf();
    const checked = gateOf();
    Object.assign(server.door, {
      authenticate: async (...login: Parameters<typeof authenticate>) => {
        asked.resolve();
        await checked.promise;
        return authenticate(...login);
      },
    });
    const client = await rawClient(server.port);
    const path = nextUri.slice(server.url.length);
    client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Trino-User: alice\r\n\r\n`);
    await asked.promise;
    client.destroy();
    // Behind this answer the server has seen the other connection's end.
    await server.ask("/v1/info");
    await server.ask("/v1/info");
    checked.resolve();
    await server.door.untilEnded(1);
    expect(server.door.ended).toHaveLength(1);
  });

  it("finds the next answer built while its client read the last one", async () => {
    const server = await opened({ answers: { "SELECT 1": resultOf(numbers, [[1n]]) } });
    const { nextUri = "" } = await start(server, "SELECT 1");
    await server.door.untilEnded(1);
    expect(await (await server.ask(nextUri)).json()).toMatchObject({ data: [[1]] });
  });

  it("stays alive by a HEAD, which takes no answer", async () => {
    const server = await opened({ answers: { "SELECT 1": resultOf(numbers, [[1n]]) } });
    const { nextUri = "" } = await start(server, "SELECT 1");
    const head = await server.ask(nextUri, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(await (await server.ask(nextUri)).json()).toMatchObject({ data: [[1]] });
  });
});

describe("DELETE", () => {
  it("of a link cancels: 204, and a later poll answers FAILED", async () => {
    const server = await opened({ answers: { slow: untilAborted } });
    const { nextUri = "" } = await start(server, "slow");
    const response = await server.ask(nextUri, { method: "DELETE" });
    expect([response.status, await response.text()]).toEqual([204, ""]);
    await server.door.untilEnded(1);
    const results = (await (await server.ask(nextUri)).json()) as QueryResults;
    expect(results.error).toMatchObject({ errorName: "USER_CANCELED", errorCode: 3 });
    expect(results.nextUri).toBeUndefined();
  });

  it("of a query cancels it for its owner only", async () => {
    const server = await opened({ answers: { slow: untilAborted } });
    const { id } = await start(server, "slow");
    const path = `/v1/query/${id}`;
    const asBob = { method: "DELETE", headers: { "x-trino-user": "bob" } };
    expect((await server.ask(path, asBob)).status).toBe(404);
    expect((await server.ask(path, { method: "DELETE" })).status).toBe(204);
    expect(await (await server.ask(path)).json()).toMatchObject({
      queryId: id,
      state: "FAILED",
      errorCode: { name: "USER_CANCELED" },
      query: "slow",
    });
  });
});

describe("DELETE of the link for a partial cancel", () => {
  it("ends the query with the rows so far, and says that some are missing", async () => {
    const server = await opened({ answers: { rows: rowsThenNothing } });
    const first = await start(server, "rows");
    const shown = (await (await server.ask(first.nextUri ?? "")).json()) as QueryResults;
    expect(shown.data).toEqual([[1]]);
    const uri = shown.partialCancelUri ?? "";
    expect((await server.ask(uri)).status).toBe(405);
    const asBob = { method: "DELETE", headers: { "x-trino-user": "bob" } };
    expect((await server.ask(uri, asBob)).status).toBe(404);
    expect((await server.ask(uri, { method: "DELETE" })).status).toBe(204);
    await server.door.untilEnded(1);
    const last = (await (await server.ask(shown.nextUri ?? "")).json()) as QueryResults;
    expect([last.stats.state, last.error, last.nextUri]).toEqual([
      "FINISHED",
      undefined,
      undefined,
    ]);
    expect(last.warnings[0]?.warningCode.name).toBe("PARTIAL_RESULT");
  });

  it("cancels a query that gave no row, because an empty result would look whole", async () => {
    const server = await opened({ answers: { slow: untilAborted } });
    const { nextUri = "" } = await start(server, "slow");
    const partial = nextUri.replace("/queued/", "/partialCancel/");
    expect((await server.ask(partial, { method: "DELETE" })).status).toBe(204);
    const last = (await (await server.ask(nextUri)).json()) as QueryResults;
    expect(last.error?.errorName).toBe("USER_CANCELED");
  });
});

describe("a poll's wishes", () => {
  it("size the answers that follow", async () => {
    const server = await opened({ answers: { many: manyBatches } });
    const { nextUri = "" } = await start(server, "many");
    const one = (await (await server.ask(nextUri)).json()) as QueryResults;
    const two = await server.ask(`${one.nextUri}?targetResultSize=16kB`);
    const three = (await two.json()) as QueryResults;
    const four = await server.ask(`${three.nextUri}?targetResultSize=16kB&maxWait=1ms`);
    expect((await four.text()).length).toBeLessThan(20_000);
  });
});

describe("transactions", () => {
  it("run in the pin that the client's id names, for its owner, until they end", async () => {
    const pin: Pin = { cluster: "c", group: "g", state: "open", end: async () => undefined };
    const server = await opened({
      answers: {
        "START TRANSACTION": [
          { kind: "session", change: { kind: "pinned", modes: noModes, pin } },
          { ...done, updateType: "BEGIN" },
        ],
        "SELECT 1": resultOf(numbers, [[1n]]),
        COMMIT: [
          { kind: "session", change: { kind: "unpinned", outcome: "committed" } },
          { ...done, updateType: "COMMIT" },
        ],
      },
    });
    const none = { ...java, "x-trino-transaction-id": "NONE" };
    const [started] = await server.follow("START TRANSACTION", none);
    expect(started?.results.updateType).toBe("START TRANSACTION");
    const id = started?.headers.get("x-trino-started-transaction-id") ?? "";
    const inside = { ...java, "x-trino-transaction-id": id };
    await server.follow("SELECT 1", inside);
    expect(server.door.queries.at(-1)?.session.pin).toBe(pin);
    const [stolen] = await server.follow("SELECT 1", { ...inside, "x-trino-user": "bob" });
    expect(stolen?.results.error?.errorName).toBe("UNKNOWN_TRANSACTION");
    const [committed] = await server.follow("COMMIT", inside);
    expect(committed?.headers.get("x-trino-clear-transaction-id")).toBe("true");
    const [late] = await server.follow("SELECT 1", inside);
    expect(late?.results.error?.errorName).toBe("UNKNOWN_TRANSACTION");
  });
});

describe("other paths", () => {
  it("tell what the server is, without a login", async () => {
    const server = await opened({ answers: {}, passwords: { alice: "x" } });
    const info = await fetch(`${server.url}/v1/info`);
    expect(await info.json()).toMatchObject({
      nodeVersion: { version: "476" },
      coordinator: true,
      starting: false,
    });
    expect((await fetch(`${server.url}/v1/info`, { method: "HEAD" })).status).toBe(200);
    expect(await (await fetch(`${server.url}/v1/info/state`)).json()).toBe("ACTIVE");
    expect((await fetch(`${server.url}/v1/info/coordinator`)).status).toBe(200);
    expect((await fetch(`${server.url}/v1/status`, { method: "HEAD" })).status).toBe(200);
  });

  it("are unknown, and known ones are asked in their own way", async () => {
    const server = await opened({ answers: {} });
    const status = async (path: string, method = "GET") =>
      (await server.ask(path, { method })).status;
    expect(await status("/")).toBe(404);
    expect(await status("/v1/statement/executing/a")).toBe(404);
    expect(await status("/v1/query/none")).toBe(404);
    expect(await status("/ui/")).toBe(404);
    const put = await server.ask("/v1/statement", { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await status("/v1/info", "POST")).toBe(405);
  });

  it("survive garbage", async () => {
    const server = await opened({ answers: {} });
    for (const bytes of [
      "\0\0\0\0\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      `GET /${"a".repeat(70_000)} HTTP/1.1\r\n\r\n`,
    ]) {
      expect(await sendRaw(server.port, bytes)).toMatch(/^HTTP\/1.1 4\d\d /);
    }
    expect((await server.ask("/v1/info")).status).toBe(200);
    expect(server.host.log.bugs).toEqual([]);
  });
});

/** One row, and then nothing until it is cancelled. */
async function* rowsThenNothing(_query: Query, signal: AbortSignal): ResultStream {
  yield { kind: "columns", columns: numbers };
  yield batchOfNumbers([1]);
  if (!signal.aborted) await once(signal, "abort");
  yield { kind: "failed", error: gatewayError("query.cancelled") };
}

async function textOf(server: TestServer, link: string): Promise<string> {
  return (await server.ask(link)).text();
}

/** A promise and what resolves it. */
function gateOf() {
  const resolvers: (() => void)[] = [];
  const promise = new Promise<void>((resolve) => resolvers.push(resolve));
  return { promise, resolve: () => resolvers[0]?.() };
}
