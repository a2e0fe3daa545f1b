/**
 * Cuts the incoming byte stream into frames: a length, and after the start-up a type before it.
 *
 * It knows where a frame ends and nothing of what is in it. It checks the length against the limit at once, so
 * a false length costs no memory. Memory for a frame that is still arriving grows with what arrived, not with
 * what was announced.
 *
 * A short chunk is copied behind what waits. A large one stays where it lies, and only the frame that begins before it
 * is put together: of a large result next to nothing is copied.
 */
import { getInt32 } from "./bytes.ts";
import type { Violation } from "./message.ts";

/** A whole frame. `type` is 0 for a packet without a type byte. The view stays valid as long as it is held. */
export interface Frame {
  readonly type: number;
  readonly body: Uint8Array;
}

export type FrameStep =
  | { readonly kind: "frame"; readonly frame: Frame }
  /** More bytes are needed. */
  | { readonly kind: "wait" }
  /** A frame over its type's own limit, of which nothing was taken: the reader goes on behind `allowLong` or `skipLong`. */
  | { readonly kind: "long"; readonly type: number; readonly length: number }
  /** A frame of that type was skipped and has ended. */
  | { readonly kind: "skipped"; readonly type: number; readonly length: number }
  | { readonly kind: "violation"; readonly violation: Violation };

/** Which frames are expected now, and how long one may be (the length field counts itself). */
export interface FrameRule {
  /** Types that a frame may have; any other is refused at its first byte. Undefined for packets without a type byte. */
  readonly types: ReadonlySet<number> | undefined;
  readonly maxBytes: number;
  /** Lower limits by type. What becomes of a frame over its own limit somebody decides. */
  readonly typeMaxBytes?: ReadonlyMap<number, number> | undefined;
}

/** How many frames `run` takes, and which of them. */
export interface RunRule {
  readonly bytesMax: number;
  readonly fits: (bytes: Uint8Array, start: number, end: number) => boolean;
}

/** Frames in one piece. The view stays valid as long as it is held. */
export interface FrameRun {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly sound: boolean;
}

/** Where chunks come from memory that is used again: `core/tool/socket/lent.ts`. A piece of one is whoever's that takes it. */
export interface Lending {
  /** `part` of a chunk goes to another one, who gives it back on his own. */
  share(chunk: Uint8Array, part: Uint8Array): void;
  /** Nobody reads the chunk any more, but for parts that were shared. */
  giveBack(chunk: Uint8Array): void;
}

interface SkippedFrame {
  readonly type: number;
  readonly length: number;
  left: number;
}

const none = new Uint8Array(0);
const wait: FrameStep = { kind: "wait" };
const lengthBytes = 4;
/** A chunk from here on is not copied. */
const largeBytes = 32 * 1024;

/** Bytes of one connection, in order. After a violation its results mean nothing. */
export class FrameReader {
  readonly #lending: Lending | undefined;
  #bytes: Uint8Array = none;
  #start = 0;
  #end = 0;
  /** True when `#bytes` is our own allocation, so that the space behind `#end` is free. */
  #own = false;
  /** The chunk that `#bytes` is, where nobody has a view of it but those whom it was shared with. */
  #lent: Uint8Array | undefined;
  /** Large chunks behind `#bytes`, which is not empty then. */
  readonly #later: Uint8Array[] = [];
  #laterBytes = 0;
  /** Bytes the frame at `#start` will have, once known. */
  #wanted = 0;
  /** A frame that is skipped, and how many of its bytes are still to come. */
  #skipped: SkippedFrame | undefined;
  /** The frame at `#start` may be longer than its type's own limit. */
  #allowed = false;

  constructor(lending?: Lending) {
    this.#lending = lending;
  }

  /** Bytes received and not yet taken as frames. */
  get pending(): number {
    return this.#end - this.#start + this.#laterBytes;
  }

  /** The first byte that was not taken, to tell a TLS handshake from a packet. */
  peek(): number | undefined {
    return this.#start < this.#end ? this.#bytes[this.#start] : undefined;
  }

