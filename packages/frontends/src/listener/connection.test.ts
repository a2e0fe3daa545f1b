import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { expect, it } from "vitest";
import { OwnedConnection } from "./connection.ts";
import { configOf } from "./rig/listener.ts";

it("says that a long piece has left when it has, however much its socket would take besides", async () => {
  const server = createServer({ highWaterMark: 1 << 30 }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await accepted) as [Socket];
  const owner = {
    host: virtualHost(1),
    config: configOf(),
    tls: undefined,
    draining: false,
    onIdle: () => undefined,
  };
  const connection = new OwnedConnection(socket, "127.0.0.1", owner);
  const piece = Buffer.alloc(40_000, "x");
  let leaving: Promise<void> | undefined;
  let sent = 0;
  // Until the client's system and ours hold as much as they do.
  while (leaving === undefined) {
    leaving = connection.send(piece);
    sent += piece.length;
    expect(leaving === undefined).toBe(socket.writableLength === 0);
  }
  let came = 0;
  client.on("data", ({ length }) => {
    came += length;
  });
  await leaving;
  expect(socket.writableLength).toBe(0);
  await expect.poll(() => came).toBe(sent);
  client.destroy();
  server.close();
});
