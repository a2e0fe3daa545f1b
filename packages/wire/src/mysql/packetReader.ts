/**
 * Bytes of a connection → whole packets, continuation joined.
 *
 * Holds at most about twice what arrived: a header that claims 16 MB reserves nothing, and a
 * payload over the limit is refused when its header is read. It knows no message; the order of
 * sequence numbers inside one payload is checked here, their start by the caller. Unusable after a
 * violation.
 */
import { packetBytesMax, packetHeaderBytes, violation, type Violation } from "./protocol.ts";

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
const nothing = new Uint8Array(0);

/** Cuts a stream of chunks into packets. Owned by one connection. */
export class PacketReader {
  /** Longest joined payload accepted from now on, in bytes. */
  payloadBytesMax: number;
  /** The window not consumed yet is `#buffer[#start, #end)`. */
  #buffer: Uint8Array = nothing;
  #start = 0;
  #end = 0;
  /** True when `#buffer` is ours to append to; a chunk of the caller is only read. */
  #owned = false;
  /** Finished parts of a payload that goes on in the next physical packet. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #first = 0;
  #last = 0;
  #broken: Violation | undefined;

  constructor(payloadBytesMax: number) {
    this.payloadBytesMax = payloadBytesMax;
  }

  /** Bytes held that no packet has taken yet. */
  get bufferedBytes(): number {
    return this.#end - this.#start + this.#partBytes;
  }

  /** Adds what arrived. The chunk may be kept by reference and must not be changed afterwards. */
  push(chunk: Uint8Array): void {
    if (this.#broken !== undefined) return;
    if (this.#start === this.#end) {
      this.#buffer = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      this.#owned = false;
      return;
    }
    this.#makeRoom(chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The next packet, `more` when it has not arrived whole, or the violation that ends the connection. */
  next(): PacketStep {
    if (this.#broken !== undefined) return this.#broken;
    while (this.#end - this.#start >= packetHeaderBytes) {
      const [low = 0, middle = 0, high = 0, sequence = 0] = this.#buffer.subarray(
        this.#start,
        this.#start + packetHeaderBytes,
      );
      const length = low | (middle << 8) | (high << 16);
      const refused = this.#refusal(length, sequence);
      if (refused !== undefined) return this.#break(refused);

      const from = this.#start + packetHeaderBytes;
      if (from + length > this.#end) return more;
      const part = this.#buffer.subarray(from, from + length);
      this.#start = from + length;
      if (this.#parts.length === 0) this.#first = sequence;
      this.#last = sequence;
      if (length < packetBytesMax) return this.#join(part);
      this.#parts.push(part);
      this.#partBytes += length;
    }
    return more;
  }

  /** Gives up what is not consumed, for a TLS layer that takes over in the middle of a chunk. */
  takeRest(): Uint8Array {
    const rest = this.#buffer.subarray(this.#start, this.#end);
    this.#forget();
    return rest;
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
    this.#forget();
    this.#parts = [];
    this.#partBytes = 0;
    return refused;
  }

  #join(last: Uint8Array): Packet {
    const payload = this.#parts.length === 0 ? last : concat([...this.#parts, last]);
    this.#parts = [];
    this.#partBytes = 0;
    // An idle connection must not keep the memory of the last large message alive.
    if (this.#start === this.#end) this.#forget();
    return { kind: "packet", sequence: this.#first, lastSequence: this.#last, payload };
  }

  #forget(): void {
    this.#buffer = nothing;
    this.#start = 0;
    this.#end = 0;
    this.#owned = false;
  }

  /** Payloads given out are views below `#start`, so the buffer is appended to or replaced, never moved. */
  #makeRoom(bytes: number): void {
    if (this.#owned && this.#end + bytes <= this.#buffer.length) return;
    const pending = this.#buffer.subarray(this.#start, this.#end);
    const grown = new Uint8Array((pending.length + bytes) * 2);
    grown.set(pending);
    this.#buffer = grown;
    this.#start = 0;
    this.#end = pending.length;
    this.#owned = true;
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
