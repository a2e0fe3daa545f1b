/**
 * Bytes of a connection → whole packets, continuation joined.
 *
 * Holds at most about twice what arrived: a header that claims 16 MB reserves nothing, and a
 * payload over the limit is refused when its header is read. It knows no message; the order of
 * sequence numbers inside one payload is checked here, their start by the caller. Unusable after a
 * violation.
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

export type PacketStep = Packet | { readonly kind: "more" } | Violation;

const more = { kind: "more" } as const;

/** Cuts a stream of chunks into packets. Owned by one connection. */
export class PacketReader {
  /** Longest joined payload accepted from now on, in bytes. */
  payloadBytesMax: number;
  /** Of a longer command with a statement's text only the beginning is kept, which is longer than this. */
  textBytesMax = Number.POSITIVE_INFINITY;
  readonly #window = new ByteWindow();
  /** Finished parts of a payload that goes on in the next physical packet. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  /** What follows is thrown away: the payload's beginning says enough. */
  #skips = false;
  #first = 0;
  #last = 0;
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
    const window = this.#window;
    while (window.length >= packetHeaderBytes) {
      const length = window.u24(0);
      const sequence = window.byte(3);
      const refused = this.#refusal(length, sequence);
      if (refused !== undefined) return this.#break(refused);

      if (window.length < packetHeaderBytes + length) return more;
      window.start += packetHeaderBytes;
      const part = window.take(length);
      if (this.#parts.length === 0) this.#first = sequence;
      this.#last = sequence;
      if (!this.#skips) this.#parts.push(part);
      this.#partBytes += length;
      this.#skips = this.#partBytes > this.textBytesMax && holdsText(this.#parts[0]);
      if (length < packetBytesMax) return this.#joined();
    }
    return more;
  }

  /** Gives up what is not consumed, for a layer that takes over in the middle of a chunk (TLS, compression). */
  takeRest(): Uint8Array {
    const rest = this.#window.take(this.#window.length);
    this.#window.forget();
    return rest;
  }

  /** Nothing is read any more: what carries the packets is broken. */
  fail(refused: Violation): void {
    this.#break(refused);
  }

  #refusal(length: number, sequence: number): Violation | undefined {
    if (this.#partBytes + length > this.payloadBytesMax) {
      return violation("tooLarge", "payload over the limit");
    }
    if (this.#parts.length > 0 && sequence !== ((this.#last + 1) & 0xff)) {
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

  #joined(): Packet {
    const [only] = this.#parts;
    const payload = this.#parts.length === 1 && only !== undefined ? only : concat(this.#parts);
    this.#parts = [];
    this.#partBytes = 0;
    this.#skips = false;
    // An idle connection must not keep the memory of the last large message alive.
    if (this.#window.length === 0) this.#window.forget();
    return { kind: "packet", sequence: this.#first, lastSequence: this.#last, payload };
  }
}

/** COM_QUERY and COM_STMT_PREPARE. */
function holdsText(part: Uint8Array | undefined): boolean {
  const code = part?.[0];
  return code === commandCode.query || code === commandCode.stmtPrepare;
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
