import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createPlain, type RequestListener, type Server } from "node:http";
import { createServer as createSecure } from "node:https";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { afterAll, describe, expect, it } from "vitest";
import { httpTransport, type HttpOptions } from "./httpTransport.ts";
import type { WireRequest } from "./transport.ts";

const folder = mkdtempSync(join(tmpdir(), "worker-transport-"));
afterAll(() => rmSync(folder, { recursive: true }));

const authority = certificateOf("authority");
const leaf = certificateOf("localhost", authority);
const { signal } = new AbortController();

describe("httpTransport", () => {
  it("believes the authority of its CA file and no other", async () => {
    await using server = await listening(createSecure(leaf, answerWith("hello")));
    await using ours = transportOf({ caFile: fileOf("ca.pem", authority.cert) });
    await using others = transportOf({ caFile: fileOf("other.pem", certificateOf("other").cert) });
    const answer = await ours.send(requestOf(`https://localhost:${server.port}/`), signal);
    expect(answer).toMatchObject({ ok: true, value: { status: 200 } });
    expect(answer.ok && Buffer.from(answer.value.body).toString()).toBe("hello");
    const refused = await others.send(requestOf(`https://localhost:${server.port}/`), signal);
    expect(refused).toMatchObject({ ok: false, error: { code: "unreachable" } });
  });

  it("says that a CA file can not be read, and that a proxy is no URL", () => {
    expect(httpTransport({ caFile: join(folder, "none.pem") })).toEqual({
      ok: false,
      error: "caFile: can not be read (ENOENT)",
    });
    expect(httpTransport({ proxy: "proxy:3128" }).ok).toBe(false);
  });

  it("does not follow a redirect, so the secret stays where it was sent", async () => {
    let asked = 0;
    const redirect: RequestListener = (_request, response) => {
      asked += 1;
      response.writeHead(307, { location: "/elsewhere" }).end();
    };
    await using server = await listening(createPlain(redirect));
    await using transport = transportOf({});
    const answer = await transport.send(requestOf(`http://127.0.0.1:${server.port}/`), signal);
    expect(answer).toMatchObject({ ok: true, value: { status: 307 } });
    expect(asked).toBe(1);
  });

  it("reads no more than allowed", async () => {
    await using server = await listening(createPlain(answerWith("x".repeat(100_000))));
    await using transport = transportOf({});
    const wanted = { ...requestOf(`http://127.0.0.1:${server.port}/`), bytesMax: 99_999 };
    expect(await transport.send(wanted, signal)).toEqual({
      ok: false,
      error: { code: "tooLarge" },
    });
    expect((await transport.send({ ...wanted, bytesMax: 100_000 }, signal)).ok).toBe(true);
  });

  it("stops when it is told to, before and during the answer", async () => {
    const half: RequestListener = (_request, response) => {
      response.write("half");
    };
    await using server = await listening(createPlain(half));
    await using transport = transportOf({});
    const stop = new AbortController();
    const sent = transport.send(requestOf(`http://127.0.0.1:${server.port}/`), stop.signal);
    stop.abort();
    expect(await sent).toEqual({ ok: false, error: { code: "stopped" } });
  });

  it("tells an answer that was cut from one that is complete", async () => {
    const cut: RequestListener = (_request, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("12345", () => response.destroy());
    };
    await using server = await listening(createPlain(cut));
    await using transport = transportOf({});
    const answer = await transport.send(requestOf(`http://127.0.0.1:${server.port}/`), signal);
    expect(answer).toMatchObject({ ok: false, error: { code: "unreachable" } });
  });

  it("says a code and no text when nobody listens", async () => {
    const server = await listening(createPlain());
    await server[Symbol.asyncDispose]();
    await using transport = transportOf({});
    expect(await transport.send(requestOf(`http://127.0.0.1:${server.port}/`), signal)).toEqual({
      ok: false,
      error: { code: "unreachable", detail: "ECONNREFUSED" },
    });
  });

  it("goes through a proxy with TLS to the end, so that the proxy reads nothing", async () => {
    await using server = await listening(createSecure(leaf, answerWith("through")));
    const asked: string[] = [];
    const proxy = createPlain();
    proxy.on("connect", (request, client) => {
      asked.push(request.url ?? "");
      const upstream = connect(server.port, "127.0.0.1", () => {
        client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on("error", () => client.destroy());
      client.on("error", () => upstream.destroy());
    });
    await using proxyServer = await listening(proxy);
    await using transport = transportOf({
      caFile: fileOf("ca.pem", authority.cert),
      proxy: `http://127.0.0.1:${proxyServer.port}`,
    });
    const answer = await transport.send(requestOf(`https://localhost:${server.port}/`), signal);
    expect(answer.ok && Buffer.from(answer.value.body).toString()).toBe("through");
    expect(asked).toEqual([`localhost:${server.port}`]);
  });
});

async function listening(server: Server) {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function transportOf(options: HttpOptions) {
  const opened = httpTransport(options);
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

function answerWith(text: string): RequestListener {
  return (_request, response) => {
    response.end(text);
  };
}

function requestOf(url: string): WireRequest {
  return { method: "GET", url, headers: {}, bytesMax: 1_000_000 };
}

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
