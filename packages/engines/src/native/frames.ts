/**
 * What goes over a line between the gateway and a driver's thread in another process, as bytes.
 *
 * A request is its turn, its seat and a value in V8's own format. What comes back are frames: Arrow messages as
 * they are, or where they lie in memory that both processes have; everything else as a value. A large message is read
 * where it stays: nobody copies it here. Behind a message in such memory a frame says that it was read.
 */
import { deserialize, serialize } from "node:v8";
import type { LineReader } from "@gateway/core/port/threads.ts";
import { isKept, MessageMemory, newBytes } from "./memory/messageMemory.ts";
import type { ReadableBlocks } from "./memory/sharedBlocks.ts";
import type { BatchResult, Request, ThreadMessage } from "./message.ts";

/** Kind, length and the statement's type or the number of a block, each 32 bits, little-endian; then padding up to 16. */
const headerBytes = 16;
const kinds = { schema: 1, batch: 2, value: 3, block: 4 } as const;
const noType = -1;

/** Small frames of one group fit into it together, so that they are one read. What it holds of a large one is copied. */
const scratchBytes = 8 << 10;

/** Large messages that are read may wait for their sender meanwhile. */
const blocksMax = 4;

/** One row of a result may have this many. */
const frameBytesMax = 0x7fff_ffff;

/** A request, with the turn it has on its line and the seat it is for. */
export interface AskedRequest {
  readonly turn: number;
  readonly seat: number;
  readonly request: Request;
}

/** Turn, seat and length, each 32 bits, little-endian. */
const requestHeadBytes = 12;

/** A request: its turn, its seat, how long the rest is, and the rest. */
export function requestFrame({ turn, seat, request }: AskedRequest): Uint8Array {
  const body = serialize(request);
  const frame = new Uint8Array(requestHeadBytes + body.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, turn, true);
  view.setUint32(4, seat, true);
  view.setUint32(8, body.length, true);
  frame.set(body, requestHeadBytes);
  return frame;
}

/** Says that the message in a block was read. */
export function returnFrame(block: number): Uint8Array {
  const frame = new Uint8Array(requestHeadBytes);
  const view = new DataView(frame.buffer);
  view.setUint32(0, noTurn, true);
  view.setUint32(4, block, true);
  return frame;
}

/** No request has it (memory/control.ts). */
const noTurn = 0;

/** Takes bytes from a line: waits for some, and answers how many it put there; 0 at the line's end. */
type ReadLine = (into: Uint8Array) => number;

/**
 * Takes requests from a line, one after the other, with calls that wait, and tells of blocks that were given back before
 * them. Undefined at the line's end.
 */
export function nextRequest(
  read: ReadLine,
  onReturn: (block: number) => void = () => {},
): AskedRequest | undefined {
  for (;;) {
    const head = requestHead(read);
    if (head === undefined) return undefined;
    if (head.turn === noTurn) {
      onReturn(head.seat);
      continue;
    }
    const body = new Uint8Array(head.length);
    if (!filled(body, read)) return undefined;
    return { turn: head.turn, seat: head.seat, request: deserialize(body) as Request };
  }
}

/** The block that is given back next, where no request can be; undefined at the line's end. */
export function nextReturn(read: ReadLine): number | undefined {
  const head = requestHead(read);
  if (head !== undefined && head.turn !== noTurn) throw new Error("asked twice at once");
  return head?.seat;
}

function requestHead(read: ReadLine) {
  const head = new Uint8Array(requestHeadBytes);
  if (!filled(head, read)) return undefined;
  const view = new DataView(head.buffer);
  return {
    turn: view.getUint32(0, true),
    seat: view.getUint32(4, true),
    length: view.getUint32(8, true),
  };
}

function filled(bytes: Uint8Array, read: ReadLine): boolean {
  let at = 0;
  while (at < bytes.length) {
    const more = read(bytes.subarray(at));
    if (more <= 0) return false;
    at += more;
  }
  return true;
}

/** The frames of a group of messages, to be written in order. `blockOf`: the block in whose memory a message lies. */
export function messageFrames(
  messages: readonly ThreadMessage[],
  blockOf: (memory: ArrayBuffer) => number | undefined = () => undefined,
): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (const message of messages) {
    switch (message.kind) {
      case "schema":
        pieces.push(
          header(kinds.schema, message.message.byteLength, message.statementType),
          new Uint8Array(message.message),
        );
        break;
      case "batch": {
        const { byteLength, buffer } = message.message;
        const block = blockOf(buffer);
        if (block === undefined) pieces.push(header(kinds.batch, byteLength), message.message);
        else pieces.push(header(kinds.block, byteLength, block));
        break;
      }
      default: {
        const body = serialize(message);
        pieces.push(header(kinds.value, body.length), body);
      }
    }
  }
  return pieces;
}

