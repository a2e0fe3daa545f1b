/**
 * Gives back those pages of a memory that hold nothing but zeros: the system gives another such page to whoever comes to
 * one again, so nobody can tell the difference. It knows nothing of what the memory is for.
 */
import { platform } from "node:process";
import { addressOf, loadLibrary, type NativeFunction } from "./native.ts";

/** `MADV_DONTNEED`. */
const notNeeded = 4;

/**
 * Undefined where a system does not promise that such a page is zero afterwards. What is answered takes a memory of the
 * calling thread alone, whose beginning is that of a page, and tells how many bytes it gave back. It takes a microsecond
 * for each page that is there.
 */
export function zeroPagesGiver(): ((memory: ArrayBuffer) => number) | undefined {
  if (platform !== "linux") return undefined;
  const process = loadLibrary(null);
  const pageBytes = Number(process.get("getpagesize", { answer: "int32", takes: [] })());
  const takes = ["pointer", "uint64", "pointer"] as const;
  const look = process.get("mincore", { answer: "int32", takes });
  const advise = process.get("madvise", {
    answer: "int32",
    takes: ["pointer", "uint64", "int32"],
  });
  return (memory) => giveBack(memory, { pageBytes, look, advise });
}

interface System {
  readonly pageBytes: number;
  readonly look: NativeFunction;
  readonly advise: NativeFunction;
}

function giveBack(memory: ArrayBuffer, { pageBytes, look, advise }: System): number {
  const pages = Math.floor(memory.byteLength / pageBytes);
  const address = addressOf(memory);
  if (address % pageBytes !== 0) return 0;
  const there = new Uint8Array(pages);
  if (pages === 0 || look(address, pages * pageBytes, addressOf(there.buffer)) !== 0) return 0;

  const zeros = Buffer.alloc(pageBytes);
  const isZero = (page: number): boolean =>
    ((there[page] ?? 0) & 1) === 1 &&
    zeros.equals(Buffer.from(memory, page * pageBytes, pageBytes));
  let given = 0;
  for (let page = 0; page < pages; page += 1) {
    const from = page;
    while (page < pages && isZero(page)) page += 1;
    const bytes = (page - from) * pageBytes;
    if (bytes > 0 && advise(address + from * pageBytes, bytes, notNeeded) === 0) given += bytes;
  }
  return given;
}
