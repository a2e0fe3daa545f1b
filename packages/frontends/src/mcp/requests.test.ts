import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { answers } from "../rig/answers.ts";
import {
  callOf,
  initialize,
  opened,
  plainHeaders,
  requestOf,
  type TestServer,
} from "./rig/server.ts";

describe("the routes", () => {
  it("are the endpoint and the metadata, each with its methods", async () => {
    const server = await opened({ answers });
    const origin = `http://127.0.0.1:${server.port}`;
    const status = async (method: string, path: string) =>
      (await fetch(origin + path, { method })).status;
    for (const method of ["GET", "DELETE", "PUT", "OPTIONS", "HEAD"]) {
      expect(await status(method, "/mcp")).toBe(405);
    }
    for (const path of ["/", "/mcp/", "/sse", "/mcp2", "/.well-known/oauth-authorization-server"]) {
      expect(await status("GET", path)).toBe(404);
    }
    expect(await status("POST", "/.well-known/oauth-protected-resource")).toBe(405);
    // Nobody issues tokens here.
    expect(await status("GET", "/.well-known/oauth-protected-resource")).toBe(404);
    expect((await fetch(`${origin}/mcp`)).headers.get("allow")).toBe("POST");
  });

  it("tell which provider issues tokens, also in the challenge", async () => {
    const script = { answers, passwords: {}, takesTokens: true, tokenIssuer: "https://id.example" };
    const server = await opened(script, { externalUrl: "https://gw.example/" });
    for (const path of ["", "/mcp"]) {
      const url = `http://127.0.0.1:${server.port}/.well-known/oauth-protected-resource${path}`;
      expect(await (await fetch(url)).json()).toMatchObject({
        resource: "https://gw.example/mcp",
        authorization_servers: ["https://id.example"],
        bearer_methods_supported: ["header"],
      });
    }
    const nobody = await server.post(initialize);
    expect(nobody.status).toBe(401);
    expect(nobody.headers.get("www-authenticate")).toBe(
      'Bearer realm="mcp", resource_metadata="https://gw.example/.well-known/oauth-protected-resource/mcp", Basic realm="mcp", charset="UTF-8"',
    );
    const wrong = await server.post(initialize, { authorization: "Bearer x.y.z" });
    expect(wrong.headers.get("www-authenticate")).toContain('error="invalid_token"');
    expect(server.door.presented.at(-1)).toMatchObject({ kind: "bearer" });
  });

  it("offer a password alone where no token is taken", async () => {
    const server = await opened({ answers, passwords: { ann: "right" } });
    const nobody = await server.post(initialize);
    expect(nobody.headers.get("www-authenticate")).toBe('Basic realm="mcp", charset="UTF-8"');
    const scheme = await server.post(initialize, { authorization: "Digest x" });
    expect(scheme.status).toBe(401);
  });
});

describe("a request from elsewhere", () => {
  it("is refused by its Host and its Origin before anything else is looked at", async () => {
    const server = await opened({ answers });
    const sent = (headers: Readonly<Record<string, string>>) => rawPost(server, headers);
    expect(await sent({ host: "evil.example" })).toBe(403);
    expect(await sent({ origin: "https://evil.example" })).toBe(403);
    expect(await sent({ origin: "null" })).toBe(403);
    expect(await sent({ host: "localhost:1" })).toBe(200);
    expect(await sent({ origin: `http://127.0.0.1:${server.port}` })).toBe(200);
  });

  it("comes from a host of the config", async () => {
    const server = await opened({ answers }, { allowedHosts: ["studio.example"] });
    expect(await rawPost(server, { host: "studio.example" })).toBe(200);
    expect(await rawPost(server, { origin: "https://studio.example" })).toBe(200);
  });

  it("is refused when its headers can be read in two ways", async () => {
    const server = await opened({ answers });
    expect(await rawPost(server, { connection: "close, mcp-session-id" })).toBe(400);
  });
});

