/**
 * A connection without TLS that reads into a buffer of its own. Node takes 64 KB anew for each read, gives most of it
 * back, and plans a turn to see whether more is to be read: near a tenth of a short query (`docs/query-cost.md`).
 */
import { copied } from "@gateway/core/tool/copied.ts";
import { Heard } from "@gateway/core/tool/heard.ts";
import { connect, type Socket, type TcpNetConnectOpts } from "node:net";

/** As much as Node reads at once. */
const bufferBytes = 64 * 1024;
/** So much of the buffer is handed over as it is, and another one taken; less is copied out of it. */
const handedOverBytes = 32 * 1024;

/** Connects. What comes is told by `data` as of any other socket, and waits in it while nobody listens. */
export function connectPlain(options: TcpNetConnectOpts): Socket {
  let buffer = Buffer.allocUnsafeSlow(bufferBytes);
  const socket: Socket = connect({
    ...options,
    onread: {
      // Asked for each address that is tried, and behind each read.
      buffer: () => buffer,
      callback: (count) => {
        const bytes = piece(count);
        if (socket.readableFlowing !== true || socket.readableLength > 0) return socket.push(bytes);
        heard.tell(bytes);
        return true;
      },
    },
  });
  const heard = new Heard<Buffer>(socket);
  return socket;

  function piece(count: number): Buffer {
    if (count < handedOverBytes) return copied(Buffer.allocUnsafe(count), buffer);
    const filled = buffer.subarray(0, count);
    buffer = Buffer.allocUnsafeSlow(bufferBytes);
    return filled;
  }
}
