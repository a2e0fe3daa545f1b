import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
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
        seen.push([request.method, request.headers["content-type"], text]);
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
      { body: { a: 1 } },
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
      ["GET", undefined, ""],
      ["POST", "application/json", '{"a":1}'],
      ["POST", "application/x-www-form-urlencoded", "a=1%26"],
    ]);
  });
});
