/**
 * Lines on their way to a file descriptor. A query only puts its line into a list; they are written
 * some milliseconds later, many at once, by another thread.
 *
 * A reader that stands still costs lines and no memory: what does not fit is counted, and a line says
 * so when it reads again. Not a log: it knows neither levels nor fields.
 */
import { write, writeSync } from "node:fs";
import type { Clock } from "@gateway/core/port/clock.ts";

/** Where the bytes go. */
export interface LineTarget {
  /** Calls back with how many bytes were taken, or with the code of the failure. */
  write(bytes: Uint8Array, done: (taken: number, failure: string | undefined) => void): void;
  /** Blocks. Answers how many bytes were taken, or the code of the failure. */
  writeNow(bytes: Uint8Array): number | string;
}

export interface LineSink {
  /** `line` ends with its line break. */
  write(line: string): void;
  /** Writes what waits before it returns, unless the reader stands still. */
  flush(): void;
  /** As `flush`, and with patience: for the end of the process, which gives nobody another turn. */
  end(): void;
}

const delayMs = 10;
/** A pipe takes so many at once (POSIX: PIPE_BUF), so lines of several processes never mix. */
const writeBytesMax = 4_096;
/** Characters that may wait. */
const waitingCharsMax = 8_000_000;
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
  #lines: string[] = [];
  #waitingChars = 0;
  #dropped = 0;
  /** What is left of the bytes that are written now; nothing else is begun before it is. */
  #rest: Uint8Array | undefined;
  #planned: Disposable | undefined;

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
    if (this.#waitingChars + line.length > waitingCharsMax) {
      this.#dropped += 1;
      return;
    }
    this.#lines.push(line);
    this.#waitingChars += line.length;
    this.#plan();
  }

  flush(): void {
    // One that is under way says that the reader is slow; it goes on by itself.
    if (this.#rest === undefined) this.#drain(1);
  }

  end(): void {
    this.#drain(endTries);
  }

  #plan(): void {
    if (this.#rest !== undefined) return;
    this.#planned ??= this.#clock.timer(delayMs, () => {
      this.#planned = undefined;
      this.#begin(this.#take());
    });
  }

  /** Whole lines, as many as go in one write. */
  #take(): Uint8Array | undefined {
    if (this.#dropped > 0 && this.#waitingChars < waitingCharsMax / 2) {
      const line = this.#droppedLine(this.#dropped);
      this.#lines.push(line);
      this.#waitingChars += line.length;
      this.#dropped = 0;
    }
    let count = 0;
    let length = 0;
    for (const line of this.#lines) {
      const next = length + Buffer.byteLength(line);
      if (count > 0 && next > writeBytesMax) break;
      length = next;
      count += 1;
    }
    if (count === 0) return undefined;
    const lines = this.#lines.splice(0, count);
    this.#waitingChars -= lines.reduce((sum, line) => sum + line.length, 0);
    return Buffer.from(lines.join(""), "utf8");
  }

  #begin(bytes: Uint8Array | undefined): void {
    this.#rest = bytes;
    if (bytes === undefined) return;
    this.#target.write(bytes, (taken, failure) => {
      // Its end came in the meantime.
      if (this.#rest !== bytes) return;
      if (failure === "EAGAIN") {
        this.#clock.timer(delayMs, () => this.#begin(this.#rest));
        return;
      }
      // Nobody reads any more, and there is nobody to tell.
      const left = failure === undefined ? bytes.subarray(taken) : undefined;
      this.#begin(left === undefined || left.length === 0 ? this.#take() : left);
    });
  }

  #drain(tries: number): void {
    this.#planned?.[Symbol.dispose]();
    this.#planned = undefined;
    // The bytes under way are the other thread's: it writes them also when the process ends.
    this.#rest = undefined;
    let bytes = this.#take();
    for (let left = tries; bytes !== undefined;) {
      const taken = this.#target.writeNow(bytes);
      if (taken !== "EAGAIN") {
        // Nobody reads any more where it is another failure.
        const rest = typeof taken === "number" ? bytes.subarray(taken) : undefined;
        bytes = rest === undefined || rest.length === 0 ? this.#take() : rest;
        continue;
      }
      left -= 1;
      if (left === 0) break;
      sleep(endPauseMs);
    }
    this.#begin(bytes);
  }
}

/** A file descriptor of this process. */
export function descriptorTarget(descriptor: number): LineTarget {
  return {
    write: (bytes, done) =>
      write(descriptor, bytes, (failure, taken) => done(taken, failure?.code ?? undefined)),
    writeNow: (bytes) => {
      try {
        return writeSync(descriptor, bytes);
      } catch (error) {
        return error instanceof Error && "code" in error ? String(error.code) : "failed";
      }
    },
  };
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
