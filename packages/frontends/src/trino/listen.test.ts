import { once } from "node:events";
import { gunzipSync } from "node:zlib";
import type { ResultStream } from "@gateway/core/query/event.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import { describe, expect, it } from "vitest";
import type { Script } from "../rig/scriptedDoor.ts";
import {
  manyBatches,
  opened,
  rawClient,
  sendRaw,
  start,
  untilAborted,
  type TestServer,
} from "./rig/server.ts";
import { silentMs } from "./page/silent.ts";
import { batchOfNumbers, done, numbers, resultOf } from "./rig/trino.ts";

const java = { "user-agent": "StatementClientV1/476" };

describe("links", () => {
  const script: Script = { answers: { slow: untilAborted } };
  const post = async (server: TestServer, headers: string): Promise<string> => {
    const request = `POST /v1/statement HTTP/1.1\r\n${headers}X-Trino-User: alice\r\nConnection: close\r\nContent-Length: 4\r\n\r\nslow`;
    return sendRaw(server.port, request);
  };
  const baseOf = (answer: string) => /"nextUri":"([^"]*?)\/v1\//.exec(answer)?.[1];

  it("answers clients that are still sending what is refused", async () => {
    const server = await opened({ answers: {} }, { maxMessageBytes: 1024 });
    // More than the buffers of a connection take.
    const body = "x".repeat(8 * 1024 * 1024);
    const asked = Array.from({ length: 16 }, async () => {
      const { status } = await server.ask("/v1/statement", { method: "POST", body });
      return status;
    });
    expect(new Set(await Promise.all(asked))).toEqual(new Set([413]));
  });

  it("point where the client reached us, when that is an allowed host", async () => {
    const server = await opened(script, { allowedHosts: ["gateway.example"] });
    for (const host of ["localhost:1234", "192.0.2.1", "Gateway.Example:99", "[::1]:7"]) {
      expect(baseOf(await post(server, `Host: ${host}\r\n`))).toBe(`http://${host}`);
    }
    for (const host of ["evil.example", "localhost.evil.example", "", "a b", 'x"y']) {
      expect(await post(server, `Host: ${host}\r\n`)).toMatch(/^HTTP\/1.1 40[03] /);
    }
  });

  it("point to the external URL when one is configured", async () => {
    const server = await opened(script, { externalUrl: "https://trino.example/" });
    expect(baseOf(await post(server, "Host: trino.example\r\n"))).toBe("https://trino.example");
    expect(baseOf(await post(server, "Host: localhost\r\n"))).toBe("https://trino.example");
  });

  it("believe a forwarded scheme and address from trusted proxies only", async () => {
    const forwarded =
      "Host: localhost\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n";
    const plain = await opened(script);
    expect(baseOf(await post(plain, forwarded))).toBe("http://localhost");
    expect(plain.door.queries[0]?.session.clientAddress).toBe("127.0.0.1");
    const behind = await opened(script, { trustedProxies: ["127.0.0.0/8"] });
    expect(baseOf(await post(behind, forwarded))).toBe("https://localhost");
    expect(behind.door.queries[0]?.session.clientAddress).toBe("203.0.113.9");
  });

  it("are refused to pages of other sites", async () => {
    const server = await opened(script);
    expect(await post(server, "Host: localhost\r\nOrigin: https://evil.example\r\n")).toMatch(
      /^HTTP\/1.1 403 /,
    );
    expect(server.door.queries).toEqual([]);
  });
});

describe("compression", () => {
  const script: Script = { answers: { many: manyBatches, "SELECT 1": resultOf(numbers, [[1n]]) } };
  const far = { ...java, "x-forwarded-for": "203.0.113.9" };

  it("is used for large answers over a way that is worth it", async () => {
    const server = await opened(script, { trustedProxies: ["127.0.0.1"] });
    const encoding = async (sql: string, headers: Record<string, string>) =>
      (await server.ask("/v1/statement", { sql, headers })).headers.get("content-encoding");
    expect(await encoding("many", far)).toBe("gzip");
    expect(await encoding("SELECT 1", far)).toBeNull();
    expect(await encoding("many", java)).toBeNull();
    expect(await encoding("many", { ...far, "accept-encoding": "identity" })).toBeNull();
    expect(await encoding("many", { ...far, "accept-encoding": "gzip;q=0" })).toBeNull();
  });

  it("gives the rows back unchanged", async () => {
    const server = await opened(script, { trustedProxies: ["127.0.0.1"] });
    const request = `POST /v1/statement HTTP/1.1\r\nHost: localhost\r\nX-Trino-User: alice\r\nUser-Agent: StatementClientV1/476\r\nX-Forwarded-For: 203.0.113.9\r\nAccept-Encoding: gzip\r\nConnection: close\r\nContent-Length: 4\r\n\r\nmany`;
    const answer = Buffer.from(await sendRaw(server.port, request), "latin1");
    const body = gunzipSync(answer.subarray(answer.indexOf("\r\n\r\n") + 4)).toString("utf8");
    expect((JSON.parse(body) as QueryResults).data?.[0]).toEqual([0]);
  });
});

