/**
 * How a call travels between two gateways: a request as its messages, each behind its length; an answer as frames, each
 * with a kind as well. An answer without its last frame broke off.
 */
import { Buffer } from "node:buffer";
import type { FlightStatus } from "../errors.ts";
import type { Message } from "../value/message.ts";

/** What an answer is made of. `alive` says nothing but that the call still runs. */
export const frameKinds = { header: 1, message: 2, end: 3, alive: 4 } as const;

const lengthBytes = 4;
const headBytes = 1 + lengthBytes;
/** A header or an end is small, whoever sent it. */
const textBytesMax = 64 * 1024;

export type Frame =
  | { readonly kind: "header"; readonly name: string; readonly value: string }
  | { readonly kind: "message"; readonly message: Buffer }
  | { readonly kind: "end"; readonly failure: FlightStatus | undefined };

/** A message of a request. */
export function requestFrame(message: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(lengthBytes + message.length);
  out.writeUInt32BE(message.length, 0);
  out.set(message, lengthBytes);
  return out;
}

/** A message of an answer. */
export function messageFrame(message: Message): Buffer {
  const out = Buffer.allocUnsafe(headBytes + message.byteLength);
  putHead(out, frameKinds.message, message.byteLength);
  message.copy(out, headBytes);
  return out;
}

export function headerFrame(name: string, value: string): Buffer {
  return textFrame(frameKinds.header, [name, value]);
}

export function endFrame(failure: FlightStatus | undefined): Buffer {
  return textFrame(frameKinds.end, failure === undefined ? [] : [failure.code, failure.details]);
}

export const aliveFrame: Uint8Array = Uint8Array.of(frameKinds.alive, 0, 0, 0, 0);

function textFrame(kind: number, content: readonly (string | number)[]): Buffer {
  const text = Buffer.from(JSON.stringify(content));
  const head = Buffer.allocUnsafe(headBytes);
  putHead(head, kind, text.length);
  return Buffer.concat([head, text]);
}

function putHead(out: Buffer, kind: number, length: number): void {
  out[0] = kind;
  out.writeUInt32BE(length, 1);
}

/** Thrown by the readers: the other end sent what no gateway sends, or more than is taken. */
export class FrameError extends Error {}

/** The messages of a request, none longer than `bytesMax`: a length is judged before memory is taken for it. */
export async function* readRequest(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, void> {
  const bytes = new Pieces(body);
  while (await bytes.has(lengthBytes)) {
    yield await bytes.take(lengthIn(bytes.taken(lengthBytes), 0, bytesMax));
  }
}

/** The frames of an answer up to its end. Throws where it breaks off before. */
export async function* readAnswer(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Frame, void, void> {
  const bytes = new Pieces(body);
  while (await bytes.has(headBytes)) {
    const head = bytes.taken(headBytes);
    const max = head[0] === frameKinds.message ? bytesMax : textBytesMax;
    const content = await bytes.take(lengthIn(head, 1, max));
    const frame = frameOf(head[0] ?? 0, content);
    if (frame !== undefined) yield frame;
    if (frame?.kind === "end") return;
  }
  throw new FrameError("the answer has no end");
}

function frameOf(kind: number, content: Buffer): Frame | undefined {
  switch (kind) {
    case frameKinds.alive:
      return undefined;
    case frameKinds.message:
      return { kind: "message", message: content };
    case frameKinds.header: {
      const [name, value] = textsIn(content);
      if (typeof name !== "string" || typeof value !== "string") throw new FrameError("no header");
      return { kind: "header", name, value };
    }
    case frameKinds.end: {
      const [code, details = ""] = textsIn(content);
      if (code === undefined) return { kind: "end", failure: undefined };
      if (typeof code !== "number" || typeof details !== "string") throw new FrameError("no end");
      return { kind: "end", failure: { code, details } };
    }
    default:
      throw new FrameError("a frame of no kind");
  }
}

function textsIn(content: Buffer): readonly unknown[] {
  try {
    const list = JSON.parse(content.toString()) as unknown;
    if (Array.isArray(list)) return list;
  } catch {
    // The other end is no gateway of ours.
  }
  throw new FrameError("a frame without its texts");
}

function lengthIn(head: Buffer, at: number, max: number): number {
  const length = head.readUInt32BE(at);
  if (length > max) throw new FrameError("a frame is too long");
  return length;
}

/** The bytes of a stream, in pieces of asked lengths. */
class Pieces {
  readonly #from: AsyncIterator<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#from = body[Symbol.asyncIterator]();
  }

  /** Waits until so many are here. False at the end of the stream; throws when it ends amid them. */
  async has(length: number): Promise<boolean> {
    while (this.#length < length) {
      const step = await this.#from.next();
      if (step.done !== true) {
        this.#chunks.push(step.value);
        this.#length += step.value.length;
      } else if (this.#length === 0) return false;
      else throw new FrameError("the stream ends amid a frame");
    }
    return true;
  }

  async take(length: number): Promise<Buffer> {
    if (length > 0 && !(await this.has(length)))
      throw new FrameError("the stream ends amid a frame");
    return this.taken(length);
  }

  /** Bytes that are here: where they lie in one chunk they are not copied. */
  taken(length: number): Buffer {
    const [first = new Uint8Array(0)] = this.#chunks;
    const all =
      first.length >= length
        ? Buffer.from(first.buffer, first.byteOffset, first.length)
        : Buffer.concat(this.#chunks, this.#length);
    const rest = all.subarray(length);
    const others = first.length >= length ? this.#chunks.slice(1) : [];
    this.#chunks = rest.length > 0 ? [rest, ...others] : others;
    this.#length -= length;
    return all.subarray(0, length);
  }
}
