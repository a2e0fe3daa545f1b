/** The server's own cancel request: a connection of its own that names the other one by its key. */
import type { Socket } from "node:net";
import type { Host } from "@gateway/core/port/host.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import { writeCancelRequest } from "@gateway/wire/postgres/client.ts";
import type { Member } from "./member.ts";
import { reach } from "./reach.ts";

/**
 * Asks the server to end what the connection runs. Resolves once the server closed the request, which it does
 * after it has passed it on; false where it could not be asked. Never rejects.
 */
export async function requestCancel(
  { key, server }: Pick<Member, "key" | "server">,
  host: Pick<Host, "egress" | "clock">,
): Promise<boolean> {
  if (key === undefined) return false;
  let socket: Socket | undefined;
  using _limit = host.clock.timer(server.connectTimeoutMs, () => socket?.destroy());
  try {
    const { stream } = await reach(server, host, (made) => {
      socket = made;
    });
    const out = new ByteWriter();
    writeCancelRequest(out, key.process, key.secret);
    const closed = new Promise<void>((resolve) => {
      stream.once("close", resolve);
    });
    stream.on("end", () => stream.destroy());
    stream.write(out.take());
    stream.resume();
    await closed;
    return true;
  } catch {
    return false;
  } finally {
    socket?.destroy();
  }
}
