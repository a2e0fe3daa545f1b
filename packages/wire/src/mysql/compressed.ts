/**
 * The compressed protocol: frames of up to 16 MB around the stream of packets, in both directions.
 *
 * Frames know nothing of packets: one may hold many, or a part of one. The caller compresses; here are only
 * the heads (3 bytes of length, 1 of sequence, 3 of the length before compression, 0 for bytes that were not
 * compressed). Source: "MySQL Internals, Compression".
 */
import { ByteWindow } from "./byteWindow.ts";
import { violation, type Violation } from "./protocol.ts";

/** Bytes in front of every frame. */
export const frameHeaderBytes = 7;

/** Most bytes of a frame, compressed and uncompressed: both lengths have three bytes. */
export const frameBytesMax = 0xff_ffff;

/** Fewer bytes are not compressed, as on a MySQL server. */
export const frameBytesMin = 50;

/** One frame. `bytes` is a view of what arrived. */
export interface Frame {
  readonly kind: "frame";
  readonly sequence: number;
  readonly bytes: Uint8Array;
  /** Length of the content before it was compressed; undefined when `bytes` are the content. */
  readonly contentBytes: number | undefined;
}

export type FrameStep = Frame | { readonly kind: "more" } | Violation;

const more = { kind: "more" } as const;

/** Cuts a stream of chunks into frames. Owned by one connection; unusable after a violation. */
export class FrameReader {
  readonly #window = new ByteWindow();
  #sequence = 0;
  #broken: Violation | undefined;

  /** Bytes held that no frame has taken yet. */
  get bufferedBytes(): number {
    return this.#window.length;
  }

  /** Adds what arrived. The chunk may be kept by reference and must not be changed afterwards. */
  push(chunk: Uint8Array): void {
    if (this.#broken === undefined) this.#window.push(chunk);
  }

  /** The next frame, `more` when it has not arrived whole, or the violation that ends the connection. */
  next(): FrameStep {
    if (this.#broken !== undefined) return this.#broken;
    const window = this.#window;
    if (window.length < frameHeaderBytes) return more;
    const length = window.u24(0);
    const sequence = window.byte(3);
    const contentBytes = window.u24(4);
    // Every command begins at 0; the frames of one follow each other.
    if (sequence !== 0 && sequence !== this.#sequence) {
      this.#broken = violation("outOfOrder", "compressed frame out of order");
      window.forget();
      return this.#broken;
    }
    if (window.length < frameHeaderBytes + length) return more;
    this.#sequence = (sequence + 1) & 0xff;
    window.start += frameHeaderBytes;
    const bytes = window.take(length);
    if (window.length === 0) window.forget();
    return {
      kind: "frame",
      sequence,
      bytes,
      contentBytes: contentBytes === 0 ? undefined : contentBytes,
    };
  }

  /** Sets the number of the next frame, when an exchange goes on after the server's answer (a change of user). */
  expect(sequence: number): void {
    this.#sequence = sequence;
  }
}

/** The head of a frame of `length` bytes; `contentBytes` is 0 for bytes that were not compressed. */
export function frameHeader(length: number, sequence: number, contentBytes: number): Uint8Array {
  return Uint8Array.of(
    length,
    length >> 8,
    length >> 16,
    sequence,
    contentBytes,
    contentBytes >> 8,
    contentBytes >> 16,
  );
}
