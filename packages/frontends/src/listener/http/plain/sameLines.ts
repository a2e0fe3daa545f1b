/**
 * The lines of a head that came before on its connection: most clients send the same ones with every request, and where the
 * bytes are the same so is what they say. Only the length of a body is read anew.
 *
 * They hold the client's credential for as long as the connection does not rest, as HPACK's table of an HTTP/2 connection does
 * (RFC 7541 §2.3.2). No other connection sees them.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Presented } from "@gateway/core/port/authenticator.ts";
import type { Result } from "@gateway/core/result.ts";
import type { HttpRequest } from "../exchange.ts";
import { PlainRequest } from "./request.ts";

/** What is read of the lines. */
export interface ReadLines {
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turns, as sent. */
  readonly rawHeaders: readonly string[];
  readonly bodyBytes: number;
}

/** What a frontend found in lines, which is the same for all requests that came with them. Kept and read by that frontend alone. */
export class LinesMemo {
  /** Whether they can be read in one way only. */
  checked: Result<void, GatewayError> | undefined;
  /** Whom they show, of a request whose address shows nobody. */
  presented: Result<Presented, GatewayError> | undefined;
}

/** Undefined for a request whose lines are not kept. */
export function memoOf(request: HttpRequest): LinesMemo | undefined {
  return request instanceof PlainRequest ? request.memo : undefined;
}

const bytesMax = 2048;
const lengthLine = /^content-length: *\d+ *\r\n/im;
const [carriageReturn, blank, zero, nine] = [0x0d, 0x20, 0x30, 0x39];
const digitsMax = 9;

export class SameLines implements ReadLines {
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly bodyBytes: number;
  readonly memo = new LinesMemo();
  /** The bytes before a body's length and behind it, which is `undefined` where no length is said. */
  readonly #before: Uint8Array;
  readonly #after: Uint8Array | undefined;

  private constructor({ headers, rawHeaders, bodyBytes }: ReadLines, parts: readonly string[]) {
    // Many requests share them.
    this.headers = Object.freeze({ ...headers });
    this.rawHeaders = Object.freeze([...rawHeaders]);
    this.bodyBytes = bodyBytes;
    const [before = "", after] = parts;
    this.#before = Buffer.from(before, "latin1");
    this.#after = after === undefined ? undefined : Buffer.from(after, "latin1");
  }

  /** Of the lines in `text` from `from` on, with the empty one, which were read without a fault. Undefined for those that are not kept. */
  static of(text: string, from: number, read: ReadLines): SameLines | undefined {
    if (text.length - from > bytesMax) return undefined;
    const lines = text.slice(from);
    const length = read.headers["content-length"];
    if (length === undefined) return new SameLines(read, [lines]);
    const found = lengthLine.exec(lines);
    // A number that is written in another way is another text of the same length.
    if (found === null || String(read.bodyBytes) !== length) return undefined;
    const at = found.index + found[0].indexOf(length, "content-length:".length);
    return new SameLines(read, [lines.slice(0, at), lines.slice(at + length.length)]);
  }

  /** The place behind the empty line, or -1 where the bytes from `from` on are other lines. */
  endIn(bytes: Uint8Array, from: number): number {
    const at = behind(this.#before, bytes, from);
    if (at < 0 || this.#after === undefined) return at;
    return behind(this.#after, bytes, endOfDigits(bytes, at));
  }

  /** Of bytes that have these lines from `from` on: how many bytes their body has. */
  bodyBytesIn(bytes: Uint8Array, from: number): number {
    if (this.#after === undefined) return 0;
    let number = 0;
    for (let at = from + this.#before.length; bytes[at] !== carriageReturn; at += 1) {
      const byte = bytes[at] ?? blank;
      if (byte === blank) break;
      number = number * 10 + byte - zero;
    }
    return number;
  }

  /** The same with another length of a body. */
  withBody(bodyBytes: number): ReadLines {
    const length = String(bodyBytes);
    const headers = { ...this.headers, "content-length": length };
    const rawHeaders = this.rawHeaders.slice();
    for (let at = 0; at < rawHeaders.length; at += 2) {
      if (rawHeaders[at]?.toLowerCase() === "content-length") rawHeaders[at + 1] = length;
    }
    return { headers, rawHeaders, bodyBytes };
  }
}

/** The place behind a part that stands at `at`, or -1 where another text does. */
function behind(part: Uint8Array, bytes: Uint8Array, at: number): number {
  if (at < 0 || at + part.length > bytes.length) return -1;
  for (let index = 0; index < part.length; index += 1) {
    if (bytes[at + index] !== part[index]) return -1;
  }
  return at + part.length;
}

/** Where a number ends that is written as one usually is; -1 for none and for any other. */
function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at += 1;
  const digits = at - from;
  const isUsual = digits > 0 && digits <= digitsMax && (digits === 1 || bytes[from] !== zero);
  return isUsual ? at : -1;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine;
}
