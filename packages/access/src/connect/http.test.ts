import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { anyEgress, egressRefused, type Egress } from "@gateway/core/port/egress.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { HttpClient, type HttpRequest } from "./http.ts";

describe("HttpClient", () => {
  it("reads with GET, and posts a body or a form as what it is", async () => {
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (piece) => {
        text += String(piece);
      });
      request.on("end", () => {
        seen.push([request.method, request.headers.accept, request.headers["content-type"], text]);
        response.end("{}");
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c`;
    const options = { timeoutMs: 5_000, connectionsMax: 1, caFile: undefined };
    await using http = new HttpClient(options, virtualHost(1));
    const requests: readonly Omit<HttpRequest, "url">[] = [
      {},
      { body: { a: 1 }, accept: "application/x-own" },
      { form: new URLSearchParams({ a: "1&" }) },
    ];
    for (const request of requests) {
      expect(await http.ask({ ...request, url })).toEqual({
        ok: true,
        value: { status: 200, json: {} },
      });
    }
    server.close();
    expect(seen).toEqual([
      ["GET", "application/json", undefined, ""],
      ["POST", "application/x-own", "application/json", '{"a":1}'],
      ["POST", "application/json", "application/x-www-form-urlencoded", "a=1%26"],
    ]);
  });

  it("asks nothing for who has left, and nobody whose authorities can not be read", async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end("{}");
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const options = { timeoutMs: 5_000, connectionsMax: 1, caFile: undefined };
    const host = virtualHost(1);
    await using http = new HttpClient(options, host);
    expect(await http.ask({ url }, AbortSignal.abort())).toEqual({ ok: false, error: "slow" });
    await using blind = new HttpClient({ ...options, caFile: "/nowhere/ca.pem" }, host);
    expect(await blind.ask({ url })).toEqual({ ok: false, error: "caFile" });
    server.close();
    expect([asked, host.timerCount]).toEqual([0, 0]);
  });

  it("looks names up as the process may", async () => {
    const asked: string[] = [];
    const lookup: Egress["lookup"] = (name, _options, callback) => {
      asked.push(name);
      callback(egressRefused(), "");
    };
    const host = { ...virtualHost(1), egress: { ...anyEgress, lookup } };
    const options = { timeoutMs: 5_000, connectionsMax: 1, caFile: undefined };
    await using http = new HttpClient(options, host);
    expect(await http.ask({ url: "http://localhost:1/" })).toMatchObject({ error: "unreachable" });
    expect(asked).toEqual(["localhost"]);
  });
});
