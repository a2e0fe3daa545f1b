/**
 * Lines on their way to a target. A query only adds its line to those that wait; they are written
 * some milliseconds later, many at once.
 *
 * A reader that stands still costs lines, not memory: lines that do not fit are counted, and a line
 * reports them when the reader goes on. It is no log: it knows neither levels nor fields, nor what
 * the target is.
 */
import type { Clock } from "@gateway/core/port/clock.ts";

/** Where the bytes go. */
export interface LineTarget {
  /** Bytes that one write may have so that the lines of several processes stay apart; a longer line goes alone. */
  readonly pieceBytesMax: number;
  /** Calls back with how many bytes were taken, or with the code of the failure; at once only with `EAGAIN`. */
  write(bytes: Uint8Array, done: (taken: number, failure: string | undefined) => void): void;
  /** May block. Answers how many bytes were taken, or the code of the failure. */
  writeNow(bytes: Uint8Array): number | string;
}

export interface LineSink {
  /** `line` ends with its line break. */
  write(line: string): void;
  /** Writes what waits before it returns, unless the reader stands still. */
  flush(): void;
  /** Like `flush`, but waits for a slow reader: for the end of the process, after which nothing is written. */
  end(): void;
}

const delayMs = 10;
/** Every write wakes a thread and then the event loop, so lines wait for more. */
const delayBusyMs = 50;
const busyBytes = 4_096;
/** Bytes that may wait. */
const waitingBytesMax = 8_000_000;
/** Of UTF-8, for one UTF-16 unit. */
const unitBytesMax = 3;
/** How long the end waits for a full pipe. */
const endTries = 50;
const endPauseMs = 10;

/** `droppedLine`: what is said of lines that did not fit. */
export function lineSink(
  target: LineTarget,
  clock: Pick<Clock, "timer">,
  droppedLine: (count: number) => string,
): LineSink {
  return new Sink(target, clock, droppedLine);
}

class Sink implements LineSink {
  readonly #target: LineTarget;
  readonly #clock: Pick<Clock, "timer">;
  readonly #droppedLine: (count: number) => string;
  /** Pieces of joined lines, ready to be written, oldest first. Nothing is added to them any more. */
  readonly #pieces: Buffer[] = [];
  /**
   * The piece that grows, and how much of it is used. It has bytes and no text: a text that grows is a tree of all its
   * lines until it is written, which the collector copies meanwhile.
   */
  #open: Buffer | undefined;
  #openBytes = 0;
  #waitingBytes = 0;
  #dropped = 0;
  #busy = false;
  /** What is left of the piece that is being written. No other piece begins before it is done. */
  #rest: Uint8Array | undefined;
  /** The target took nothing of `#rest` and is asked again later. */
  #refused = false;
  #planned: Disposable | undefined;
  readonly #onTime = (): void => {
    this.#planned = undefined;
    this.#busy = this.#pieces.length > 0 || this.#openBytes >= busyBytes;
    this.#close();
    this.#goOn(undefined);
  };

  constructor(
    target: LineTarget,
    clock: Pick<Clock, "timer">,
    droppedLine: (count: number) => string,
  ) {
    this.#target = target;
    this.#clock = clock;
    this.#droppedLine = droppedLine;
  }

  write(line: string): void {
    if (this.#waitingBytes + line.length > waitingBytesMax) {
      this.#dropped += 1;
      return;
    }
    this.#add(line);
    if (this.#rest === undefined) this.#plan();
  }

  flush(): void {
    // A write that is under way means that the reader is slow. It goes on by itself.
    if (this.#rest === undefined) this.#drain(1);
  }

  end(): void {
    this.#drain(endTries);
  }

  #add(line: string): void {
    const { pieceBytesMax } = this.#target;
    let bytesMax = line.length * unitBytesMax;
    // That bound is too long for most lines, which have a byte for each unit.
    if (this.#openBytes + bytesMax > pieceBytesMax) bytesMax = Buffer.byteLength(line);
    if (this.#openBytes + bytesMax > pieceBytesMax) this.#close();
    this.#open ??= Buffer.allocUnsafeSlow(Math.max(pieceBytesMax, bytesMax));
    const bytes = this.#open.write(line, this.#openBytes, "utf8");
    this.#openBytes += bytes;
    this.#waitingBytes += bytes;
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.#pieces.push(this.#open.subarray(0, this.#openBytes));
    this.#open = undefined;
    this.#openBytes = 0;
  }

  #plan(): void {
    this.#planned ??= this.#clock.timer(this.#busy ? delayBusyMs : delayMs, this.#onTime);
  }

  /** The oldest finished piece. With `all`, when none is finished, the one that still grows. */
  #take(all: boolean): Uint8Array | undefined {
    if (this.#dropped > 0 && this.#waitingBytes < waitingBytesMax / 2) {
      this.#add(this.#droppedLine(this.#dropped));
      this.#dropped = 0;
    }
    if (all && this.#pieces.length === 0) this.#close();
    const piece = this.#pieces.shift();
    if (piece === undefined) return undefined;
    this.#waitingBytes -= piece.length;
    return piece;
  }

  /** Writes the rest of a piece, then all others, one after the other. */
  #goOn(rest: Uint8Array | undefined): void {
    const bytes = rest ?? this.#take(false);
    this.#rest = bytes;
    this.#refused = false;
    if (bytes === undefined) {
      if (this.#openBytes > 0) this.#plan();
      return;
    }
    this.#target.write(bytes, (taken, failure) => {
      // The write ended in the meantime.
      if (this.#rest !== bytes) return;
      if (failure !== "EAGAIN") return this.#goOn(leftOf(bytes, failure ?? taken));
      this.#refused = true;
      this.#clock.timer(delayMs, () => {
        if (this.#rest === bytes) this.#goOn(bytes);
      });
    });
  }

  #drain(tries: number): void {
    this.#planned?.[Symbol.dispose]();
    this.#planned = undefined;
    // Bytes under way belong to the other thread, which writes them even when the process ends;
    // unless it refused them.
    let bytes = (this.#refused ? this.#rest : undefined) ?? this.#take(true);
    this.#rest = undefined;
    for (let left = tries; bytes !== undefined;) {
      const taken = this.#target.writeNow(bytes);
      if (taken !== "EAGAIN") {
        bytes = leftOf(bytes, taken) ?? this.#take(true);
        continue;
      }
      left -= 1;
      if (left === 0) break;
      sleep(endPauseMs);
    }
    this.#goOn(bytes);
  }
}

/** What is still to be written of `bytes`. After a failure nothing: nobody reads any more, and there is nobody to tell. */
function leftOf(bytes: Uint8Array, taken: number | string): Uint8Array | undefined {
  return typeof taken === "number" && taken < bytes.length ? bytes.subarray(taken) : undefined;
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
