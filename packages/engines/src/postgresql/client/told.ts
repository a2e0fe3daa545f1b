/** What a server says of its own accord, as the session is told it that keeps the connection. */
import type { KeptListener } from "@gateway/core/query/pin.ts";
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

/** Most bytes that wait for whoever listens. */
const earlyBytesMax = 4 * 1024 * 1024;

/**
 * Keeps what is said of notifications from the end of a transaction that may have asked for them until its session
 * listens: the server may tell of them with the very answer to COMMIT.
 */
export class EarlyListener implements KeptListener {
  readonly #member: Member;
  #messages: Uint8Array[] = [];
  #bytes = 0;

  constructor(member: Member) {
    this.#member = member;
    member.hear(this);
  }

  message(bytes: Uint8Array): undefined {
    this.#messages.push(bytes);
    this.#bytes += bytes.length;
    // Its session is told that the connection ended, and not that nothing was said.
    if (this.#bytes > earlyBytesMax) this.#member.destroy();
  }

  /** The session is told of settings as they are then. */
  status(): void {}

  /** The next statement finds it closed. */
  over(): void {}

  /** What came so far. */
  take(): readonly Uint8Array[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }
}

function wholeOf({ type, body }: Frame): Buffer {
  const bytes = Buffer.allocUnsafe(body.length + 5);
  bytes[0] = type;
  bytes.writeInt32BE(body.length + 4, 1);
  bytes.set(body, 5);
  return bytes;
}
