import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { suiteHost } from "../rig/host.ts";
import { prepareServer } from "./nodeServer.ts";

const expecting =
  "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\nab";
const before = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";

let server: Server | undefined;
afterEach(() => server?.close());

async function listening(prepared: boolean): Promise<number> {
  const waiting: ServerResponse[] = [];
  server = createServer(({ method }, response) => {
    // The first is answered behind the second, which has its answer at once.
    if (method === "GET") return void waiting.push(response);
    response.end(Buffer.from(String(method)));
    for (const first of waiting) first.end("GET");
  });
  if (prepared) prepareServer(server, 1_000, suiteHost().clock);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function asked(port: number, request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(request);
  return await text(socket);
}

test("who asks to be told is told to continue", async () => {
  expect(await asked(await listening(true), expecting)).toMatch(
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nPOST$/,
  );
});

test("a request behind another one gets one whole answer", async () => {
  expect(await asked(await listening(true), before + expecting)).toMatch(
    /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nGETHTTP\/1\.1 200 OK\r\n((?!HTTP)[^])*\r\n\r\nPOST$/,
  );
});

test("Node alone puts it into that answer", async () => {
  expect(await asked(await listening(false), before + expecting)).toMatch(
    /GETHTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nHTTP\/1\.1 100 Continue\r\n\r\nPOST$/,
  );
});
