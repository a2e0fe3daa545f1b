import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { neonFetch } from "./neonFetch.ts";

const sent = {
  method: "POST",
  body: '{"query":"SELECT 1"}',
  headers: { "neon-array-mode": "true" },
};

describe("neonFetch", () => {
  it("sends what the driver gives, and answers what came, whatever the status", async () => {
    await using server = await serverOf((request, response) => {
      void (async () => {
        const pieces: Buffer[] = [];
        for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
        response.statusCode = 400;
        const { method, headers } = request;
        const body = Buffer.concat(pieces).toString();
        response.end(JSON.stringify({ method, mode: headers["neon-array-mode"], body }));
      })();
    });
    const answer = await neonFetch()(server.url, sent);
    expect([answer.ok, answer.status]).toEqual([false, 400]);
    const expected = { method: "POST", mode: "true", body: sent.body };
    expect(await answer.json()).toEqual(expected);
    expect(await answer.text()).toBe(JSON.stringify(expected));
  });

  it("keeps a connection for what follows, and leaves it once it was idle", async () => {
    await using server = await serverOf((_request, response) => void response.end("{}"));
    let nowMs = 1_000;
    const fetched = neonFetch(() => nowMs);
    await fetched(server.url, sent);
    await fetched(server.url, sent);
    expect(server.connections()).toBe(1);
    nowMs += 3_001;
    await fetched(server.url, sent);
    expect(server.connections()).toBe(2);
  });

  it("rejects with the signal's reason when the time is over", async () => {
    await using server = await serverOf(() => undefined);
    const reason = new Error("late");
    const late = neonFetch()(server.url, { ...sent, signal: AbortSignal.abort(reason) });
    await expect(late).rejects.toBe(reason);
    const ending = new AbortController();
    const started = neonFetch()(server.url, { ...sent, signal: ending.signal });
    await server.asked();
    ending.abort(reason);
    await expect(started).rejects.toBe(reason);
  });

  it("takes no half of an answer for a whole one, and tells why there is none", async () => {
    await using server = await serverOf((_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{}", () => response.destroy());
    });
    await expect(neonFetch()(server.url, sent)).rejects.toMatchObject({ code: "ECONNRESET" });
    const { url } = server;
    await server[Symbol.asyncDispose]();
    await expect(neonFetch()(url, sent)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

async function serverOf(listener: RequestListener) {
  let connections = 0;
  const server = createServer(listener);
  const firstAsked = once(server, "request");
  server.on("connection", () => (connections += 1));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/sql`,
    connections: () => connections,
    asked: () => firstAsked,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