function header(kind: number, length: number, third = noType): Uint8Array {
  const bytes = new Uint8Array(headerBytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, kind, true);
  view.setUint32(4, length, true);
  view.setInt32(8, third, true);
  return bytes;
}

/** A frame whose body is still coming. */
interface Body {
  readonly kind: number;
  readonly statementType: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  filled: number;
}

/**
 * Makes frames into messages as bytes arrive. `take` answers what the owner's `onMessages` says:
 * whether to read on. Throws on what is no frame; the process at the other end is then not to be trusted, and what
 * follows is not read: an answer without what was in that frame would look whole.
 */
export class FrameReader implements LineReader {
  readonly #onMessages: (messages: readonly ThreadMessage[]) => boolean;
  readonly #onEnd: () => void;
  readonly #blocks: ReadableBlocks | undefined;
  #broken = false;
  readonly #scratch = new Uint8Array(scratchBytes);
  #held = 0;
  #body: Body | undefined;
  #ready: ThreadMessage[] = [];
  /** Of one answer alone, so that nobody sees the rows of another in it. */
  #memory = new MessageMemory(blocksMax);

  /** `blocks`: where large messages may lie. */
  constructor(
    onMessages: (messages: readonly ThreadMessage[]) => boolean,
    onEnd: () => void,
    blocks?: ReadableBlocks,
  ) {
    this.#onMessages = onMessages;
    this.#onEnd = onEnd;
    this.#blocks = blocks;
  }

  place(): Uint8Array {
    if (this.#broken) return this.#scratch;
    const body = this.#body;
    return body === undefined
      ? this.#scratch.subarray(this.#held)
      : body.bytes.subarray(body.filled);
  }

  take(count: number): boolean {
    if (this.#broken) return true;
    if (this.#body === undefined) this.#held += count;
    else this.#body.filled += count;
    this.#broken = true;
    this.#deliver();
    this.#parse();
    this.#broken = false;
    if (this.#ready.length === 0) return true;
    const messages = this.#ready;
    this.#ready = [];
    return this.#onMessages(messages);
  }

  end(): void {
    this.#onEnd();
  }

  /** Reads what the scratch holds, and keeps the beginning of a header there. */
  #parse(): void {
    let at = 0;
    const view = new DataView(this.#scratch.buffer);
    while (this.#body === undefined && this.#held - at >= headerBytes) {
      const length = view.getUint32(at + 4, true);
      if (length > frameBytesMax) throw new RangeError(`a frame of ${length} bytes`);
      const kind = view.getUint32(at, true);
      const third = view.getInt32(at + 8, true);
      if (kind === kinds.block) {
        at += headerBytes;
        this.#ready.push(this.#inBlock(third, length));
        continue;
      }
      const body: Body = {
        kind,
        statementType: third,
        // Not zeroed first: nobody sees it before all of it was read.
        bytes: kind === kinds.batch ? this.#memory.take(length) : newBytes(length),
        filled: 0,
      };
      at += headerBytes;
      const here = Math.min(length, this.#held - at);
      body.bytes.set(this.#scratch.subarray(at, at + here));
      body.filled = here;
      at += here;
      this.#body = body;
      this.#deliver();
    }
    this.#scratch.copyWithin(0, at, this.#held);
    this.#held -= at;
  }

  #inBlock(block: number, length: number): BatchResult {
    if (this.#blocks === undefined) throw new RangeError("a frame of a block without blocks");
    return { kind: "batch", ...this.#blocks.read(block, length) };
  }

  /** Hands on the body when it is whole. */
  #deliver(): void {
    const body = this.#body;
    if (body === undefined || body.filled < body.bytes.length) return;
    this.#body = undefined;
    const message = messageOf(body, this.#memory);
    if (message.kind === "reply") this.#memory = new MessageMemory(blocksMax);
    this.#ready.push(message);
  }
}

function messageOf({ kind, statementType, bytes }: Body, memory: MessageMemory): ThreadMessage {
  switch (kind) {
    case kinds.schema:
      return {
        kind: "schema",
        message: bytes.buffer,
        statementType: statementType === noType ? undefined : statementType,
      };
    case kinds.batch:
      return batchOf(bytes, memory);
    case kinds.value:
      return deserialize(bytes) as ThreadMessage;
    default:
      throw new RangeError(`a frame of the unknown kind ${kind}`);
  }
}

function batchOf(bytes: Uint8Array<ArrayBuffer>, memory: MessageMemory): BatchResult {
  if (!isKept(bytes.length)) return { kind: "batch", message: bytes };
  let released = false;
  const release = (): void => {
    if (!released) memory.giveBack(bytes);
    released = true;
  };
  return { kind: "batch", message: bytes, release };
}