describe("a hostile message", () => {
  const refused = async (server: TestServer, body: string) => {
    const answer = await server.post(body);
    const { error } = (await answer.json()) as { readonly error: { readonly code: number } };
    return [answer.status, error.code];
  };

  it("is refused by the numbers of JSON-RPC before the SDK sees it", async () => {
    const server = await opened({ answers });
    expect(await refused(server, "")).toEqual([400, -32700]);
    expect(await refused(server, "{")).toEqual([400, -32700]);
    expect(await refused(server, "[".repeat(40))).toEqual([400, -32600]);
    expect(await refused(server, `{"a":[${"0,".repeat(20_000)}0]}`)).toEqual([400, -32600]);
    expect(await refused(server, JSON.stringify([initialize]))).toEqual([400, -32600]);
    expect(await refused(server, '"text"')).toEqual([400, -32600]);
    expect(await refused(server, '{"jsonrpc":"1.0","id":1,"method":"ping"}')).toEqual([
      400, -32600,
    ]);
    expect(await refused(server, '{"jsonrpc":"2.0","id":1}')).toEqual([400, -32600]);
    expect(await refused(server, '{"jsonrpc":"2.0","id":1.5,"method":"ping"}')).toEqual([
      400, -32600,
    ]);
    expect(await refused(server, '{"jsonrpc":"2.0","id":null,"method":"ping"}')).toEqual([
      400, -32600,
    ]);
    expect(await refused(server, '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}')).toEqual([
      400, -32600,
    ]);
    expect((await server.post(requestOf("ping"))).status).toBe(200);
    expect(server.host.log.bugs).toEqual([]);
  });

  it("gets the SDK's own refusal for what only that knows", async () => {
    const server = await opened({ answers });
    const errorOf = async (message: object, headers = {}) => {
      const answer = await server.post(message, headers);
      const body = (await answer.json()) as { readonly error?: { readonly code: number } };
      return [answer.status, body.error?.code];
    };
    expect(await errorOf(requestOf("no/such"))).toEqual([200, -32601]);
    expect(await errorOf(callOf("drop_everything", {}))).toEqual([200, -32602]);
    expect(await errorOf(requestOf("ping"), { accept: "text/html" })).toEqual([406, -32000]);
    expect(await errorOf(requestOf("ping"), { "content-type": "text/plain" })).toEqual([
      415, -32000,
    ]);
    expect(await errorOf(requestOf("ping"), { "mcp-protocol-version": "1999" })).toEqual([
      400, -32000,
    ]);
  });

  it("is not read when it is compressed, and not kept when it is too long", async () => {
    const server = await opened({ answers }, { maxMessageBytes: 2048 });
    const body = gzipSync(JSON.stringify(initialize));
    const packed = await fetch(server.url, {
      method: "POST",
      headers: { ...plainHeaders, "content-encoding": "gzip" },
      body,
    });
    expect(packed.status).toBe(400);
    const long = await server.post(callOf("execute_query", { sql: "x".repeat(4096) }));
    expect(long.status).toBe(413);
    expect(await long.json()).toMatchObject({ error: { data: { code: "protocol.tooLarge" } } });
  });

  it("never pollutes what others see", async () => {
    const server = await opened({ answers });
    const sent =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_catalogs","arguments":{},"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}';
    expect((await server.post(sent)).status).toBe(200);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("a message that asks for nothing", () => {
  it("is taken", async () => {
    const server = await opened({ answers });
    const told = { jsonrpc: "2.0", method: "notifications/initialized" };
    expect((await server.post(told)).status).toBe(202);
    expect((await server.post({ jsonrpc: "2.0", id: 1, result: {} })).status).toBe(202);
  });
});

/** fetch sets Host and Origin itself. */
function rawPost(server: TestServer, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const { port } = server;
    const options = { port, host: "127.0.0.1", path: "/mcp", method: "POST" };
    const sent = request({ ...options, headers: { ...plainHeaders, ...headers } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(requestOf("ping")));
  });
}
