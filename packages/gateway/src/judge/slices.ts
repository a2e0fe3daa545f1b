/**
 * Reads a large JSON text a slice at a time, so that the event loop goes on in between: queries are
 * served while a new configuration is read.
 *
 * Knows JSON without white space, as the canonical form is, and takes it apart a few levels deep; what
 * is inside such a piece is JSON.parse's business. Not a validator: the caller has checked the hash.
 */
import { createHash, type Hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Bytes hashed or looked through between two turns: some milliseconds on a slow machine. */
const turnBytes = 128 * 1024;
/** Bytes copied between two turns: taking new memory costs more than the copying. */
const copiedBytesMax = 512 * 1024;
/** Pieces of about this size are parsed at once: smaller members of an object together, larger ones taken apart. */
const pieceBytes = 16 * 1024;
/** Bytes parsed between two turns. */
const parsedBytesMax = 48 * 1024;
/** How deep large values are taken apart: users lie below a setting, its part and their map. */
export const pieceLevelsMax = 4;

export interface SliceSizes {
  readonly turnBytes: number;
  readonly pieceBytes: number;
  readonly parsedBytesMax: number;
}

const sizesDefault: SliceSizes = { turnBytes, pieceBytes, parsedBytesMax };

/** Lower-case hex of SHA-256. */
export async function sha256Sliced(bytes: Uint8Array): Promise<string> {
  const hash: Hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += turnBytes) {
    hash.update(bytes.subarray(at, at + turnBytes));
    if (at + turnBytes < bytes.length) await nextTurn();
  }
  return hash.digest("hex");
}

/** The same bytes in a buffer of their own, to be given away. */
export async function copiedSliced(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += copiedBytesMax) {
    copy.set(bytes.subarray(at, at + copiedBytesMax), at);
    if (at + copiedBytesMax < bytes.length) await nextTurn();
  }
  return copy;
}

/** Called with each piece that was parsed, before it is put in its place; false refuses the whole. */
export type JudgePiece = (value: unknown) => boolean;

/**
 * The value of `bytes`; undefined when they are not JSON of the form above, or a piece was refused.
 * The same as JSON.parse answers, where both take the text.
 */