describe("drain", () => {
  it("answers what has begun to its end and nothing new", async () => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const server = await opened({
      answers: {
        work: async function* work(): ResultStream {
          yield { kind: "columns", columns: numbers };
          await finished;
          yield batchOfNumbers([1]);
          yield done;
        },
      },
    });
    const { nextUri = "" } = await start(server, "work");
    const drained = server.drain(new AbortController().signal);
    expect((await server.ask("/v1/statement", { sql: "work" })).status).toBe(503);
    expect(await (await server.ask("/v1/info/state")).json()).toBe("SHUTTING_DOWN");
    finish();
    expect(await (await server.ask(nextUri)).json()).toMatchObject({ data: [[1]] });
    await drained;
    await expect(server.ask("/v1/info")).rejects.toThrow("fetch failed");
  });

  it("does not wait for a client that left without a word", async () => {
    const server = await opened({ answers: { slow: untilAborted, other: untilAborted } });
    const { id } = await start(server, "slow");
    server.later(silentMs);
    const other = await start(server, "other");
    const deadline = new AbortController();
    const drained = server.drain(deadline.signal);
    await server.door.untilEnded(1);
    expect(server.door.ended).toEqual([id]);
    await server.ask(other.nextUri ?? "", { method: "DELETE" });
    await expect(drained).resolves.toBeUndefined();
    expect(deadline.signal.aborted).toBe(false);
  });

  it("cuts off at its deadline", async () => {
    const server = await opened({ answers: { slow: untilAborted } });
    await start(server, "slow");
    const deadline = new AbortController();
    const drained = server.drain(deadline.signal);
    deadline.abort();
    await expect(drained).resolves.toBeUndefined();
  });
});

describe("slow and crowding clients", () => {
  it("are cut off when a request's head does not come in time, also on a connection that was used", async () => {
    const server = await opened(
      { answers: {} },
      {},
      { headersMs: 300, requestMs: 600, checkMs: 20 },
    );
    const client = await rawClient(server.port);
    let answer = "";
    client.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
    });
    client.write("GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/info HTTP/1.1\r\nHo");
    await once(client, "close");
    expect(answer).toMatch(/^HTTP\/1.1 200 .*HTTP\/1.1 408 /s);
  });

  it("are cut off when they take nothing of their answer", async () => {
    const big = resultOf([columnOf("t", { kind: "text" })], [["x".repeat(24 * 1024 * 1024)]]);
    // Long enough that a busy machine has read the statement before: the time runs from the connection on.
    const server = await opened({ answers: { big } }, { maxConnections: 1 }, { stalledMs: 1500 });
    const client = await rawClient(server.port);
    client.pause();
    client.write(
      "POST /v1/statement HTTP/1.1\r\nHost: localhost\r\nX-Trino-User: alice\r\nUser-Agent: curl/8\r\nContent-Length: 3\r\n\r\nbig",
    );
    await server.door.untilEnded(1);
    // The only place is free again once the server has cut the first one off.
    while ((await server.ask("/v1/info", { headers: { connection: "close" } })).status !== 200);
    client.destroy();
    expect(server.host.log.bugs).toEqual([]);
  });

  it("cancel their query when they close their side while they wait", async () => {
    const server = await opened({ answers: { slow: untilAborted } });
    const client = await rawClient(server.port);
    client.end(
      "POST /v1/statement HTTP/1.1\r\nHost: localhost\r\nX-Trino-User: alice\r\nUser-Agent: curl/8\r\nContent-Length: 4\r\n\r\nslow",
    );
    await server.door.untilEnded(1);
    expect(server.door.ended).toHaveLength(1);
  });

  it("are told when there are too many of them", async () => {
    const server = await opened({ answers: {} }, { maxConnections: 1 });
    const first = await rawClient(server.port);
    first.write("GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(first, "data");
    expect(await sendRaw(server.port, "GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n")).toMatch(
      /^HTTP\/1.1 503 .*Retry-After: 1/s,
    );
    first.destroy();
  });
});
