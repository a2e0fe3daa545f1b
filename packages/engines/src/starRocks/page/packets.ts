/**
 * Packets of an answer as its bytes arrive. A large piece stays where it lies, and only the packet that begins before it is
 * put together. Rows as they came are their taker's, who may give them back: `core/tool/socket/lent.ts`.
 */
import { giveBack, share } from "@gateway/core/tool/socket/lent.ts";
import { packetBytesMax, packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import { lentBytes } from "../../connect/readBuffer.ts";
import type { RowSpans } from "./cells.ts";

/** Longest packet, over all its parts, that memory is taken for. */
const messageBytesMax = 256 * 1024 * 1024;

/** A whole packet: its payload, and its bytes with headers as they came. */
export interface Packet {
  readonly payload: Uint8Array;
  readonly bytes: Uint8Array;
}

/** Rows that arrived together. */
export interface RowPackets {
  readonly spans: RowSpans;
  /** What the spans point into. */
  readonly window: Uint8Array;
}

/** The same as packets with their headers, numbered one after the other. */
export interface RowBytes {
  readonly rows: number;
  readonly bytes: Uint8Array;
}

/** Whether a packet is a row, by the first byte and the length of its payload. */
export type IsRow = (first: number, length: number) => boolean;

/** First bytes from here on may be those of an end or an error. */
const firstOfEnd = 0xfe;

export class Packets {
  readonly #next: () => Promise<Uint8Array | undefined>;
  #window: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** The piece that the window is, where nobody has a view of it but those whom it was shared with. */
  #lent: Uint8Array | undefined;
  /** The rest of a large piece, behind the window. */
  #after: Uint8Array | undefined;
  /** Number that the packet at `#at` must have. */
  #sequence: number;
  /** Set when the bytes are no packets, or ended. */
  broken: string | undefined;

  /** `first`: the number that the answer begins with, behind those of the command. */
  constructor(next: () => Promise<Uint8Array | undefined>, first = 1) {
    this.#next = next;
    this.#sequence = first;
  }

  /** Number of the packet that comes next, whoever sends it. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Bytes came behind what was read. Behind the end of an answer nobody asked for them, and they may be taken for the next one. */
  get surplus(): boolean {
    return this.#at < this.#window.length || this.#after !== undefined;
  }

  /** So many packets went the other way in the middle of the answer. */
  skip(count: number): void {
    this.#sequence = (this.#sequence + count) & 0xff;
  }

  /** The next packet when it is there already: what most of a short answer is read with. */
  held(): Packet | undefined {
    const length = this.#whole(this.#at);
    return length > 0 ? this.#taken(length) : undefined;
  }

  /** The next packet; undefined when there is none, and `broken` says why. */
  async one(): Promise<Packet | undefined> {
    for (;;) {
      const length = this.#whole(this.#at);
      if (length > 0) return this.#taken(length);
      if (!(await this.#more(-length))) return undefined;
    }
  }

  /** Rows as they came, at least one; undefined when the next packet is no row (or there is none). Only their headers are read. */
  async rowBytes(isRow: IsRow): Promise<RowBytes | undefined> {
    for (;;) {
      const found = this.rowBytesHere(isRow);
      if (found !== "short") return found;
      if (!(await this.#more(-this.#whole(this.#at)))) return undefined;
    }
  }

  /** The rows that are there, at least one; undefined when the next packet is no row (or there is none). */
  async rows(isRow: IsRow): Promise<RowPackets | undefined> {
    for (;;) {
      const found = this.#rowsHere(isRow);
      if (found !== "short") return found;
      if (!(await this.#more(-this.#whole(this.#at)))) return undefined;
    }
  }

  #taken(length: number): Packet | undefined {
    const bytes = this.#window.subarray(this.#at, this.#at + length);
    if (!this.#inOrder(bytes)) return undefined;
    this.#lent = undefined;
    this.#at += length;
    return { payload: joinedPayload(bytes), bytes };
  }

  /**
   * The same of what is here; `short` where more has to come. The hot loop of a relay: a header is looked at once, in
   * local variables.
   */
  rowBytesHere(isRow: IsRow): RowBytes | undefined | "short" {
    const window = this.#window;
    const begin = this.#at;
    const last = window.length - packetHeaderBytes;
    let sequence = this.#sequence;
    let at = begin;
    let rows = 0;
    let short = true;
    while (at <= last) {
      const length = lengthAt(window, at);
      const end = at + packetHeaderBytes + length;
      if (end > window.length) break;
      const first = window[at + packetHeaderBytes] ?? 0;
      short = false;
      // A row of several packets is a batch of its own.
      if (window[at + 3] !== sequence || length === packetBytesMax) break;
      if (first >= firstOfEnd && !isRow(first, length)) break;
      sequence = (sequence + 1) & 0xff;
      rows += 1;
      at = end;
      short = true;
    }
    if (rows === 0) return short ? "short" : this.#firstRow(isRow);
    this.#sequence = sequence;
    this.#at = at;
    const bytes = window.subarray(begin, at);
    if (this.#lent !== undefined) this.#share(this.#lent, bytes);
    return { rows, bytes };
  }

  /** What follows, which mostly is the beginning of a row, does not hold the piece. */
  #share(piece: Uint8Array, part: Uint8Array): void {
    share(piece, part);
    const window = this.#window;
    if (window.length - this.#at >= lentBytes) return;
    this.#window = window.slice(this.#at);
    this.#at = 0;
    this.#letGo();
  }

  #letGo(): void {
    if (this.#lent !== undefined) giveBack(this.#lent);
    this.#lent = undefined;
  }

  /** What the loop did not take: a long row, no row, or a packet out of order. */
  #firstRow(isRow: IsRow): RowBytes | undefined | "short" {
    const at = this.#at;
    const length = this.#whole(at);
    if (length <= 0) return "short";
    const first = this.#window[at + packetHeaderBytes] ?? 0;
    if (!isRow(first, length - packetHeaderBytes)) return undefined;
    const bytes = this.#window.subarray(at, at + length);
    if (!this.#inOrder(bytes)) return undefined;
    this.#lent = undefined;
    this.#at = at + length;
    return { rows: 1, bytes };
  }

  #rowsHere(isRow: IsRow): RowPackets | undefined | "short" {
    this.#lent = undefined;
    const begin = this.#at;
    const ends: number[] = [];
    for (let at = begin; ;) {
      const length = this.#whole(at);
      if (length <= 0) return ends.length === 0 ? "short" : this.#spansOf(begin, ends);
      const long = length > packetBytesMax;
      const first = this.#window[at + packetHeaderBytes] ?? 0;
      if (!isRow(first, length - packetHeaderBytes))
        return ends.length === 0 ? undefined : this.#spansOf(begin, ends);
      // A row of several packets has its own batch, because its payload is put together.
      if (long) return ends.length === 0 ? this.#longRow(at, length) : this.#spansOf(begin, ends);
      at += length;
      ends.push(at);
    }
  }

  #spansOf(begin: number, packetEnds: readonly number[]): RowPackets | undefined {
    const rows = packetEnds.length;
    const starts = new Int32Array(rows);
    const ends = Int32Array.from(packetEnds);
    for (let row = 0; row < rows; row += 1) {
      starts[row] = (row === 0 ? begin : (ends[row - 1] ?? 0)) + packetHeaderBytes;
    }
    const end = ends[rows - 1] ?? begin;
    const bytes = this.#window.subarray(begin, end);
    if (!this.#inOrder(bytes)) return undefined;
    this.#at = end;
    return { spans: { starts, ends, rows }, window: this.#window };
  }

  #longRow(at: number, length: number): RowPackets | undefined {
    const bytes = this.#window.subarray(at, at + length);
    if (!this.#inOrder(bytes)) return undefined;
    const window = joinedPayload(bytes);
    this.#at = at + length;
    const spans = { starts: Int32Array.of(0), ends: Int32Array.of(window.length), rows: 1 };
    return { spans, window };
  }

  /** Bytes of the packet at `at` with all its parts and headers; negative: how many there must be at least. */
  #whole(at: number): number {
    let end = at;
    for (;;) {
      if (end + packetHeaderBytes > this.#window.length) return at - end - packetHeaderBytes;
      const length = lengthAt(this.#window, end);
      end += packetHeaderBytes + length;
      if (end > this.#window.length) return at - end;
      if (length < packetBytesMax) return end - at;
    }
  }

  /** Reads on until the window holds `needed` bytes from here. */
  async #more(needed: number): Promise<boolean> {
    if (this.broken !== undefined) return false;
    const rest = this.#window.subarray(this.#at);
    if (rest.length >= packetHeaderBytes && rest[3] !== this.#sequence) {
      return this.#breaks("packets out of order");
    }
    if (needed > messageBytesMax) return this.#breaks("a packet beyond the limit");
    const pieces: Uint8Array[] = [];
    // A long packet is put together once, not once a piece.
    let held = rest.length;
    while (held < needed) {
      const piece = this.#after ?? (await this.#next());
      this.#after = undefined;
      if (piece === undefined) return this.#breaks("the connection ended");
      pieces.push(piece);
      held += piece.length;
    }
    const [only] = pieces;
    this.#at = 0;
    if (rest.length > 0 || pieces.length !== 1 || only === undefined) {
      this.#join(rest, pieces, needed);
      return true;
    }
    this.#letGo();
    this.#window = only;
    this.#lent = only;
    return true;
  }

  /** So many bytes, and what a short piece has behind them. */
  #join(rest: Uint8Array, pieces: readonly Uint8Array[], needed: number): void {
    const parts = [rest, ...pieces];
    const last = parts.pop() ?? rest;
    const before = parts.reduce((sum, { length }) => sum + length, 0);
    const isLarge = last.length >= lentBytes && before + last.length > needed;
    const end = isLarge ? last.subarray(0, needed - before) : last;
    this.#window = Buffer.concat([...parts, end]);
    if (isLarge) {
      this.#after = last.subarray(end.length);
      share(last, this.#after);
    }
    for (const piece of pieces) giveBack(piece);
    this.#letGo();
  }

  /** Takes the numbers of packets that are whole. */
  #inOrder(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; at += packetHeaderBytes + lengthAt(bytes, at)) {
      if (bytes[at + 3] !== this.#sequence) return this.#breaks("packets out of order");
      this.#sequence = (this.#sequence + 1) & 0xff;
    }
    return true;
  }

  #breaks(reason: string): false {
    this.broken = reason;
    return false;
  }
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}

/** The payload without the headers between its parts. */
function joinedPayload(bytes: Uint8Array): Uint8Array {
  if (lengthAt(bytes, 0) < packetBytesMax) return bytes.subarray(packetHeaderBytes);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = lengthAt(bytes, at);
    parts.push(bytes.subarray(at + packetHeaderBytes, at + packetHeaderBytes + length));
    at += packetHeaderBytes + length;
  }
  return Buffer.concat(parts);
}

const noHead: Uint8Array = new Uint8Array(0);
/** UTF-16 units. */
const shortCommandMax = 1_000;

/** A command as packets, in parts where it is longer than one may be. `head`: what stands between the code and the text. */
export function commandPackets(code: number, text: string, head = noHead): Uint8Array {
  // Most are short: no text takes more than three bytes for a unit.
  if (text.length + head.length <= shortCommandMax) {
    const textAt = packetHeaderBytes + 1 + head.length;
    const bytes = Buffer.allocUnsafe(textAt + text.length * 3);
    const length = 1 + head.length + bytes.write(text, textAt, "utf8");
    bytes.writeUIntLE(length, 0, 4);
    bytes[packetHeaderBytes] = code;
    if (head.length > 0) bytes.set(head, packetHeaderBytes + 1);
    return bytes.subarray(0, packetHeaderBytes + length);
  }
  const payloadBytes = 1 + head.length + Buffer.byteLength(text);
  const last = Math.floor(payloadBytes / packetBytesMax);
  const bytes = Buffer.allocUnsafe(payloadBytes + (last + 1) * packetHeaderBytes);
  bytes[packetHeaderBytes] = code;
  bytes.set(head, packetHeaderBytes + 1);
  bytes.write(text, packetHeaderBytes + 1 + head.length, "utf8");
  // From behind, so that nothing is written over: the text of 16 MB and more is moved by the headers inside it.
  for (let part = last; part >= 0; part -= 1) {
    const [from, to] = [part * packetBytesMax, part * (packetBytesMax + packetHeaderBytes)];
    const length = Math.min(payloadBytes - from, packetBytesMax);
    const at = packetHeaderBytes + from;
    if (part > 0) bytes.copyWithin(to + packetHeaderBytes, at, at + length);
    bytes.writeUIntLE(length, to, 3);
    bytes[to + 3] = part & 0xff;
  }
  return bytes;
}
