/** The blocks of an answer as its bytes arrive, and how the answer ended. */
import { waited, type Reading } from "@gateway/core/query/course.ts";
import { readBlock, type Begun, type Block, type BlockRead } from "../page/block.ts";
import type { Body, BodyStep } from "./exchange.ts";

/** How an answer ended. An exception may come in the middle, as text behind whole blocks. */
export type StreamEnd =
  | { readonly kind: "complete" }
  | { readonly kind: "exception"; readonly text: string }
  | { readonly kind: "unsupported"; readonly type: string }
  | { readonly kind: "broken"; readonly reason: string };

/** A block is some 65,000 rows; beyond this no memory is taken for one. */
const blockBytesMax = 512 * 1024 * 1024;
/** How much of a broken answer is looked through for the reason. */
const textBytesMax = 256 * 1024;
/** How much of what was read is looked through as well. */
const tailBytes = 16 * 1024;

/** The blocks of an answer in order, and behind the last one how it ended. What was not asked for is not read. */
export function blocksOf(body: Pick<Body, "next">): Blocks {
  return new Blocks(body);
}

class Blocks {
  readonly #source: Pick<Body, "next">;
  /**
   * What arrived since the window was read, behind its unread rest; how many bytes that is; and from how
   * many on it is read again.
   */
  #parts: Uint8Array[] = [];
  #held = 0;
  #wanted = 1;
  /** Whole blocks are read from it, from `#at` on; undefined when none is left in it. */
  #window: Uint8Array | undefined;
  #at = 0;
  #blocks = 0;
  /** Why nothing comes behind the window; undefined while something may. */
  #over: Exclude<BodyStep, { kind: "bytes" }> | undefined;
  #begun: Begun | undefined;
  /** Bytes of the begun block that were read, and the last of all that were. */
  #before = 0;
  #behind: Uint8Array = new Uint8Array(0);

  constructor(source: Pick<Body, "next">) {
    this.#source = source;
  }

  /** Not called again before it answered, nor behind the end. */
  *next(): Reading<IteratorResult<Block, StreamEnd>> {
    for (;;) {
      const window = this.#window ?? (yield* this.#filled());
      const read = readBlock(this.#at === 0 ? window : window.subarray(this.#at), this.#begun);
      if (read.kind === "block") {
        this.#at += read.bytes;
        this.#blocks += 1;
        this.#begun = undefined;
        return { done: false, value: read.block };
      }
      const end = yield* this.#stopped(window, read);
      if (end !== undefined) return { done: true, value: end };
    }
  }

  /** Waits for as much as is worth a look, or for the end. */
  *#filled(): Reading<Uint8Array> {
    while (this.#over === undefined) {
      const step = yield* next(this.#source);
      if (step.kind === "bytes") {
        this.#parts.push(step.bytes);
        this.#held += step.bytes.length;
        if (this.#held >= this.#wanted) break;
      } else {
        // What was waited for beyond a block's end never comes: the block may be whole.
        this.#over = step;
      }
    }
    this.#window = joined(this.#parts, this.#held);
    this.#at = 0;
    this.#blocks = 0;
    return this.#window;
  }

  /** The window has no more whole blocks: keeps what is left of it, or says how the answer ended. */
  *#stopped(
    window: Uint8Array,
    read: Exclude<BlockRead, { kind: "block" }>,
  ): Reading<StreamEnd | undefined> {
    const at = read.kind === "short" ? this.#at + read.bytes : this.#at;
    this.#behind = tailOf(this.#behind, window.subarray(0, at));
    const rest = window.subarray(at);
    if (read.kind === "short") this.#begun = read.begun;
    if (this.#over !== undefined) {
      const open = rest.length > 0 || this.#begun !== undefined;
      return endOf(open ? joined([this.#behind, rest]) : rest, this.#over, open);
    }
    if (read.kind !== "short") {
      return yield* reasonOf(joined([this.#behind, rest]), this.#source, read);
    }
    this.#before =
      this.#begun === undefined ? 0 : (this.#blocks > 0 ? 0 : this.#before) + read.bytes;
    // Reading again from the start of a column costs; half as much again keeps it linear.
    this.#wanted = rest.length + Math.max(read.missing, rest.length >> 1);
    if (this.#before + this.#wanted > blockBytesMax)
      return { kind: "broken", reason: "a block beyond the limit" };
    this.#parts = [rest];
    this.#held = rest.length;
    this.#window = undefined;
    return undefined;
  }
}

/** The end of what was read, in which the text of an exception may have been taken for values. */
function tailOf(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return before;
  if (before.length === 0 || bytes.length >= tailBytes) return bytes.subarray(-tailBytes);
  const all = joined([before, bytes]);
  return all.subarray(Math.max(0, all.length - tailBytes));
}

function* next(source: Pick<Body, "next">): Reading<BodyStep> {
  const step = source.next();
  return step instanceof Promise ? yield* waited(step) : step;
}

/** `open`: it ends inside a block. */
function endOf(
  window: Uint8Array,
  step: Exclude<BodyStep, { kind: "bytes" }>,
  open: boolean,
): StreamEnd {
  const text = open ? exceptionIn(window) : undefined;
  if (text !== undefined) return { kind: "exception", text };
  if (step.kind === "failed") return { kind: "broken", reason: step.reason };
  return open ? { kind: "broken", reason: "it ends inside a block" } : { kind: "complete" };
}

/** Bytes that are no block are often the text of an exception: looked for in what comes. */
function* reasonOf(
  window: Uint8Array,
  source: Pick<Body, "next">,
  read:
    | { readonly kind: "unsupported"; readonly type: string }
    | { readonly kind: "broken"; readonly reason: string },
): Reading<StreamEnd> {
  const parts = [window];
  let held = window.length;
  while (held < textBytesMax) {
    const step = yield* next(source);
    if (step.kind !== "bytes") break;
    parts.push(step.bytes);
    held += step.bytes.length;
  }
  const text = exceptionIn(joined(parts, held));
  return text === undefined ? read : { kind: "exception", text };
}

const exceptionMark = Buffer.from("Code: ");

/** The text of an exception that a server wrote behind its blocks. */
function exceptionIn(bytes: Uint8Array): string | undefined {
  const tail = bytes.subarray(Math.max(0, bytes.length - textBytesMax));
  const at = Buffer.from(tail.buffer, tail.byteOffset, tail.length).indexOf(exceptionMark);
  if (at < 0) return undefined;
  const text = new TextDecoder().decode(tail.subarray(at));
  return /^Code: \d+\. DB::/.test(text) ? text.split("\n__exception__")[0] : undefined;
}

function joined(parts: readonly Uint8Array[], length?: number): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return Buffer.concat(parts, length);
}