  /** True when the next frame, of those with a type, is here to its end. */
  get hasFrame(): boolean {
    if (this.#skipped !== undefined || !this.#reach(1 + lengthBytes)) return false;
    return this.pending > getInt32(this.#bytes, this.#start + 1);
  }

  /** Adds a chunk, which the reader may keep: the caller must not write into it afterwards. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    if (this.#start === this.#end) this.#adopt(chunk);
    else if (chunk.length >= largeBytes) {
      this.#later.push(chunk);
      this.#laterBytes += chunk.length;
    } else {
      this.#gather(chunk.length);
      this.#append(chunk);
    }
  }

  /** Takes the next whole frame under `rule`. */
  next(rule: FrameRule): FrameStep {
    if (this.#skipped !== undefined) return this.#skip(this.#skipped);
    const head = rule.types === undefined ? 0 : 1;
    const type = head === 0 ? 0 : this.peek();
    if (type !== undefined && rule.types?.has(type) === false) {
      return refuse({ kind: "unknownType", type });
    }
    if (!this.#reach(head + lengthBytes) || type === undefined) return wait;
    const length = getInt32(this.#bytes, this.#start + head);
    // From a sender that counts unsigned, a negative length means 2 GB and more.
    const claimed = length < 0 ? length + 2 ** 32 : length;
    if (claimed < lengthBytes) return refuse({ kind: "length", length: claimed });
    if (claimed > rule.maxBytes) {
      return refuse({ kind: "tooLarge", length: claimed, limit: rule.maxBytes });
    }
    const size = head + claimed;
    if (claimed > (rule.typeMaxBytes?.get(type) ?? rule.maxBytes) && !this.#allowed) {
      return { kind: "long", type, length: claimed };
    }
    this.#wanted = size;
    if (!this.#reach(size)) return wait;

    const end = this.#start + size;
    const body = this.#bytes.subarray(this.#start + head + lengthBytes, end);
    this.#lent = undefined;
    this.#start = end;
    this.#allowed = false;
    this.#wentOn();
    return { kind: "frame", frame: { type, body } };
  }

  /** The long frame that was told of is to be taken whole. */
  allowLong(): void {
    this.#allowed = true;
  }

  /** The long frame that was told of is skipped, and the stream goes on behind it. */
  skipLong({ type, length }: { readonly type: number; readonly length: number }): void {
    this.#skipped = { type, length, left: length + 1 };
  }

  /** Drops what has arrived of a skipped frame; says so when that was all of it. */
  #skip(skipped: SkippedFrame): FrameStep {
    while (this.pending > 0 && skipped.left > 0) {
      const count = Math.min(this.#end - this.#start, skipped.left);
      this.#start += count;
      skipped.left -= count;
      this.#wentOn();
    }
    if (skipped.left > 0) return wait;
    this.#skipped = undefined;
    return { kind: "skipped", type: skipped.type, length: skipped.length };
  }

  /**
   * Takes whole frames of one type that lie at the front, up to about `bytesMax`, as one piece with their heads.
   * `fits` judges each by where its body begins and ends; the first that does not is left at the front, and
   * `sound` is false. Undefined when no whole frame of the type is there. For frames within the limits of a rule.
   */
  run(type: number, maxBytes: number, { bytesMax, fits }: RunRule): FrameRun | undefined {
    if (this.#later.length > 0) this.#reachFrame(maxBytes);
    const bytes = this.#bytes;
    let at = this.#start;
    let count = 0;
    let sound = true;
    while (at + 1 + lengthBytes <= this.#end && bytes[at] === type) {
      const length = getInt32(bytes, at + 1);
      const end = at + 1 + length;
      if (length < lengthBytes || length > maxBytes || end > this.#end) break;
      sound = fits(bytes, at + 1 + lengthBytes, end);
      if (!sound) break;
      at = end;
      count += 1;
      if (at - this.#start >= bytesMax) break;
    }
    if (count === 0 && sound) return undefined;
    const run = { bytes: bytes.subarray(this.#start, at), count, sound };
    this.#start = at;
    if (this.#lent !== undefined) this.#share(this.#lent, run.bytes);
    this.#wentOn();
    return run;
  }

  /**
   * Shows `look` the types of the frames that were received and not taken, in order, until it returns a value.
   * Undefined when the bytes end before that; a length that makes no sense ends them too.
   */
  ahead<Found>(look: (type: number) => Found | undefined): Found | undefined {
    this.#gather(0);
    for (let at = this.#start; at < this.#end;) {
      const found = look(this.#bytes[at] ?? 0);
      if (found !== undefined) return found;
      if (at + 1 + lengthBytes > this.#end) return undefined;
      const length = getInt32(this.#bytes, at + 1);
      if (length < lengthBytes) return undefined;
      at += 1 + length;
    }
    return undefined;
  }

  /** Everything that was not taken, which stays; empty in the middle of a frame that is skipped. */
  get held(): Uint8Array {
    return this.#skipped === undefined ? this.#all() : none;
  }

  /** Hands over everything that was not taken, for a handshake that is not ours. The reader is empty afterwards. */
  rest(): Uint8Array {
    const rest = this.#all();
    this.#adopt(none);
    return rest;
  }

  /** Everything that was not taken is gone: its reader took it by `held`. */
  drop(): void {
    this.#later.length = 0;
    this.#laterBytes = 0;
    this.#adopt(none);
  }

  /** In one piece, which its reader may keep. */
  #all(): Uint8Array {
    this.#gather(0);
    this.#lent = undefined;
    return this.#bytes.subarray(this.#start, this.#end);
  }

  /** Behind what was taken: the next chunk, where that was all of one. */
  #wentOn(): void {
    if (this.#start < this.#end) return;
    if (this.#lent !== undefined) this.#lending?.giveBack(this.#lent);
    const next = this.#later.length === 0 ? undefined : this.#later.shift();
    this.#adopt(next ?? none);
    if (next === undefined) return;
    this.#laterBytes -= next.length;
    // Also what is left of a chunk that began with the end of a frame.
    if (this.#lending !== undefined) this.#lent = next;
  }

  /** The rest of a chunk, which mostly is the beginning of a frame, does not hold the chunk. */
  #share(chunk: Uint8Array, part: Uint8Array): void {
    this.#lending?.share(chunk, part);
    const left = this.#end - this.#start;
    if (left === 0 || left >= largeBytes) return;
    this.#bytes = this.#bytes.slice(this.#start, this.#end);
    this.#start = 0;
    this.#end = left;
    this.#lent = undefined;
    this.#lending?.giveBack(chunk);
  }

  /** Puts the next frame together, where it is here. */
  #reachFrame(maxBytes: number): void {
    if (!this.#reach(1 + lengthBytes)) return;
    const length = getInt32(this.#bytes, this.#start + 1);
    if (length >= lengthBytes && length <= maxBytes) this.#reach(1 + length);
  }

  /** True where so many bytes came, which then lie in one piece. */
  #reach(count: number): boolean {
    if (this.#end - this.#start >= count) return true;
    if (this.pending < count) return false;
    const joined = new Uint8Array(count);
    let filled = this.#end - this.#start;
    joined.set(this.#bytes.subarray(this.#start, this.#end));
    while (filled < count) {
      const [next = none] = this.#later;
      const part = next.subarray(0, count - filled);
      joined.set(part, filled);
      filled += part.length;
      this.#laterBytes -= part.length;
      if (part.length === next.length) this.#later.shift();
      else this.#later[0] = next.subarray(part.length);
      const [rest] = this.#later;
      if (rest !== undefined && part.length < next.length) this.#lending?.share(next, rest);
      this.#lending?.giveBack(next);
    }
    const wanted = this.#wanted;
    if (this.#lent !== undefined) this.#lending?.giveBack(this.#lent);
    this.#adopt(joined);
    this.#wanted = wanted;
    return true;
  }

  /** Brings large chunks behind the rest, and makes room for as many bytes more. */
  #gather(room: number): void {
    if (room === 0 && this.#later.length === 0) return;
    const front = this.#end - this.#start;
    const needed = this.pending + room;
    if (!this.#own || this.#start + needed > this.#bytes.length) {
      const grown = new Uint8Array(this.#capacityFor(needed));
      // Somebody may still read taken frames through their views, so the old buffer stays as it is.
      grown.set(this.#bytes.subarray(this.#start, this.#end));
      this.#bytes = grown;
      this.#start = 0;
      this.#end = front;
      this.#own = true;
      this.#lent = undefined;
    }
    for (const chunk of this.#later.splice(0)) this.#append(chunk);
    this.#laterBytes = 0;
  }

  #append(chunk: Uint8Array): void {
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** Doubling keeps the copying linear; a frame that is still arriving never takes more than it promised. */
  #capacityFor(needed: number): number {
    return needed < this.#wanted ? Math.min(needed * 2, this.#wanted) : needed * 2;
  }

  #adopt(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#start = 0;
    this.#end = bytes.length;
    this.#own = false;
    this.#lent = bytes.length >= largeBytes && this.#lending !== undefined ? bytes : undefined;
    this.#wanted = 0;
  }
}

function refuse(violation: Violation): FrameStep {
  return { kind: "violation", violation };
}
