/** Where the lines of a process go: a file descriptor, written to in the way that suits what it leads to. */
import { constants, fstatSync, openSync, write, writeSync, type Stats } from "node:fs";
import type { LineTarget } from "./lineSink.ts";

/** A pipe takes so many at once (POSIX: PIPE_BUF), so lines of several processes never mix. */
const pipeBytes = 4_096;
/** A Unix socket takes so many as one message where Linux keeps it, and lines do not mix either. */
const socketBytes = 32_768;
/** Files and terminals are locked for as long as one write takes. */
const fileBytes = 65_536;

/** A file descriptor of this process. Only `writeNow` blocks, and only where nothing tells whether the reader is slow. */
export function descriptorTarget(descriptor: number): LineTarget {
  const stats = statsOf(descriptor);
  if (stats === undefined) return threadTarget(descriptor, pipeBytes);
  if (stats.isFile() || stats.isCharacterDevice()) return threadTarget(descriptor, fileBytes);
  if (stats.isSocket()) return threadTarget(descriptor, socketBytes);
  const again = stats.isFIFO() ? openedAgain(descriptor) : undefined;
  return again === undefined ? threadTarget(descriptor, pipeBytes) : pipeTarget(again);
}

/** Another thread writes, because the write may block. */
function threadTarget(descriptor: number, pieceBytesMax: number): LineTarget {
  return {
    pieceBytesMax,
    write: (bytes, done) =>
      write(descriptor, bytes, (failure, taken) => done(taken, failure?.code ?? undefined)),
    writeNow: (bytes) => writtenNow(descriptor, bytes),
  };
}

/** Does not block: this thread writes, in a tenth of the time that asking another one takes. */
function pipeTarget(descriptor: number): LineTarget {
  return {
    pieceBytesMax: pipeBytes,
    write: (bytes, done) => {
      const taken = writtenNow(descriptor, bytes);
      if (taken === "EAGAIN") return done(0, taken);
      // The next piece in another turn: there may be megabytes of them.
      if (typeof taken === "number") setImmediate(done, taken, undefined);
      else setImmediate(done, 0, taken);
    },
    writeNow: (bytes) => writtenNow(descriptor, bytes),
  };
}

/**
 * The same pipe, opened anew without blocking. The descriptor itself stays as it is: other
 * processes share it, and they would stop waiting for the reader, too. Undefined where the system
 * does not allow it.
 */
function openedAgain(descriptor: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

function statsOf(descriptor: number): Stats | undefined {
  try {
    return fstatSync(descriptor);
  } catch {
    return undefined;
  }
}

function writtenNow(descriptor: number, bytes: Uint8Array): number | string {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "failed";
  }
}
