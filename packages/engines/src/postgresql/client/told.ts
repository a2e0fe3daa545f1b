/** What a server says of its own accord, as the session is told it that keeps the connection. */
import type { Frame } from "@gateway/wire/postgres/frame.ts";
import type { Member } from "./member.ts";

const notificationResponse = 0x41;

/**
 * A frame as it came; of a notification, the connection's own session is named by process 0, and one of another session
 * here by that session's number, which its client knows.
 */
export function toldOf(frame: Frame, { key, peers }: Pick<Member, "key" | "peers">): Uint8Array {
  const bytes = wholeOf(frame);
  const { type, body } = frame;
  if (type !== notificationResponse || body.length < 4) return bytes;
  const process = new DataView(body.buffer, body.byteOffset).getInt32(0);
  const own = process === key?.process;
  const told = own ? 0 : (peers?.get(process)?.session ?? process);
  bytes.writeInt32BE(told, 5);
  return bytes;
}

function wholeOf({ type, body }: Frame): Buffer {
  const bytes = Buffer.allocUnsafe(body.length + 5);
  bytes[0] = type;
  bytes.writeInt32BE(body.length + 4, 1);
  bytes.set(body, 5);
  return bytes;
}
