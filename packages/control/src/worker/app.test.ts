import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { memoryStore } from "../store/memory.ts";
import { currentSecret, registrationOf, testControl, type TestControl } from "./rig/control.ts";

describe("workerApi", () => {
  it("answers 404 for what does not exist, to members of the fleet", async () => {
    const answer = await (await testControl()).call("/capacity/nothing", { method: "POST" });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "missing" });
  });

  it("answers a bug with 500, logs it, and tells nothing of it", async () => {
    const store = memoryStore(virtualHost(1).clock);
    const bug = new Error("password=hunter2");
    const workers = { ...store.workers, get: () => Promise.reject(bug) };
    const control = await testControl({ store: { ...store, workers } });
    const json = registrationOf("a", "instance-00000001");
    const answer = await control.call("/register", { method: "POST", json });
    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(text).not.toMatch(/hunter2|app\.test|records|stack/);
    expect(JSON.parse(text)).toMatchObject({ code: "internal.bug" });
    expect(control.host.log.bugs).toEqual([bug]);
  });

  it("ends a stream that meets a bug, and logs it", async () => {
    const control = await testControl();
    await control.commit("one");
    const answer = await control.call("/config/stream");
    const reader = answer.body?.getReader();
    await reader?.read();
    const bug = new Error("secret");
    const { config } = control.deps;
    Object.assign(config, {
      current: () => {
        throw bug;
      },
    });
    const next = reader?.read();
    await control.host.advance(15_000);
    expect(await next).toEqual({ done: true, value: undefined });
    expect(control.host.log.bugs).toEqual([bug]);
  });

  it("frees waiters and streams of clients that hang up, over a real connection", async () => {
    const control = await testControl();
    await control.commit("one");
    const { head } = (await (await control.call("/config/wait")).json()) as {
      head: { revision: string };
    };
    const server = await serve(control);
    for (const path of ["wait", "stream"]) {
      const client = getFrom(server, `/worker/config/${path}?since=${head.revision}`);
      await until(control, () => control.held() === 1);
      client.destroy();
      await until(control, () => control.held() === 0);
      expect(client.destroyed).toBe(true);
    }
    server.close();
  });

  it("serves a compressed snapshot over a real connection, to any reader of gzip", async () => {
    const control = await testControl();
    await control.commit("one");
    const server = await serve(control);
    const { port } = server.address() as AddressInfo;
    const headers = { authorization: `Bearer ${currentSecret}` };
    const answer = await fetch(`http://127.0.0.1:${port}/worker/config`, { headers });
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(await answer.json()).toMatchObject({ clusters: { one: { engine: "duckDb" } } });
    server.closeAllConnections();
    server.close();
  });
});

/** As much of a Node server as these tests need: requests with a signal, answers as they come. */
async function serve({ app }: TestControl): Promise<Server> {
  const server = createServer((req, res) => {
    const left = new AbortController();
    res.once("close", () => left.abort());
    void answerTo(req, left.signal).then((answer) => {
      res.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body === null) return res.end();
      return Readable.fromWeb(answer.body)
        .on("error", () => res.destroy())
        .pipe(res);
    });
  });
  async function answerTo(req: IncomingMessage, signal: AbortSignal): Promise<Response> {
    const headers = Object.entries(req.headers).map(
      ([name, text]) => [name, String(text)] as [string, string],
    );
    return app.fetch(new Request(`http://control${req.url ?? ""}`, { headers, signal }));
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function getFrom(server: Server, path: string) {
  const { port } = server.address() as AddressInfo;
  const headers = { authorization: `Bearer ${currentSecret}` };
  // A request that is hung up on ends with an error here.
  return get({ host: "127.0.0.1", port, path, headers }).on("error", () => undefined);
}

async function until(control: TestControl, done: () => boolean): Promise<void> {
  while (!done()) await control.host.settle();
}
