/**
 * Bytes that arrived and were not consumed. Chunks are joined only where a packet or frame spans them.
 *
 * Taken bytes are a view; the memory behind it is appended to or replaced, never moved. There is no limit
 * here: the reader refuses what is too long before it arrives.
 */

const nothing = new Uint8Array(0);

/** The window is `bytes[start, end)`. Owned by one reader. */
export class ByteWindow {
  bytes: Uint8Array = nothing;
  start = 0;
  end = 0;
  /** Bytes that the window will hold before anything is taken, as far as that is known: room for no more is made. */
  wanted = 0;
  /** True when `bytes` is ours to append to; a chunk of the caller is only read. */
  #owned = false;

  /** Bytes not taken yet. */
  get length(): number {
    return this.end - this.start;
  }

  /** Adds what arrived. The chunk may be kept by reference and must not be changed afterwards. */
  push(chunk: Uint8Array): void {
    if (this.start === this.end) {
      this.bytes = chunk;
      this.start = 0;
      this.end = chunk.length;
      this.#owned = false;
      return;
    }
    this.#makeRoom(chunk.length);
    this.bytes.set(chunk, this.end);
    this.end += chunk.length;
  }

  /** The byte at an offset from the start; 0 beyond the end. */
  byte(offset: number): number {
    const at = this.start + offset;
    return at < this.end ? (this.bytes[at] ?? 0) : 0;
  }

  /** Three bytes at an offset from the start, little-endian. */
  u24(offset: number): number {
    return this.byte(offset) | (this.byte(offset + 1) << 8) | (this.byte(offset + 2) << 16);
  }

  /** Consumes `count` bytes, which are there, and returns a view of them. */
  take(count: number): Uint8Array {
    this.wanted = 0;
    const taken = this.bytes.subarray(this.start, this.start + count);
    this.start += count;
    return taken;
  }

  /** Releases the memory. */
  forget(): void {
    this.bytes = nothing;
    this.start = 0;
    this.end = 0;
    this.#owned = false;
  }

  #makeRoom(count: number): void {
    if (this.#owned && this.end + count <= this.bytes.length) return;
    const pending = this.bytes.subarray(this.start, this.end);
    const needed = pending.length + count;
    const room = needed < this.wanted ? Math.min(needed * 2, this.wanted) : needed * 2;
    const grown = new Uint8Array(room);
    grown.set(pending);
    this.bytes = grown;
    this.start = 0;
    this.end = pending.length;
    this.#owned = true;
  }
}
