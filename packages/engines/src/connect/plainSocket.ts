/**
 * A connection without TLS that reads into a buffer of its own. Node takes 64 KB anew for each read, gives most of it
 * back, and plans a turn to see whether more is to be read: near a tenth of a short query (`docs/query-cost.md`).
 */
import { Heard } from "@gateway/core/tool/heard.ts";
import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { lentBytes, ReadBuffer } from "./readBuffer.ts";

/** Behind so much of a large result the others have their turn: a server may write as fast as it is read. */
const turnBytesMax = 1024 * 1024;

const readings = new WeakMap<Duplex, ReadBuffer>();

/**
 * Connects. What comes is told by `data` as of any other socket, and waits in it while nobody listens. Large pieces are
 * lent: `core/tool/socket/lent.ts`.
 */
export function connectPlain(options: TcpNetConnectOpts): Socket {
  const reading = new ReadBuffer();
  let turnBytes = 0;
  const socket: Socket = connect({
    ...options,
    onread: {
      // Asked for each address that is tried, and behind each read.
      buffer: () => reading.free,
      callback: (count) => {
        const bytes = reading.take(count);
        if (socket.readableFlowing !== true || socket.readableLength > 0) return socket.push(bytes);
        heard.tell(bytes);
        if (count < lentBytes) return true;
        turnBytes += count;
        return turnBytes < turnBytesMax || waitsForOthers();
      },
    },
  });
  const heard = new Heard<Buffer>(socket);
  readings.set(socket, reading);
  socket.once("close", () => reading.close());
  return socket;

  /** Reads on with the next turn, unless it is stopped by then: whoever stops it lets it go on as well. */
  function waitsForOthers(): false {
    turnBytes = 0;
    setImmediate(() => {
      if (socket.readableFlowing === true) socket.resume();
    });
    return false;
  }
}

/** A large result of this connection is over. */
export function atRest(socket: Duplex): void {
  readings.get(socket)?.rest();
}
