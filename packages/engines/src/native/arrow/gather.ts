/**
 * Gathers the arrays of a driver's stream into IPC messages of a good size.
 *
 * Drivers hand over small arrays (DuckDB 2,048 rows). Each message costs a few microseconds on both
 * threads, so several arrays go into one. An array that is too large goes into several. Values are
 * copied once, from the driver's memory into the message.
 */
import { arrayStruct } from "../memory/abi.ts";
import { childAt, readArray, releaseArray } from "./cdata.ts";
import { draftBatch, type MessageBytes, type TakeMemory } from "./ipc.ts";
import type { Layout } from "./layout.ts";
import { addressOf, copy, type Address, type MemoryBlock } from "../memory/native.ts";
import type { BodyPlan, Chunk, Sink } from "./sink.ts";
import { sinkOf } from "./sinks.ts";
import { arraysHeldMax } from "../memory/structs.ts";

/** A message is sent when it has about this many bytes unless others were asked for, or this many rows. */
const messageBytesWanted = 256 << 10;
const messageRowsMax = 32_768;
/** A message that would be larger is split, down to single rows. */
const messageBytesMax = 4 << 20;

export interface GathererOptions {
  /** About the bytes of a message, once rows enough have come. */
  readonly bytesWanted?: number | undefined;
  /** Where messages are written; absent: each in memory of its own. */
  readonly memory?: TakeMemory | undefined;
}

export class Gatherer implements Disposable {
  readonly #columns: readonly Sink[];
  readonly #structs: MemoryBlock;
  readonly #bytesWanted: number;
  readonly #memory: TakeMemory | undefined;
  #held = 0;
  #rows = 0;
  /** Rows that make a message of the wanted size, as far as is known. */
  #rowsWanted = 1;

  /** `arrays` has room for `arraysHeldMax` structs, all zero. */
  constructor(
    columns: readonly Layout[],
    arrays: MemoryBlock,
    { bytesWanted = messageBytesWanted, memory }: GathererOptions = {},
  ) {
    this.#columns = columns.map(sinkOf);
    this.#structs = arrays;
    this.#bytesWanted = bytesWanted;
    this.#memory = memory;
  }

  /** Where the driver writes its next array. `take` keeps it. Throws when the block is full: behind it lies other memory. */
  get next(): Address {
    if (this.#held >= arraysHeldMax) throw new RangeError("no room for another array");
    return this.#structs.address + this.#held * arrayStruct.bytes;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Keeps the array at `next` until `messages` was called. */
  take(): void {
    const { length } = readArray(this.next);
    if (length <= 0) return releaseArray(this.next);
    this.#held += 1;
    this.#rows += length;
  }

  /** True when there is no room for another array: what is held must become messages now, whatever the time. */
  get crowded(): boolean {
    return this.#held >= arraysHeldMax;
  }

  /** True when what is held makes a message. The first array does, so that a client sees its first rows at once. */
  get full(): boolean {
    return this.crowded || this.#rows >= this.#rowsWanted;
  }

  /** Makes everything held into messages, usually one, and gives the arrays back to the driver. */
  *messages(): Generator<MessageBytes, void, void> {
    if (this.#rows === 0) return;
    const rows = this.#rows;
    let bytes = 0;
    try {
      for (const message of this.#split(0, rows)) {
        bytes += message.byteLength;
        yield message;
      }
    } finally {
      this.#giveBack();
    }
    const wanted = Math.floor((this.#bytesWanted * rows) / bytes);
    this.#rowsWanted = Math.min(Math.max(wanted, 1), messageRowsMax);
  }

  [Symbol.dispose](): void {
    this.#giveBack();
  }

  *#split(from: number, to: number): Generator<MessageBytes, void, void> {
    const plan = this.#plan(from, to);
    const bytes = plan.buffers.reduce((sum, { length }) => sum + length, 0);
    if (bytes <= messageBytesMax || to - from <= 1) {
      yield laidOut(plan, to - from, this.#memory);
      return;
    }
    const middle = from + Math.ceil((to - from) / 2);
    yield* this.#split(from, middle);
    yield* this.#split(middle, to);
  }

  /** Plans rows `from` to `to`, counted over all arrays that are held. */
  #plan(from: number, to: number): BodyPlan {
    const plan: BodyPlan = { nodes: [], buffers: [] };
    for (const column of this.#columns) column.reset();
    let before = 0;
    for (let index = 0; index < this.#held; index += 1) {
      const array = readArray(this.#structs.address + index * arrayStruct.bytes);
      const start = Math.max(from - before, 0);
      const end = Math.min(to - before, array.length);
      before += array.length;
      if (end <= start) continue;
      for (const [column, sink] of this.#columns.entries()) {
        sink.add(childAt(array, column), array.offset + start, end - start);
      }
    }
    for (const column of this.#columns) column.plan(plan);
    return plan;
  }

  #giveBack(): void {
    for (let index = 0; index < this.#held; index += 1) {
      releaseArray(this.#structs.address + index * arrayStruct.bytes);
    }
    // The driver may have left an array in the next place without handing it over.
    this.#structs.clear();
    this.#held = 0;
    this.#rows = 0;
  }
}

function laidOut(plan: BodyPlan, rows: number, memory: TakeMemory | undefined): MessageBytes {
  const bufferLengths = plan.buffers.map(({ length }) => length);
  const { message, offsets } = draftBatch({ rows, nodes: plan.nodes, bufferLengths }, memory);
  const address = addressOf(message.buffer);
  for (const [index, { chunks }] of plan.buffers.entries()) {
    fill(message, address, offsets[index] ?? 0, chunks);
  }
  return message;
}

function fill(
  message: MessageBytes,
  address: Address,
  offset: number,
  chunks: readonly Chunk[],
): void {
  let at = offset;
  for (const chunk of chunks) {
    if (chunk.kind === "ours") {
      message.set(chunk.bytes, at);
      at += chunk.bytes.length;
    } else {
      copy(address + at, chunk.address, chunk.length);
      at += chunk.length;
    }
  }
}
