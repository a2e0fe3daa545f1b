import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import { expect, it } from "vitest";
import { certificateOf } from "../../rig/certificate.ts";
import { servePlain } from "./connection.ts";
import type { HttpRequest, HttpResponse } from "../exchange.ts";
import { longTimes } from "./rig/beside.ts";
import { PlainRequest } from "./request.ts";

it("reads what comes over TLS, and hands the connection over with all of its bytes", async () => {
  const { cert, key } = certificateOf("localhost");
  const seen: [boolean, string | undefined][] = [];
  const http = createHttpServer((request, response) => serve(request, response));
  const serve = (request: HttpRequest, response: HttpResponse): void => {
    seen.push([request instanceof PlainRequest, request.method]);
    request.resume();
    response.end(`${request.method} `);
  };
  const server = createServer({ cert, key }, (socket) => {
    socket.on("error", () => undefined);
    servePlain(socket, { clock: { unixMs: () => 0 }, server: http, ...longTimes, serve });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: "127.0.0.1", ca: cert, servername: "localhost" });
  await once(client, "secureConnect");
  const head = (method: string): string => `${method} / HTTP/1.1\r\nHost: a\r\n`;
  const asked = async (bytes: string, end: string): Promise<void> => {
    client.write(bytes);
    for (let text = ""; !text.endsWith(end);) {
      const [came] = (await once(client, "data")) as [Buffer];
      text += came.toString("latin1");
    }
  };
  await asked(`${head("GET")}\r\n`, "GET ");
  await asked(`${head("POST")}Content-Length: 3\r\n\r\nabc`, "POST ");
  const chunked = `${head("PUT")}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
  await asked(chunked, "PUT ");
  await asked(`${head("DELETE")}\r\n`, "DELETE ");
  expect(seen).toEqual([
    [true, "GET"],
    [true, "POST"],
    [false, "PUT"],
    [false, "DELETE"],
  ]);
  client.destroy();
  server.close();
  http.close();
  await once(server, "close");
});
