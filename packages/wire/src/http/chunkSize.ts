/**
 * The line before a chunk (RFC 9112 §7.1): its size, and extensions, which are checked and dropped. Space around
 * them is refused: no sender may write it, and readers disagree about it.
 */

/** Larger ones are no sizes: the number stays exact. */
const sizeMax = 2 ** 48;
const digitsMax = 16;

/** Where in the line the reader is. */
type Place =
  | "start"
  | "digits"
  | "nameStart"
  | "name"
  | "valueStart"
  | "value"
  | "quoted"
  | "escaped"
  | "quotedEnd"
  | "lineFeed";

const token: ReadonlySet<number> = new Set(
  Array.from(
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    (character) => character.charCodeAt(0),
  ),
);
const char = { semicolon: 0x3b, equals: 0x3d, quote: 0x22, backslash: 0x5c, cr: 0x0d, lf: 0x0a };

export class ChunkSize {
  readonly #extensionBytesMax: number;
  #extensionBytes = 0;
  #place: Place = "start";
  #digits = 0;
  #size = 0;

  /** `extensionBytesMax`: of all chunks of one body together. */
  constructor(extensionBytesMax: number) {
    this.#extensionBytesMax = extensionBytesMax;
  }

  /** Of the line that was last read whole; 0 for the last chunk. */
  get size(): number {
    return this.#size;
  }

  /** Before the first chunk of a body. */
  begin(): void {
    this.#extensionBytes = 0;
    this.#place = "start";
  }

  /** Reads on at `start`. Answers the place behind the line, `more` when it has not come whole, or `bad`. */
  take(bytes: Uint8Array, start: number): number | "more" | "bad" {
    for (let at = start; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#place === "lineFeed") {
        this.#place = "start";
        return byte === char.lf ? at + 1 : "bad";
      }
      const digit = this.#place === "start" || this.#place === "digits" ? digitOf(byte) : -1;
      if (digit >= 0) {
        if (!this.#count(digit)) return "bad";
        continue;
      }
      const next = nextOf(this.#place, byte);
      if (next === undefined) return "bad";
      this.#place = next;
      if (next === "lineFeed") continue;
      this.#extensionBytes += 1;
      if (this.#extensionBytes > this.#extensionBytesMax) return "bad";
    }
    return "more";
  }

  #count(digit: number): boolean {
    if (this.#place === "start") {
      this.#place = "digits";
      this.#digits = 0;
      this.#size = 0;
    }
    this.#digits += 1;
    this.#size = this.#size * 16 + digit;
    return this.#digits <= digitsMax && this.#size <= sizeMax;
  }
}

/** The place behind a byte that is no digit of the size; undefined when it may not stand there. */
function nextOf(place: Place, byte: number): Place | undefined {
  switch (place) {
    case "start":
    case "lineFeed":
      return undefined;
    case "nameStart":
      return token.has(byte) ? "name" : undefined;
    case "name":
      if (byte === char.equals) return "valueStart";
      return token.has(byte) ? "name" : behind(byte);
    case "valueStart":
      if (byte === char.quote) return "quoted";
      return token.has(byte) ? "value" : undefined;
    case "value":
      return token.has(byte) ? "value" : behind(byte);
    case "quoted":
      if (byte === char.quote) return "quotedEnd";
      if (byte === char.backslash) return "escaped";
      return isText(byte) ? "quoted" : undefined;
    case "escaped":
      return isText(byte) ? "quoted" : undefined;
    case "digits":
    case "quotedEnd":
      return behind(byte);
  }
}

function behind(byte: number): Place | undefined {
  if (byte === char.semicolon) return "nameStart";
  return byte === char.cr ? "lineFeed" : undefined;
}

function isText(byte: number): boolean {
  return byte === 0x09 || (byte >= 0x20 && byte !== 0x7f);
}

/** Of a hexadecimal digit; -1 for what is none. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