export async function parseSliced(
  bytes: Uint8Array,
  judge: JudgePiece = () => true,
  sizes: SliceSizes = sizesDefault,
): Promise<unknown> {
  return new Reader(bytes, judge, sizes).read();
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const protoKey = "__proto__";
/** Fails for bytes that are no UTF-8; keeps nothing between two texts. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

interface Found {
  readonly value: unknown;
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #judge: JudgePiece;
  readonly #sizes: SliceSizes;
  #scanned = 0;
  #parsed = 0;

  constructor(bytes: Uint8Array, judge: JudgePiece, sizes: SliceSizes) {
    this.#bytes = bytes;
    this.#judge = judge;
    this.#sizes = sizes;
  }

  async read(): Promise<unknown> {
    const found = await this.#value(0, this.#bytes.length, 0);
    return found?.value;
  }

  /** The value that takes exactly [start, end). */
  async #value(start: number, end: number, level: number): Promise<Found | undefined> {
    const first = this.#bytes[start];
    const nested = first === openBrace || first === openBracket;
    if (!nested || level === pieceLevelsMax || end - start <= this.#sizes.pieceBytes) {
      return this.#piece(start, end);
    }
    return first === openBrace ? this.#object(start, end, level) : this.#list(start, end, level);
  }

  async #object(start: number, end: number, level: number): Promise<Found | undefined> {
    // It grows with what is read: joining thousands of members at the end would take many
    // milliseconds.
    const members: Record<string, unknown> = {};
    /** Where the members begin that were scanned and not parsed yet. */
    let from = start + 1;
    for (let at = from; at < end - 1;) {
      const keyEnd = this.#nearEnd(at) ?? (await this.#endOf(at));
      if (this.#bytes[keyEnd] !== colon) return undefined;
      const valueEnd = this.#nearEnd(keyEnd + 1) ?? (await this.#endOf(keyEnd + 1));
      if (!this.#separated(valueEnd, end, closeBrace)) return undefined;
      if (valueEnd - keyEnd > this.#sizes.pieceBytes && level + 1 < pieceLevelsMax) {
        if (!(await this.#members(from, at - 1, members))) return undefined;
        const key = this.#parse(at, keyEnd)?.value;
        const value = await this.#value(keyEnd + 1, valueEnd, level + 1);
        if (value === undefined || typeof key !== "string" || key === protoKey) return undefined;
        members[key] = value.value;
        from = valueEnd + 1;
      } else if (valueEnd - from >= this.#sizes.pieceBytes) {
        if (!(await this.#members(from, valueEnd, members))) return undefined;
        from = valueEnd + 1;
      }
      at = valueEnd + 1;
    }
    return (await this.#members(from, end - 1, members)) ? { value: members } : undefined;
  }

  /** Reads the members of an object in [from, to), which may be empty. False refuses them. */
  async #members(from: number, to: number, into: Record<string, unknown>): Promise<boolean> {
    if (to <= from) return true;
    await this.#turnFor(to - from);
    const found = this.#parse(from, to, "{", "}")?.value;
    if (typeof found !== "object" || found === null) return false;
    for (const [key, value] of Object.entries(found)) {
      if (key === protoKey || !this.#judge(value)) return false;
      into[key] = value;
    }
    return true;
  }

  async #list(start: number, end: number, level: number): Promise<Found | undefined> {
    const items: unknown[] = [];
    for (let at = start + 1; at < end - 1;) {
      const itemEnd = this.#nearEnd(at) ?? (await this.#endOf(at));
      const item = await this.#value(at, itemEnd, level + 1);
      if (item === undefined || !this.#separated(itemEnd, end, closeBracket)) return undefined;
      items.push(item.value);
      at = itemEnd + 1;
    }
    return { value: items };
  }

  /** After a member comes a comma and another one, or the end of its owner. */
  #separated(at: number, end: number, closing: number): boolean {
    if (at === end - 1) return this.#bytes[at] === closing;
    return this.#bytes[at] === comma && at < end - 2;
  }

  async #piece(start: number, end: number): Promise<Found | undefined> {
    await this.#turnFor(end - start);
    const found = this.#parse(start, end);
    return found !== undefined && this.#judge(found.value) ? found : undefined;
  }

  async #turnFor(parsedBytes: number): Promise<void> {
    this.#parsed += parsedBytes;
    if (this.#parsed < this.#sizes.parsedBytesMax) return;
    this.#parsed = 0;
    await nextTurn();
  }

  #parse(start: number, end: number, before = "", after = ""): Found | undefined {
    try {
      const text = utf8.decode(this.#bytes.subarray(start, end));
      return { value: JSON.parse(`${before}${text}${after}`) as unknown };
    } catch {
      // The parser's message quotes the text, which holds credentials.
      return undefined;
    }
  }

  /**
   * `#endOf` for a value that ends near and when no turn is due. Most values are short, and a
   * promise for each would cost more than they do.
   */
  #nearEnd(start: number): number | undefined {
    const left = this.#sizes.turnBytes - this.#scanned;
    if (left <= 0) return undefined;
    const walk: Walk = { at: start, depth: 0, inText: false };
    if (!step(this.#bytes, walk, start + left)) return undefined;
    this.#scanned += walk.at - start;
    return walk.at;
  }

  /** Where the value that begins at `start` ends. For bytes that are no value, some position after `start`. */
  async #endOf(start: number): Promise<number> {
    const walk: Walk = { at: start, depth: 0, inText: false };
    for (;;) {
      if (this.#scanned >= this.#sizes.turnBytes) {
        this.#scanned = 0;
        await nextTurn();
      }
      const begun = walk.at;
      const done = step(this.#bytes, walk, begun + this.#sizes.turnBytes);
      this.#scanned += walk.at - begun;
      if (done || walk.at >= this.#bytes.length) return walk.at;
    }
  }
}

interface Walk {
  at: number;
  depth: number;
  inText: boolean;
}

/** Walks on, at most to `limit`; true when the value has ended. */
function step(bytes: Uint8Array, walk: Walk, limit: number): boolean {
  const end = Math.min(limit, bytes.length);
  let { at, depth, inText } = walk;
  let done = false;
  for (; at < end && !done; at += 1) {
    const byte = bytes[at];
    if (inText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) {
        inText = false;
        done = depth === 0;
      }
    } else if (byte === quote) inText = true;
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (depth === 0 && (byte === comma || byte === closeBrace || byte === closeBracket)) {
      // A number or a word ends before the byte that follows it.
      walk.at = at;
      return true;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      done = depth === 0;
    }
  }
  walk.at = at;
  walk.depth = depth;
  walk.inText = inText;
  return done;
}
