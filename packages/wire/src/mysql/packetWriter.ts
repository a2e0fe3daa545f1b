/**
 * Payloads → bytes to send: one growing buffer that many packets are written into.
 *
 * It makes room before it puts bytes, patches lengths when a packet ends, and cuts a payload of 16 MB and
 * more into continuation packets in place. It has no limit of its own: the caller knows the size of what it
 * writes.
 */
import { packetBytesMax, packetHeaderBytes } from "./protocol.ts";

/** Size of the first buffer: most answers are a few hundred bytes. */
const startBytes = 512;
/** Texts up to this length are put character by character, which for ASCII costs less than a call of the encoder. */
const shortText = 64;

const encoder = new TextEncoder();

/** Bytes a length-encoded integer takes. */
export function lenencBytes(value: number): 1 | 3 | 4 | 9 {
  if (value < 251) return 1;
  if (value < 0x1_0000) return 3;
  return value < 0x100_0000 ? 4 : 9;
}

/** Puts a length-encoded integer at `at`, in `lenencBytes(value)` bytes; returns the offset behind it. */
export function putLenenc(out: Uint8Array, at: number, value: number): number {
  if (value < 251) {
    out[at] = value;
    return at + 1;
  }
  const bytes = lenencBytes(value);
  out[at] = bytes === 3 ? 0xfc : bytes === 4 ? 0xfd : 0xfe;
  let left = value;
  for (let index = 1; index < bytes; index += 1) {
    out[at + index] = left % 256;
    left = Math.floor(left / 256);
  }
  return at + bytes;
}

/**
 * Puts a short text of ASCII at `at`, where there is room for it; returns the offset behind it, or -1
 * when another character came: then what was put means nothing.
 */
function putShortAscii(out: Uint8Array, at: number, value: string): number {
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code > 127) return -1;
    out[at + index] = code;
  }
  return at + value.length;
}

/** Writes packets with consecutive sequence numbers. Owned by one connection. */
export class PacketWriter {
  /** The buffer; hot loops write into it directly after `reserve`. Replaced when it grows. */
  bytes: Uint8Array = new Uint8Array(0);
  /** Offset of the next byte. */
  at = 0;
  /** Sequence number of the next packet, 0 to 255. */
  sequence = 0;
  #start = 0;

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.at + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2, startBytes));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
  }

  /** Starts a packet. */
  begin(): void {
    this.reserve(packetHeaderBytes);
    this.#start = this.at;
    this.at += packetHeaderBytes;
  }

  /** Ends the packet that was begun: writes its header, or several. */
  end(): void {
    const payload = this.at - this.#start - packetHeaderBytes;
    if (payload >= packetBytesMax) {
      this.#cut(payload);
      return;
    }
    this.#header(this.#start, payload);
  }

  /** Removes the packet that was begun and not ended. */
  discard(): void {
    this.at = this.#start;
  }

  u8(value: number): void {
    this.reserve(1);
    this.bytes[this.at] = value;
    this.at += 1;
  }

  u16(value: number): void {
    this.reserve(2);
    this.bytes[this.at] = value;
    this.bytes[this.at + 1] = value >> 8;
    this.at += 2;
  }

  u32(value: number): void {
    this.u16(value);
    this.u16(value >>> 16);
  }

  lenenc(value: number): void {
    this.reserve(9);
    this.at = putLenenc(this.bytes, this.at, value);
  }

  /** The same for what may need all 64 bits. */
  lenencBig(value: bigint): void {
    if (value <= Number.MAX_SAFE_INTEGER) return this.lenenc(Number(value));
    this.u8(0xfe);
    this.u32(Number(value & 0xffff_ffffn));
    this.u32(Number((value >> 32n) & 0xffff_ffffn));
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  zeros(count: number): void {
    this.reserve(count);
    this.bytes.fill(0, this.at, this.at + count);
    this.at += count;
  }

  /** UTF-8 without a length, as the last field of a packet. */
  text(value: string): void {
    if (value.length <= shortText) {
      this.reserve(value.length);
      const end = putShortAscii(this.bytes, this.at, value);
      if (end >= 0) {
        this.at = end;
        return;
      }
    }
    this.raw(encoder.encode(value));
  }

  /** UTF-8 and a NUL. A NUL inside would end the field early for the reader, so it is left out. */
  nulText(value: string): void {
    this.text(value.includes("\0") ? value.replaceAll("\0", "") : value);
    this.u8(0);
  }

  lenencText(value: string): void {
    if (value.length <= shortText) {
      this.reserve(value.length + 1);
      const end = putShortAscii(this.bytes, this.at + 1, value);
      if (end >= 0) {
        this.bytes[this.at] = value.length;
        this.at = end;
        return;
      }
    }
    const bytes = encoder.encode(value);
    this.lenenc(bytes.length);
    this.raw(bytes);
  }

  /** Everything written so far, as a view that stays valid until `reset`. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.at);
  }

  /** Forgets what was written and keeps the buffer for the next answer when it is at most `keepBytes`. */
  reset(keepBytes: number): void {
    this.at = 0;
    if (this.bytes.length > keepBytes) this.bytes = new Uint8Array(0);
  }

  /** Gives the written bytes away: they are no longer touched, and the next write takes a new buffer. */
  release(): Uint8Array {
    const taken = this.written();
    this.bytes = new Uint8Array(0);
    this.at = 0;
    return taken;
  }

  #header(at: number, length: number): void {
    this.bytes[at] = length;
    this.bytes[at + 1] = length >> 8;
    this.bytes[at + 2] = length >> 16;
    this.bytes[at + 3] = this.sequence;
    this.sequence = (this.sequence + 1) & 0xff;
  }

  /** Opens a gap for each further header, from the last part to the first, then writes the headers. */
  #cut(payload: number): void {
    const further = Math.floor(payload / packetBytesMax);
    this.reserve(further * packetHeaderBytes);
    const body = this.#start + packetHeaderBytes;
    for (let part = further; part > 0; part -= 1) {
      const from = body + part * packetBytesMax;
      const to = Math.min(from + packetBytesMax, body + payload);
      this.bytes.copyWithin(from + part * packetHeaderBytes, from, to);
    }
    for (let part = 0; part <= further; part += 1) {
      const length = Math.min(packetBytesMax, payload - part * packetBytesMax);
      this.#header(this.#start + part * (packetBytesMax + packetHeaderBytes), length);
    }
    this.at += further * packetHeaderBytes;
  }
}
