/**
 * One `FlightData` as bytes, written by hand: the batch's buffers are copied once, straight to their place in the
 * message that leaves.
 */
import { Buffer } from "node:buffer";
import { aligned, batchMetadata } from "@gateway/wire/flight/arrowWrite.ts";
import type { ArrowMessage } from "@gateway/core/type/vector.ts";
import type { Body } from "../../arrow/body.ts";

/** `data_header = 2` and `data_body = 1000` of `FlightData`, both length-delimited. */
const headerTag = 0x12;
const bodyTag = [0xc2, 0x3e] as const;

/** The message that holds a schema, or metadata alone. */
export function headerMessage(metadata: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(1 + varintBytes(metadata.length) + metadata.length);
  out[0] = headerTag;
  out.set(metadata, putVarint(out, 1, metadata.length));
  return out;
}

/**
 * A message that is written where it leaves. Whoever sends it asks for its length and copies it behind a prefix, as
 * it would a `Buffer`; so the buffers of a batch are copied once and not twice.
 */
export class BatchMessage {
  readonly byteLength: number;
  readonly #metadata: Uint8Array;
  readonly #bodyBytes: number;
  readonly #buffers: Body["buffers"];

  constructor({ rows, nodes, buffers }: Body) {
    const bufferLengths = buffers.map(({ length }) => length);
    const { metadata, bodyBytes } = batchMetadata({ rows, nodes, bufferLengths });
    this.#metadata = metadata;
    this.#bodyBytes = bodyBytes;
    this.#buffers = buffers;
    const head = 1 + varintBytes(metadata.length) + metadata.length;
    const bodyHead = bodyBytes === 0 ? 0 : bodyTag.length + varintBytes(bodyBytes);
    this.byteLength = head + bodyHead + bodyBytes;
  }

  /** Writes it to `at`; as that of a `Buffer`, it answers how many bytes those were. */
  copy(out: Uint8Array, from: number): number {
    const metadata = this.#metadata;
    out[from] = headerTag;
    let at = putVarint(out, from + 1, metadata.length);
    out.set(metadata, at);
    at += metadata.length;
    if (this.#bodyBytes === 0) return this.byteLength;
    out.set(bodyTag, at);
    at = putVarint(out, at + bodyTag.length, this.#bodyBytes);
    for (const { length, chunks } of this.#buffers) {
      let end = at;
      for (const chunk of chunks) {
        out.set(chunk, end);
        end += chunk.length;
      }
      at += aligned(length);
      out.fill(0, end, at);
    }
    return this.byteLength;
  }
}

/** A record batch as its engine made it: its bytes leave from where they lie. */
export class EngineMessage {
  readonly byteLength: number;
  readonly #head: Buffer;
  readonly #body: Uint8Array;
  readonly #arrow: ArrowMessage;

  constructor(arrow: ArrowMessage) {
    const { metadata, body } = arrow;
    const bodyHead = body.length === 0 ? 0 : bodyTag.length + varintBytes(body.length);
    const head = Buffer.allocUnsafe(1 + varintBytes(metadata.length) + metadata.length + bodyHead);
    head[0] = headerTag;
    let at = putVarint(head, 1, metadata.length);
    head.set(metadata, at);
    at += metadata.length;
    if (body.length > 0) {
      head.set(bodyTag, at);
      putVarint(head, at + bodyTag.length, body.length);
    }
    this.#head = head;
    this.#body = body;
    this.#arrow = arrow;
    this.byteLength = head.length + body.length;
  }

  get headBytes(): number {
    return this.#head.length;
  }

  /** Its bytes one behind the other. Nobody may write to them before they are sent. */
  get chunks(): readonly [head: Uint8Array, body: Uint8Array] {
    return [this.#head, this.#body];
  }

  /** Says that it was sent, or copied: its memory is the engine's again. */
  release(): void {
    this.#arrow.release?.();
  }

  /** Writes it to `at`, as a `Buffer` would. */
  copy(out: Uint8Array, at: number): number {
    out.set(this.#head, at);
    out.set(this.#body, at + this.#head.length);
    return this.byteLength;
  }
}

/** What gRPC is given: bytes, or what writes itself like bytes. */
export type Message = Buffer | BatchMessage | EngineMessage;

function varintBytes(value: number): number {
  let count = 1;
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) count += 1;
  return count;
}

/** Returns the place behind it. */
function putVarint(out: Uint8Array, at: number, value: number): number {
  let left = value;
  let end = at;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) {
    out[end] = (left % 0x80) | 0x80;
    end += 1;
  }
  out[end] = left;
  return end + 1;
}
