/** Sockets and configs for the tests of this folder. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { openListener, type ListenerOptions, type OpenListener } from "../accept.ts";

/** A config on a free port of loopback with everything else at its default. */
export function configOf(more: Partial<ListenerConfig> = {}): ListenerConfig {
  return {
    enabled: true,
    host: "127.0.0.1",
    port: 0,
    maxConnections: 100,
    maxConnectionsPerAddress: 100,
    maxMessageBytes: 1 << 20,
    maxStatementBytes: 1 << 20,
    maxStatementTokens: 250_000,
    allowedHosts: [],
    allowCleartext: false,
    proxyProtocol: false,
    trustedProxies: [],
    ...more,
  };
}

/** An open listener on a virtual clock. */
export async function listenerOf(
  config: ListenerConfig,
  more: Partial<ListenerOptions> & Pick<ListenerOptions, "onConnection">,
) {
  const host = virtualHost(1);
  const opened = await openListener({ kind: "test", config, host, ...more });
  if (!opened.ok) throw new Error(opened.error.detail);
  return { listener: opened.value, host };
}

/** Ends a listener whatever is still connected. */
export function stop(listener: OpenListener): Promise<void> {
  return listener.drain(AbortSignal.abort());
}

/** A client socket that is connected. Errors end in "close". */
export async function clientOf(port: number, address = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: address });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Everything the server sends until it closes. */
export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
  return Buffer.concat(chunks).toString("latin1");
}
