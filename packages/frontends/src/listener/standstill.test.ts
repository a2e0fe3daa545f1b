import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { suiteHost } from "../rig/host.ts";
import { forgiveStandstill } from "./standstill.ts";

const checkMs = 20;
const headersMs = 200;

let server: Server | undefined;
afterEach(() => server?.close());

/** Listens, and stands still between taking a connection and reading from it, as a machine that is moved does. */
async function listening(stands: boolean, forgives: boolean): Promise<number> {
  const limits = {
    headersTimeout: headersMs,
    requestTimeout: headersMs * 2,
    connectionsCheckingInterval: checkMs,
  };
  server = createServer(limits, (_request, response) => response.end("here"));
  if (forgives) forgiveStandstill(server, checkMs, suiteHost().clock);
  if (stands) {
    server.on("connection", () => {
      const endMs = performance.now() + headersMs * 3;
      while (performance.now() < endMs);
    });
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function asked(port: number, request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(request);
  return await text(socket);
}

const whole = "GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";

test("a request that came while the process stood still is answered", async () => {
  expect(await asked(await listening(true, true), whole)).toMatch(/^HTTP\/1\.1 200 /);
});

test("Node alone answers it with 408", async () => {
  expect(await asked(await listening(true, false), whole)).toMatch(/^HTTP\/1\.1 408 /);
});

test.each([false, true])("a request that never comes is cut, stood still: %s", async (stands) => {
  const said = await asked(await listening(stands, true), "GET / HTTP/1.1\r\nHost: he");
  expect(said).toMatch(/^HTTP\/1\.1 408 /);
});
