/** The blocks of an answer as its bytes arrive, and how the answer ended. */
import { readBlock, type Begun, type Block, type BlockRead } from "./block.ts";

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

/** Yields blocks in order. Ending it early leaves the body unread; the caller destroys it. */
export async function* blocksOf(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Block, StreamEnd, void> {
  const parts: Uint8Array[] = [];
  let held = 0;
  let wanted = 1;
  let begun: Begun | undefined;
  /** Bytes of the begun block that were read, and the last of all that were. */
  let before = 0;
  let behind: Uint8Array = new Uint8Array(0);
  const source = body[Symbol.asyncIterator]();
  for (;;) {
    const step = await next(source);
    if (step.kind === "bytes") {
      parts.push(step.bytes);
      held += step.bytes.length;
      if (held < wanted) continue;
    }
    // At the end what was waited for beyond a block's end never comes: the block may be whole.
    const bytes = joined(parts, held);
    const { at, read, blocks } = yield* wholeBlocks(bytes, begun);
    behind = tailOf(behind, bytes.subarray(0, at));
    const rest = bytes.subarray(at);
    if (read.kind === "short") ({ begun } = read);
    if (step.kind !== "bytes")
      return endOf(joined([behind, rest]), step, rest.length > 0 || begun !== undefined);
    if (read.kind !== "short") return await reasonOf(joined([behind, rest]), source, read);
    before = begun === undefined ? 0 : (blocks > 0 ? 0 : before) + read.bytes;
    // Reading again from the start of a column costs; half as much again keeps it linear.
    wanted = rest.length + Math.max(read.missing, rest.length >> 1);
    if (before + wanted > blockBytesMax)
      return { kind: "broken", reason: "a block beyond the limit" };
    parts.length = 0;
    parts.push(rest);
    held = rest.length;
  }
}

/** Yields the blocks that are there whole, and answers why it stopped before the rest and what was read for good. */
async function* wholeBlocks(
  bytes: Uint8Array,
  first: Begun | undefined,
): AsyncGenerator<
  Block,
  {
    readonly at: number;
    readonly blocks: number;
    readonly read: Exclude<BlockRead, { kind: "block" }>;
  },
  void
> {
  let at = 0;
  let blocks = 0;
  let begun = first;
  for (;;) {
    const read = readBlock(bytes.subarray(at), begun);
    if (read.kind === "short") return { at: at + read.bytes, blocks, read };
    if (read.kind !== "block") return { at, blocks, read };
    at += read.bytes;
    blocks += 1;
    begun = undefined;
    yield read.block;
  }
}

/** The end of what was read, in which the text of an exception may have been taken for values. */
function tailOf(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return before;
  if (bytes.length >= tailBytes) return bytes.subarray(bytes.length - tailBytes);
  const all = joined([before, bytes]);
  return all.subarray(Math.max(0, all.length - tailBytes));
}

type Step =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "end" }
  | { readonly kind: "failed"; readonly reason: string };

async function next(source: AsyncIterator<Uint8Array>): Promise<Step> {
  try {
    const step = await source.next();
    return step.done === true ? { kind: "end" } : { kind: "bytes", bytes: step.value };
  } catch (error) {
    return { kind: "failed", reason: error instanceof Error ? error.name : "the connection broke" };
  }
}

/** `open`: it ends inside a block. */
function endOf(
  window: Uint8Array,
  step: Exclude<Step, { kind: "bytes" }>,
  open: boolean,
): StreamEnd {
  const text = open ? exceptionIn(window) : undefined;
  if (text !== undefined) return { kind: "exception", text };
  if (step.kind === "failed") return { kind: "broken", reason: step.reason };
  return open ? { kind: "broken", reason: "it ends inside a block" } : { kind: "complete" };
}

/** Bytes that are no block are often the text of an exception: looked for in what comes. */
async function reasonOf(
  window: Uint8Array,
  source: AsyncIterator<Uint8Array>,
  read:
    | { readonly kind: "unsupported"; readonly type: string }
    | { readonly kind: "broken"; readonly reason: string },
): Promise<StreamEnd> {
  const parts = [window];
  let held = window.length;
  while (held < textBytesMax) {
    const step = await next(source);
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
