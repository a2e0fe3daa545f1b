/**
 * Blocks of memory that a driver's thread fills with large messages and the gateway reads where they are: nobody copies
 * them between the two processes. Both sides are in this file, because each is only right together with the other.
 *
 * A block has one owner. The thread writes into its own; a frame on the line makes it the gateway's, and another one makes
 * it the thread's again. So what is being read never changes, unless the driver's process is broken; then its rows are
 * wrong, as they would be over a socket. What an answer left in a block is cleared before another answer gets it.
 */
import { closeSync } from "node:fs";
import { addressOf, type Address } from "./native.ts";
import { clearShared, createShared, mapShared, unmapShared } from "./sharedMemory.ts";

/** Of a line. The gateway has some with its client, and the thread fills one meanwhile. */
const blocksOfLine = 8;
/** Room for a message of a megabyte and some rows more; what is not written takes no memory. */
const blockBytes = 2 << 20;
/** Smaller messages are not worth a block: the gateway gathers them. */
const sharedBytesMin = 128 << 10;
/** How long the thread waits for a block before it sends a message over the line. Milliseconds. */
const waitMs = 100;

const lineBytes = blocksOfLine * blockBytes;

/** The memory of a process's lines, as the gateway has it. */
export class SharedMemory {
  readonly descriptor: number;
  #lines: number;

  private constructor(descriptor: number, lines: number) {
    this.descriptor = descriptor;
    this.#lines = lines;
  }

  /** Undefined where there is none: messages go over the lines then. */
  static of(lines: number): SharedMemory | undefined {
    const descriptor = createShared(lines * lineBytes);
    return descriptor === undefined ? undefined : new SharedMemory(descriptor, lines);
  }

  /** A line has read everything. After the last one nothing new can be mapped. */
  leave(): void {
    this.#lines -= 1;
    if (this.#lines === 0) closeSync(this.descriptor);
  }
}

/** How a thread waits for what it is told over its line. */
export interface Returns {
  /** The next block that is the thread's again; undefined when none came within so many milliseconds. */
  within(ms: number): number | undefined;
}

/** The side of the thread that calls the driver. */
export class WritableBlocks {
  readonly #descriptor: number;
  readonly #from: number;
  readonly #mapped: (ArrayBuffer | undefined)[] = [];
  readonly #numbers = new Map<ArrayBuffer, number>();
  /** Its own, with nothing in them. */
  readonly #clean = Array.from({ length: blocksOfLine }, (_, at) => at);
  /** Its own again, with something of this answer; the last one is likely still in the processor's cache. */
  readonly #used: number[] = [];
  /** Its own, being written. */
  readonly #written = new Set<number>();
  /** The gateway's, with something of this answer, and of one before it. */
  readonly #sent = new Set<number>();
  readonly #before = new Set<number>();
  #patient = true;

  /** Of the line of that number in the memory of a descriptor. */
  constructor(descriptor: number, line: number) {
    this.#descriptor = descriptor;
    this.#from = line * lineBytes;
  }

  /** A block for a message of that many bytes; undefined: it has to go over the line. */
  take(bytes: number, returns: Returns): Uint8Array<ArrayBuffer> | undefined {
    if (bytes < sharedBytesMin || bytes > blockBytes) return undefined;
    const number = this.#next() ?? this.#awaited(returns);
    if (number === undefined) return undefined;
    const block = this.#block(number);
    if (block === undefined) return undefined;
    this.#written.add(number);
    return new Uint8Array(block, 0, bytes);
  }

  /** The number of the block whose memory that is. */
  numberOf(memory: ArrayBuffer): number | undefined {
    return this.#numbers.get(memory);
  }

  /** The gateway was told of it, and owns it. */
  sent(number: number): void {
    this.#written.delete(number);
    this.#sent.add(number);
  }

