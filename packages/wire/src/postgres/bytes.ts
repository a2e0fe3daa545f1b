/**
 * A growing buffer for outgoing bytes, and a cursor over the body of one incoming message.
 *
 * Neither knows a message. The cursor never throws: reading past the end, or text that is none, sets a
 * flag that stays. The reader checks it once, at the end.
 */

import { repeatedText } from "../text.ts";
import type { Charset } from "./charset/charset.ts";

const encoder = new TextEncoder();

const none = new Uint8Array(0);
/** UTF-16 units. */
const shortText = 200;
/** First allocation: most answers to a short query fit. */
const firstBytes = 512;

/**
 * Memory that several writers begin their messages in, one at a time, and copy them out of once their length is known:
 * room for what a message may have is six times what most have. A writer that is done for good takes what it wrote.
 */
export class Scratch {
  readonly allocate: (bytes: number) => Uint8Array;
  #bytes: Uint8Array | undefined;
  #lent = false;

  /** `allocate` may give uninitialised memory. */
  constructor(allocate: (bytes: number) => Uint8Array) {
    this.allocate = allocate;
  }

  /** Undefined where it is lent, or has less. */
  lend(bytes: number): Uint8Array | undefined {
    if (this.#lent || bytes > scratchBytes) return undefined;
    this.#lent = true;
    return (this.#bytes ??= this.allocate(scratchBytes));
  }

  /** True where it was this memory, which is free then. */
  takeBack(bytes: Uint8Array): boolean {
    if (bytes !== this.#bytes) return false;
    this.#lent = false;
    return true;
  }
}

const scratchBytes = 4_096;
/** Below it a loop takes less than the view that a copy needs. */
const fewBytes = 256;

/**
 * Outgoing bytes. Memory may be uninitialised: only written bytes leave `take`.
 *
 * The owner of a hot loop calls `room(n)`, writes into `buffer` from `length` on and sets `length`.
 */
export class ByteWriter {
  buffer: Uint8Array = none;
  length = 0;
  /** Of the texts; undefined for UTF-8. */
  charset: Charset | undefined;
  readonly #scratch: Scratch | undefined;

  /** Without a scratch it begins in memory of its own. */
  constructor(scratch?: Scratch) {
    this.#scratch = scratch;
  }

  /** Makes sure that `bytes` more fit behind `length`. `buffer` may be another object afterwards. */
  room(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.buffer.length) return;
    const old = this.buffer;
    const lent = old === none ? this.#scratch?.lend(needed) : undefined;
    this.buffer = lent ?? this.#allocate(Math.max(needed, old.length * 2, firstBytes));
    if (this.length > 0) this.buffer.set(old.subarray(0, this.length));
    this.#scratch?.takeBack(old);
  }

  /** Before a wait in the middle of its bytes: others may begin in the scratch meanwhile. */
  leaveScratch(): void {
    const { buffer, length } = this;
    if (buffer === none || this.#scratch?.takeBack(buffer) !== true) return;
    this.buffer = this.#allocate(Math.max(length, firstBytes));
    this.buffer.set(buffer.subarray(0, length));
  }

  #allocate(bytes: number): Uint8Array {
    return this.#scratch === undefined ? new Uint8Array(bytes) : this.#scratch.allocate(bytes);
  }

  u8(value: number): void {
    this.room(1);
    this.buffer[this.length] = value;
    this.length += 1;
  }

  i16(value: number): void {
    this.room(2);
    this.length = putInt16(this.buffer, this.length, value);
  }

  i32(value: number): void {
    this.room(4);
    this.length = putInt32(this.buffer, this.length, value);
  }

  bytes(value: Uint8Array): void {
    this.room(value.length);
    this.buffer.set(value, this.length);
    this.length += value.length;
  }

  /**
   * A text with its terminator. A NUL inside would end it early and desynchronise the client: it is left out. A
   * character that the reader's set does not have becomes a question mark: whose text must arrive as it is asks before.
   */
  text(value: string): void {
    if (value.length <= shortText && this.#ascii(value)) return;
    const clean = value.includes("\0") ? value.replaceAll("\0", "") : value;
    if (this.charset !== undefined) {
      this.bytes(nearest(clean, this.charset));
      return this.u8(0);
    }
    this.room(clean.length * 3 + 1);
    const { written } = encoder.encodeInto(clean, this.buffer.subarray(this.length));
    this.length += written;
    this.buffer[this.length] = 0;
    this.length += 1;
  }

  /** Several texts as one. Joined before they would be a tree, which is made flat to be read. */
  texts(before: readonly string[], last: string): void {
    for (const part of before) {
      this.text(part);
      // Its terminator.
      this.length -= 1;
    }
    this.text(last);
  }

  /** Most texts are short and ASCII: an encoder costs more to reach than they do to write. False: nothing was written. */
  #ascii(value: string): boolean {
    const { length } = value;
    this.room(length + 1);
    const { buffer } = this;
    let at = this.length;
    for (let index = 0; index < length; index += 1) {
      const code = value.charCodeAt(index);
      if (code === 0 || code > 0x7f) return false;
      buffer[at] = code;
      at += 1;
    }
    buffer[at] = 0;
    this.length = at + 1;
    return true;
  }

  /** Opens a message of `type`; `end` with the returned offset sets its length. */
  begin(type: number): number {
    this.room(5);
    this.buffer[this.length] = type;
    const start = this.length + 1;
    this.length += 5;
    return start;
  }

  /** Closes the message opened at `start`. */
  end(start: number): void {
    putInt32(this.buffer, start, this.length - start);
  }

  /** Everything written so far. The writer starts anew and keeps nothing of it. */
  take(): Uint8Array {
    const { buffer, length } = this;
    this.buffer = none;
    this.length = 0;
    if (this.#scratch?.takeBack(buffer) !== true) return buffer.subarray(0, length);
    const taken = this.#allocate(length);
    if (length > fewBytes) taken.set(buffer.subarray(0, length));
    else for (let at = 0; at < length; at += 1) taken[at] = buffer[at] ?? 0;
    return taken;
  }
}

function nearest(text: string, charset: Charset): Uint8Array {
  const whole = charset.encode(text);
  if (whole !== undefined) return whole;
  const chars = Array.from(text, (char) => (charset.encode(char) === undefined ? "?" : char));
  return charset.encode(chars.join("")) ?? none;
}

/** Writes a big-endian 16-bit integer and returns the offset behind it. Room must be there. */
export function putInt16(out: Uint8Array, at: number, value: number): number {
  out[at] = value >> 8;
  out[at + 1] = value;
  return at + 2;
}

/** Writes a big-endian 32-bit integer and returns the offset behind it. Room must be there. */
export function putInt32(out: Uint8Array, at: number, value: number): number {
  out[at] = value >> 24;
  out[at + 1] = value >> 16;
  out[at + 2] = value >> 8;
  out[at + 3] = value;
  return at + 4;
}

/** Reads a big-endian 32-bit integer. The four bytes must be there. */
export function getInt32(from: Uint8Array, at: number): number {
  const high = ((from[at] ?? 0) << 24) | ((from[at + 1] ?? 0) << 16);
  return high | ((from[at + 2] ?? 0) << 8) | (from[at + 3] ?? 0);
}

/** Undefined for bytes that are no text. */
type ReadText = (bytes: Uint8Array) => string | undefined;

/** Reads the body of one message from its first byte to its last. */
export class BodyReader {
  readonly #body: Uint8Array;
  readonly #read: ReadText;
  #at = 0;
  #short = false;
  #badText = false;

  /** `read`: how its texts are read where they are not UTF-8. */
  constructor(body: Uint8Array, read: ReadText = repeatedText) {
    this.#body = body;
    this.#read = read;
  }

  /** `short`: something was missing or something is left over. `text`: all there, but none of the character set. */
  verdict(): "ok" | "short" | "text" {
    if (this.#short || this.#at !== this.#body.length) return "short";
    return this.#badText ? "text" : "ok";
  }

  /** Bytes not read yet; 0 once something was missing. */
  get left(): number {
    return this.#short ? 0 : this.#body.length - this.#at;
  }

  u8(): number {
    return this.#take(1) ? (this.#body[this.#at - 1] ?? 0) : 0;
  }

  u16(): number {
    if (!this.#take(2)) return 0;
    return ((this.#body[this.#at - 2] ?? 0) << 8) | (this.#body[this.#at - 1] ?? 0);
  }

  i32(): number {
    return this.#take(4) ? getInt32(this.#body, this.#at - 4) : 0;
  }

  /** A view of the next `length` bytes; empty when they are not there or the length is negative. */
  view(length: number): Uint8Array {
    if (!this.#take(length)) return none;
    return this.#body.subarray(this.#at - length, this.#at);
  }

  /** A view of everything that is left. */
  rest(): Uint8Array {
    return this.view(this.left);
  }

  /** Text up to its terminator. */
  text(): string {
    if (this.#short) return "";
    const end = this.#body.indexOf(0, this.#at);
    if (end < 0) {
      this.#short = true;
      return "";
    }
    const bytes = this.#body.subarray(this.#at, end);
    this.#at = end + 1;
    const text = this.#read(bytes);
    if (text === undefined) this.#badText = true;
    return text ?? "";
  }

  #take(length: number): boolean {
    if (this.#short || length < 0 || length > this.#body.length - this.#at) {
      this.#short = true;
      return false;
    }
    this.#at += length;
    return true;
  }
}
