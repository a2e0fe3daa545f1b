/**
 * Cuts the incoming byte stream into frames: a length, and after the start-up a type before it.
 *
 * It knows where a frame ends and nothing of what is in it. It checks the length against the limit at once, so
 * a false length costs no memory. Memory for a frame that is still arriving grows with what arrived, not with
 * what was announced.
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

interface SkippedFrame {
  readonly type: number;
  readonly length: number;
  left: number;
}

const none = new Uint8Array(0);
const wait: FrameStep = { kind: "wait" };
const lengthBytes = 4;

/** Bytes of one connection, in order. After a violation its results mean nothing. */
export class FrameReader {
  #bytes: Uint8Array = none;
  #start = 0;
  #end = 0;
  /** True when `#bytes` is our own allocation, so that the space behind `#end` is free. */
  #own = false;
  /** Bytes the frame at `#start` will have, once known. */
  #wanted = 0;
  /** A frame that is skipped, and how many of its bytes are still to come. */
  #skipped: SkippedFrame | undefined;
  /** The frame at `#start` may be longer than its type's own limit. */
  #allowed = false;

  /** Bytes received and not yet taken as frames. */
  get pending(): number {
    return this.#end - this.#start;
  }

  /** The first byte that was not taken, to tell a TLS handshake from a packet. */
  peek(): number | undefined {
    return this.#start < this.#end ? this.#bytes[this.#start] : undefined;
  }

  /** True when the next frame, of those with a type, is here to its end. */
  get hasFrame(): boolean {
    if (this.#skipped !== undefined || this.pending < 1 + lengthBytes) return false;
    return this.pending > getInt32(this.#bytes, this.#start + 1);
  }

  /** Adds a chunk, which the reader may keep: the caller must not write into it afterwards. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const pending = this.pending;
    if (pending === 0) {
      this.#adopt(chunk);
      return;
    }
    if (!this.#own || this.#end + chunk.length > this.#bytes.length) {
      const needed = pending + chunk.length;
      const grown = new Uint8Array(this.#capacityFor(needed));
      // Somebody may still read taken frames through their views, so the old buffer stays as it is.
      grown.set(this.#bytes.subarray(this.#start, this.#end));
      this.#bytes = grown;
      this.#start = 0;
      this.#end = pending;
      this.#own = true;
    }
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** Takes the next whole frame under `rule`. */
  next(rule: FrameRule): FrameStep {
    if (this.#skipped !== undefined) return this.#skip(this.#skipped);
    const head = rule.types === undefined ? 0 : 1;
    const type = head === 0 ? 0 : this.peek();
    if (type !== undefined && rule.types?.has(type) === false) {
      return refuse({ kind: "unknownType", type });
    }
    if (this.pending < head + lengthBytes || type === undefined) return wait;
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
    if (this.pending < size) return wait;

    const end = this.#start + size;
    const body = this.#bytes.subarray(this.#start + head + lengthBytes, end);
    this.#start = end;
    this.#allowed = false;
    if (this.#start === this.#end) this.#adopt(none);
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
    const count = Math.min(this.pending, skipped.left);
    this.#start += count;
    skipped.left -= count;
    if (this.#start === this.#end) this.#adopt(none);
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
    if (this.#start === this.#end) this.#adopt(none);
    return run;
  }

  /**
   * Shows `look` the types of the frames that were received and not taken, in order, until it returns a value.
   * Undefined when the bytes end before that; a length that makes no sense ends them too.
   */
  ahead<Found>(look: (type: number) => Found | undefined): Found | undefined {
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
    return this.#skipped === undefined ? this.#bytes.subarray(this.#start, this.#end) : none;
  }

  /** Hands over everything that was not taken, for a handshake that is not ours. The reader is empty afterwards. */
  rest(): Uint8Array {
    const rest = this.#bytes.subarray(this.#start, this.#end);
    this.#adopt(none);
    return rest;
  }

  /** Everything that was not taken is gone: its reader took it by `held`. */
  drop(): void {
    this.#adopt(none);
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
    this.#wanted = 0;
  }
}

function refuse(violation: Violation): FrameStep {
  return { kind: "violation", violation };
}
