/**
 * Whether a server of the family is there, for a gateway without an account at it: the greeting that a
 * server sends before any login.
 */
import type { Host } from "@gateway/core/port/host.ts";
import { packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import { reach, type Server } from "./login.ts";

/** The first byte of a greeting. A server that takes nobody sends an error instead (0xff). */
const protocolVersion = 10;

/** True when the server greets in time. */
export async function greets(
  server: Server,
  host: Pick<Host, "egress" | "clock">,
  signal: AbortSignal,
): Promise<boolean> {
  if (host.egress.refusesHost(server.host) || signal.aborted) return false;
  const socket = reach(server, host);
  const leave = (): void => void socket.destroy();
  using _limit = host.clock.timer(server.connectTimeoutMs, leave);
  signal.addEventListener("abort", leave, { once: true });
  let seen = Buffer.alloc(0);
  try {
    return await new Promise<boolean>((resolve) => {
      socket.on("close", () => resolve(false));
      socket.on("data", (bytes: Buffer) => {
        seen = Buffer.concat([seen, bytes]);
        const first = seen[packetHeaderBytes];
        if (first !== undefined) resolve(first === protocolVersion);
      });
    });
  } finally {
    signal.removeEventListener("abort", leave);
    socket.destroy();
  }
}