  /** The gateway gave it back. */
  returned(number: number): void {
    if (this.#before.delete(number)) return this.#clear(number);
    if (this.#sent.delete(number)) this.#used.push(number);
  }

  /** What comes now is another's answer. */
  answered(): void {
    for (const number of this.#sent) this.#before.add(number);
    for (const number of [...this.#written, ...this.#used]) this.#clear(number);
    this.#sent.clear();
    this.#written.clear();
    this.#used.length = 0;
    this.#patient = true;
  }

  #next(): number | undefined {
    return this.#used.pop() ?? this.#clean.pop();
  }

  /** A gateway whose client takes nothing gives nothing back; once waited for in vain it is not waited for again. */
  #awaited(returns: Returns): number | undefined {
    while (this.#patient) {
      const number = returns.within(waitMs);
      if (number === undefined) this.#patient = false;
      else this.returned(number);
      const next = this.#next();
      if (next !== undefined) return next;
    }
    for (let number = returns.within(0); number !== undefined; number = returns.within(0)) {
      this.returned(number);
    }
    return this.#next();
  }

  #clear(number: number): void {
    // What can not be cleared is not used again.
    if (clearShared(this.#descriptor, this.#from + number * blockBytes, blockBytes)) {
      this.#clean.push(number);
    }
  }

  /** Mapped once; one that can not be is not asked for again. */
  #block(number: number): ArrayBuffer | undefined {
    const known = this.#mapped[number];
    if (known !== undefined) return known;
    const block = mapShared(this.#descriptor, this.#from + number * blockBytes, blockBytes);
    if (block === undefined) return undefined;
    this.#mapped[number] = block;
    this.#numbers.set(block, number);
    return block;
  }
}

/** A message in a block, and how its reader says that it was read. */
export interface SharedMessage {
  readonly message: Uint8Array<ArrayBuffer>;
  /** From here on the bytes may change. Done once, whoever calls it how often. */
  readonly release: () => void;
}

/** What is left to do once nobody can read a block any more. */
interface Forgotten {
  readonly blocks: ReadableBlocks;
  readonly number: number;
  readonly address: Address;
}

/** The collector knows best when a client's broken connection holds the last message no more. */
const forgotten = new FinalizationRegistry<Forgotten>(({ blocks, number, address }) => {
  unmapShared(address, blockBytes);
  blocks.lost(number);
});

/** The side of the gateway, for one line. */
export class ReadableBlocks {
  readonly #memory: SharedMemory;
  readonly #from: number;
  readonly #giveBack: (block: number) => void;
  /** Those that are with the thread, where they were read before. */
  readonly #known: (ArrayBuffer | undefined)[] = [];
  readonly #reading = new Set<number>();
  #closed = false;

  constructor(memory: SharedMemory, line: number, giveBack: (block: number) => void) {
    this.#memory = memory;
    this.#from = line * lineBytes;
    this.#giveBack = giveBack;
  }

  /** The message of so many bytes in a block. Throws where no thread could have written one. */
  read(number: number, length: number): SharedMessage {
    const isOurs = number >= 0 && number < blocksOfLine && !this.#reading.has(number);
    if (!isOurs || length > blockBytes) throw new RangeError(`a frame of the block ${number}`);
    const block = this.#known[number] ?? this.#map(number);
    // Who reads it keeps it; without a reader it is collected, and given back then.
    this.#known[number] = undefined;
    this.#reading.add(number);
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      this.#reading.delete(number);
      if (this.#closed) return;
      this.#known[number] = block;
      this.#giveBack(number);
    };
    return { message: new Uint8Array(block, 0, length), release };
  }

  /** Nobody has a block of that number mapped any more. */
  lost(number: number): void {
    if (!this.#reading.delete(number) || this.#closed) return;
    this.#giveBack(number);
  }

  /** Its line has ended. What is being read stays until it was. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#known.length = 0;
    this.#memory.leave();
  }

  #map(number: number): ArrayBuffer {
    const block = mapShared(this.#memory.descriptor, this.#from + number * blockBytes, blockBytes);
    if (block === undefined) throw new RangeError("no room for a block");
    forgotten.register(block, { blocks: this, number, address: addressOf(block) });
    return block;
  }
}
