/**
 * The packets of one connection, as they are or compressed.
 *
 * A frame is opened only when the packets before it were taken. So a client that compresses takes no more
 * of our memory than another one: one frame's content at a time. It decides nothing about messages.
 */
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { FrameReader, frameBytesMin, frameHeader } from "@gateway/wire/mysql/compressed.ts";
import { PacketReader, type PacketStep } from "@gateway/wire/mysql/packetReader.ts";
import { violation, type Violation } from "@gateway/wire/mysql/protocol.ts";
import type { Connection } from "../listener/connection.ts";
import { shortMessageBytes } from "../listener/messageRoom.ts";
import { inlineBytes, type Codec } from "./compression.ts";
import { handshakeBytesMax } from "./limits.ts";

interface Compression {
  readonly codec: Codec;
  readonly frames: FrameReader;
  /** Number of our next frame. */
  sequence: number;
}

/** Most content of one frame of ours: a large row leaves in pieces. */
const contentBytesMax = 256 * 1024;

const badContent: Violation = violation("malformed", "compressed content is not what it says");

export class Channel {
  readonly #connection: Connection;
  readonly #packets = new PacketReader(handshakeBytesMax);
  #compression: Compression | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Bytes held that no packet has taken yet. */
  get bufferedBytes(): number {
    return this.#packets.bufferedBytes + (this.#compression?.frames.bufferedBytes ?? 0);
  }

  /** Adds what arrived. */
  push(chunk: Uint8Array): void {
    if (this.#compression === undefined) this.#packets.push(chunk);
    else this.#compression.frames.push(chunk);
  }

  /** The next packet. A promise while a large frame is being opened: ask again when it has resolved. */
  next(): PacketStep | Promise<void> {
    for (;;) {
      const step = this.#packets.next();
      const compression = this.#compression;
      if (step.kind !== "more" || compression === undefined) return step;
      const frame = compression.frames.next();
      if (frame.kind !== "frame") return frame;
      compression.sequence = (frame.sequence + 1) & 0xff;
      const { bytes, contentBytes } = frame;
      if (contentBytes === undefined) {
        this.#packets.push(bytes);
        continue;
      }
      if (contentBytes > inlineBytes) return this.#open(compression, bytes, contentBytes);
      const content = compression.codec.unpackNow(bytes, contentBytes);
      if (content === undefined) return badContent;
      this.#packets.push(content);
    }
  }

  /** The long text that is next may have so many bytes. */
  allowLong(bytesMax: number): void {
    this.#packets.allowLong(bytesMax);
  }

  /** The long text that is next is skipped. */
  skipLong(): void {
    this.#packets.skipLong();
  }

  /** Hands over what was not read, when TLS takes over. */
  takeRest(): Uint8Array {
    return this.#packets.takeRest();
  }

  /** The login is done: the client may send up to these sizes, compressed with `codec` if there is one. */
  admit({ maxMessageBytes, maxStatementBytes }: ListenerConfig, codec: Codec | undefined): void {
    this.#packets.payloadBytesMax = maxMessageBytes;
    this.#packets.textBytesMax = Math.min(maxStatementBytes, shortMessageBytes);
    if (codec === undefined || this.#compression !== undefined) return;
    const frames = new FrameReader();
    frames.push(this.#packets.takeRest());
    this.#compression = { codec, frames, sequence: 0 };
  }

  /**
   * Sends whole packets. Undefined when the bytes have left this process, otherwise a promise for that:
   * until then the buffer must not change.
   */
  send(bytes: Uint8Array): Promise<void> | undefined {
    const compression = this.#compression;
    if (compression === undefined) return this.#connection.send(bytes);
    if (bytes.length > inlineBytes) return this.#sendPacked(compression, bytes);
    const packed = bytes.length < frameBytesMin ? bytes : compression.codec.packNow(bytes);
    return this.#connection.send(frameOf(compression, bytes, packed));
  }

  async #sendPacked(compression: Compression, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += contentBytesMax) {
      const content = bytes.subarray(at, at + contentBytesMax);
      const packed =
        content.length < frameBytesMin ? content : await compression.codec.pack(content);
      await this.#connection.send(frameOf(compression, content, packed));
    }
  }

  async #open(compression: Compression, bytes: Uint8Array, contentBytes: number): Promise<void> {
    const content = await compression.codec.unpack(bytes, contentBytes);
    if (content === undefined) this.#packets.fail(badContent);
    else this.#packets.push(content);
  }
}

/** Content that does not get smaller is sent as it is. */
function frameOf(compression: Compression, content: Uint8Array, packed: Uint8Array): Uint8Array {
  const smaller = packed.length < content.length;
  const body = smaller ? packed : content;
  const header = frameHeader(body.length, compression.sequence, smaller ? content.length : 0);
  compression.sequence = (compression.sequence + 1) & 0xff;
  compression.frames.expect(compression.sequence);
  return Buffer.concat([header, body]);
}
