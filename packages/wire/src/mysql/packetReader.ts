/**
 * Bytes of a connection → whole packets, continuation joined.
 *
 * Holds at most about twice what arrived: a header that claims 16 MB reserves nothing, and a payload over
 * the limit is refused when its header is read. It knows no message. It checks that sequence numbers inside
 * one payload follow each other; the caller checks the first. Unusable after a violation.
 */
import { ByteWindow } from "./byteWindow.ts";
import {
  commandCode,
  packetBytesMax,
  packetHeaderBytes,
  violation,
  type Violation,
} from "./protocol.ts";

/** One reassembled payload. `payload` may be a view of the chunk it came in. */
export interface Packet {
  readonly kind: "packet";
  /** Of the first physical packet. */
  readonly sequence: number;
  /** Of the last physical packet; the answer continues from it. */
  readonly lastSequence: number;
  readonly payload: Uint8Array;
}

/** A command with a text over the limit of texts, whose bytes were skipped. */
export interface SkippedPacket {
  readonly kind: "skipped";
  readonly sequence: number;
  readonly lastSequence: number;
}

/**
 * A command with a text over the limit of texts, of which nothing was taken. The reader goes on behind `allowLong` or
 * `skipLong`.
 */
export interface LongPacket {
  readonly kind: "long";
  /** Of the text, as far as it is known. */
  readonly bytes: number;
  /** False where more of it follows in another packet. */
  readonly whole: boolean;
}

export type PacketStep =
  | Packet
  | SkippedPacket
  | LongPacket
  | { readonly kind: "more" }
  | Violation;

/** Commands whose body is a text. */
const textCommands: ReadonlySet<number> = new Set([
  commandCode.initDb,
  commandCode.query,
  commandCode.fieldList,
  commandCode.stmtPrepare,
]);

const more = { kind: "more" } as const;

/** Cuts a stream of chunks into packets. Owned by one connection. */
export class PacketReader {
  /** Longest joined payload accepted from now on, in bytes. */
  payloadBytesMax: number;
  /** Longest text of a command that is taken without a word: for a longer one somebody decides. */
  textBytesMax = Number.POSITIVE_INFINITY;
  /** What was allowed for the text of the current payload. */
  #allowedBytes = 0;
  readonly #window = new ByteWindow();
  /** Finished parts of a payload that goes on in the next physical packet. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #first = 0;
  #last = 0;
  /** The current payload is skipped. */
  #skips = false;
  /** Bytes of its physical packet that are still to come. */
  #passing: { left: number; readonly last: boolean } | undefined;
  #broken: Violation | undefined;

  constructor(payloadBytesMax: number) {
    this.payloadBytesMax = payloadBytesMax;
  }

  /** Bytes held that no packet has taken yet. */
  get bufferedBytes(): number {
    return this.#window.length + this.#partBytes;
  }

  /** Adds what arrived. The chunk may be kept by reference and must not be changed afterwards. */
  push(chunk: Uint8Array): void {
    if (this.#broken === undefined) this.#window.push(chunk);
  }

  /** The next packet, `more` when it has not arrived whole, or the violation that ends the connection. */
  next(): PacketStep {
    if (this.#broken !== undefined) return this.#broken;
    for (;;) {
      const step = this.#passing === undefined ? this.#begin() : this.#pass(this.#passing);
      if (step !== undefined) return step;
    }
  }

  /** The packet whose header is next; undefined when it was a part of a payload, or is skipped. */
  #begin(): PacketStep | undefined {
    const window = this.#window;
    if (window.length < packetHeaderBytes) return more;
    const length = window.u24(0);
    const sequence = window.byte(3);
    const refused = this.#refusal(length, sequence);
    if (refused !== undefined) return this.#break(refused);
    const bytesMax = Math.max(this.textBytesMax, this.#allowedBytes);
    const long = this.#skips || this.#partBytes + length > bytesMax + 1;
    // The byte behind the header names the command.
    if (long && this.#partBytes === 0 && window.length === packetHeaderBytes) return more;
    const skips = this.#skips;
    if (long && !skips && this.#isText()) {
      const bytes = this.#partBytes + length - 1;
      return { kind: "long", bytes, whole: length < packetBytesMax };
    }
    if (!skips && window.length < packetHeaderBytes + length) {
      window.wanted = packetHeaderBytes + length;
      return more;
    }

    window.start += packetHeaderBytes;
    if (this.#partBytes === 0) this.#first = sequence;
    this.#last = sequence;
    if (skips) {
      this.#parts = [];
      this.#partBytes += length;
      this.#passing = { left: length, last: length < packetBytesMax };
      return undefined;
    }
    const part = window.take(length);
    if (length < packetBytesMax) return this.#join(part);
    this.#parts.push(part);
    this.#partBytes += length;
    return undefined;
  }

  /** The text that is next may have so many bytes. */
  allowLong(bytesMax: number): void {
    this.#allowedBytes = bytesMax;
  }

  /** The text that is next is skipped, and the stream goes on behind it. */
  skipLong(): void {
    this.#skips = true;
  }

  /** Whether the current payload is a command that consists of text. */
  #isText(): boolean {
    const command = this.#parts[0]?.[0] ?? this.#window.byte(packetHeaderBytes);
    return textCommands.has(command);
  }

  /** Drops what has arrived of a skipped packet. */
  #pass(passing: { left: number; readonly last: boolean }): PacketStep | undefined {
    const window = this.#window;
    const count = Math.min(passing.left, window.length);
    window.start += count;
    passing.left -= count;
    if (window.length === 0) window.forget();
    if (passing.left > 0) return more;
    this.#passing = undefined;
    if (!passing.last) return undefined;
    this.#skips = false;
    this.#allowedBytes = 0;
    this.#partBytes = 0;
    return { kind: "skipped", sequence: this.#first, lastSequence: this.#last };
  }

  /** Hands over what was not consumed, for a layer that takes over in the middle of a chunk (TLS, compression). */
  takeRest(): Uint8Array {
    const rest = this.#window.take(this.#window.length);
    this.#window.forget();
    return rest;
  }

  /** Stops reading for good, because the layer below is broken. */
  fail(refused: Violation): void {
    this.#break(refused);
  }

  #refusal(length: number, sequence: number): Violation | undefined {
    if (this.#partBytes + length > this.payloadBytesMax) {
      return violation("tooLarge", "payload over the limit");
    }
    if (this.#partBytes > 0 && sequence !== ((this.#last + 1) & 0xff)) {
      return violation("outOfOrder", "continuation packet out of order");
    }
    return undefined;
  }

  #break(refused: Violation): Violation {
    this.#broken = refused;
    this.#window.forget();
    this.#parts = [];
    this.#partBytes = 0;
    return refused;
  }

  #join(last: Uint8Array): Packet {
    let payload = last;
    if (this.#parts.length > 0) {
      payload = concat([...this.#parts, last]);
      this.#parts = [];
    }
    this.#partBytes = 0;
    this.#allowedBytes = 0;
    // An idle connection must not keep the memory of the last large message alive.
    if (this.#window.length === 0) this.#window.forget();
    return { kind: "packet", sequence: this.#first, lastSequence: this.#last, payload };
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
