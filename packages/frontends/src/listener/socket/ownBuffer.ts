/**
 * Has an accepted connection read into a buffer of its own. Node takes 64 KB anew for each read of a client, gives most of
 * it back, and plans a turn to see whether more is to be read (`docs/query-cost.md`). It can be told to leave that for
 * connections that it opens, but not for those that a server accepts: so the connection below the socket, which Node calls
 * its handle, gets a socket anew. Where a version of Node has no such handle the socket stays as it is.
 */
import { copied } from "@gateway/core/tool/copied.ts";
import { Heard } from "@gateway/core/tool/heard.ts";
import { Socket, type OnReadOpts, type SocketConstructorOpts } from "node:net";

/** As much as Node reads at once. All connections share it: what was read is copied out before anybody else reads. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024);

/** A socket, with the connection below it. */
interface Handled {
  _handle?: object | null;
}

/** The socket to read the connection from. `accepted` was accepted paused, and serves from here on for its server's counting alone. */
export function readingIntoOwn(accepted: Socket): Socket {
  const shell = accepted as Socket & Handled;
  const handle = shell._handle;
  // It was paused for us, and reads now as soon as somebody listens.
  if (handle === undefined || handle === null) return accepted.resume();
  shell._handle = null;
  const options: SocketConstructorOpts & { handle: object; onread: OnReadOpts } = {
    handle,
    readable: true,
    writable: true,
    onread: {
      buffer,
      callback: (count) => take(socket, copied(Buffer.allocUnsafe(count), buffer), heard),
    },
  };
  const socket = new Socket(options);
  const heard = new Heard<Buffer>(socket);
  socket.once("close", () => accepted.destroy());
  return socket;
}

/** As Node's own sockets tell `data`, and as they keep it while nobody listens. False: read no more until it is asked for. */
function take(socket: Socket, bytes: Buffer, heard: Heard<Buffer>): boolean {
  if (socket.readableFlowing !== true || socket.readableLength > 0) return socket.push(bytes);
  heard.tell(bytes);
  return true;
}
