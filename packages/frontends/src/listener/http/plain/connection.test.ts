import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { HttpRequest, HttpResponse } from "../exchange.ts";
import { longTimes, sideOf, type Side } from "./rig/beside.ts";
import { PlainRequest } from "./request.ts";

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe("a connection whose requests are plain", () => {
  it("has one request answered after the other, whenever they come", async () => {
    const waiting: HttpResponse[] = [];
    await using side = await holdingBack(waiting);
    const client = await clientOf(side);
    client.write(get("/1"));
    const first = await next(waiting);
    client.write(get("/2"));
    first.end("one");
    const text = await textUntil(client, "one");
    (await next(waiting)).end("two");
    expect(text + (await textUntil(client, "two"))).toMatch(/one.*two$/s);
    expect(side.plain()).toBe(2);
    client.destroy();
  });

  it("gets what comes too early in great amounts read later", async () => {
    const waiting: HttpResponse[] = [];
    await using side = await holdingBack(waiting);
    const client = await clientOf(side);
    client.write(get("/1"));
    const first = await next(waiting);
    const body = "x".repeat(4 * 1024 * 1024);
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    first.end("one");
    await textUntil(client, "one");
    (await next(waiting)).end("two");
    expect(await textUntil(client, "two")).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    client.destroy();
  });

  it("tells its answer when the client leaves, and writes nothing any more", async () => {
    const waiting: HttpResponse[] = [];
    await using side = await holdingBack(waiting);
    const client = await clientOf(side);
    client.write(get("/"));
    const response = await next(waiting);
    const gone = new Promise<void>((resolve) => void response.once("close", resolve));
    client.destroy();
    await gone;
    expect(response.destroyed).toBe(true);
    expect(response.writableFinished).toBe(false);
    expect(response.write(Buffer.from("x"))).toBe(false);
    response.end();
  });

  it("tells those who listen still, once where they asked for that, in their order", async () => {
    const waiting: HttpResponse[] = [];
    await using side = await holdingBack(waiting);
    const client = await clientOf(side);
    client.write(get("/"));
    const response = await next(waiting);
    const told: string[] = [];
    const never = (): void => void told.push("never");
    const closed = new Promise<void>((resolve) => {
      response.on("close", () => void told.push("first"));
      response.once("close", never);
      response.once("close", () => {
        told.push("second");
        response.on("close", never);
      });
      response.once("drain", never);
      response.on("close", resolve);
    });
    response.off("close", never);
    response.end("one");
    await closed;
    client.destroy();
    expect(told).toEqual(["first", "second"]);
  });

  it("waits with its bytes for a client that takes none", async () => {
    const waiting: HttpResponse[] = [];
    await using side = await holdingBack(waiting);
    const client = await clientOf(side);
    client.pause();
    client.write(get("/"));
    const response = await next(waiting);
    const piece = Buffer.alloc(64 * 1024);
    while (response.write(piece));
    expect(response.writableNeedDrain).toBe(true);
    const drained = new Promise<void>((resolve) => void response.once("drain", resolve));
    client.resume();
    await drained;
    response.destroy();
    await once(client, "close");
  });

  it("takes no header that would begin another line", async () => {
    const refused: string[] = [];
    await using side = await sideOf(true, longTimes, async (_request, response) => {
      const set = (name: string, value: string | readonly string[]): void => {
        try {
          response.setHeader(name, value);
        } catch (error) {
          refused.push((error as NodeJS.ErrnoException).code ?? "");
        }
      };
      set("X-A", "b\r\nX-C: d");
      set("X-A", ["b", "c\n"]);
      set("X A", "b");
      set("X-A:", "b");
      response.end();
      return "";
    });
    await side.answer([get("/")]);
    const code = "ERR_INVALID_CHAR";
    expect(refused).toEqual([code, code, "ERR_INVALID_HTTP_TOKEN", "ERR_INVALID_HTTP_TOKEN"]);
  });

  it.each([
    ["that asks nothing", "", /^$/],
    ["that asked and rests", get("/"), /^HTTP\/1.1 200 /],
    [
      "whose body does not come",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nSELECT",
      /^HTTP\/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n$/,
    ],
  ])("is closed before a client %s", async (_who, sent, expected) => {
    const times = { keepAliveMs: 40, requestMs: 40, stalledMs: 300_000 };
    await using side = await sideOf(true, times);
    const client = await clientOf(side);
    client.write(sent);
    expect(await textOf(client)).toMatch(expected);
  });

  it("stays open for as long as an answer takes", async () => {
    const waiting: HttpResponse[] = [];
    const times = { ...longTimes, keepAliveMs: 20 };
    await using side = await sideOf(true, times, async (request, response) => {
      if (request.url === "/slow") waiting.push(response);
      else response.end();
      return "";
    });
    const slow = await clientOf(side);
    slow.write(get("/slow"));
    const response = await next(waiting);
    // One that began later is over before.
    const resting = await clientOf(side);
    resting.write(get("/"));
    await textOf(resting);
    expect(response.destroyed).toBe(false);
    response.end("done");
    await textUntil(slow, "done");
    slow.destroy();
  });

  it("ends when its client takes nothing of an answer", async () => {
    const waiting: HttpResponse[] = [];
    const times = { keepAliveMs: 20, requestMs: 20, stalledMs: 100 };
    await using side = await holdingBack(waiting, times);
    const client = await clientOf(side);
    client.pause();
    client.write(get("/"));
    const response = await next(waiting);
    const piece = Buffer.alloc(64 * 1024);
    while (response.write(piece));
    await new Promise<void>((resolve) => void response.once("close", resolve));
    expect(response.writableFinished).toBe(false);
    client.destroy();
  });

  it("leaves a body of more than it holds to node:http", async () => {
    const seen: HttpRequest[] = [];
    await using side = await sideOf(true, longTimes, async (request, response) => {
      seen.push(request);
      if (!(request instanceof PlainRequest)) request.resume();
      response.end("ok");
      return "";
    });
    const body = "x".repeat(70_000);
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { text } = await side.answer([get("/"), head + body, get("/")]);
    expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(3);
    expect(seen.map((request) => request instanceof PlainRequest)).toEqual([true, false, false]);
  });
});

/** Answers nothing by itself: the test does. */
function holdingBack(waiting: HttpResponse[], times = longTimes): Promise<Side> {
  return sideOf(true, times, async (_request, response) => {
    waiting.push(response);
    return "";
  });
}

async function clientOf({ port }: Side): Promise<Socket> {
  const client = connect({ port, host: "127.0.0.1", noDelay: true });
  client.on("error", () => undefined);
  await once(client, "connect");
  return client;
}

async function next(waiting: HttpResponse[]): Promise<HttpResponse> {
  for (;;) {
    const response = waiting.shift();
    if (response !== undefined) return response;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

async function textUntil(client: Socket, end: string): Promise<string> {
  let text = "";
  while (!text.endsWith(end)) {
    const [bytes] = (await once(client, "data")) as [Buffer];
    text += bytes.toString("latin1");
  }
  return text;
}

async function textOf(client: Socket): Promise<string> {
  let text = "";
  client.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1");
  });
  await once(client, "close");
  return text;
}
