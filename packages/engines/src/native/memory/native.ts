/**
 * Memory and functions of native libraries, over koffi: the only file that knows koffi.
 *
 * It knows nothing of ADBC or Arrow. Calls run on the calling thread and block it; koffi's
 * asynchronous calls take libuv's few threads from files and DNS, so only one that is rare and short is one.
 */
import { arch, platform } from "node:process";
import koffi from "koffi";

/** A place in this process's memory. User-space addresses stay below 2^53, so a number holds them exactly. 0 is NULL. */
export type Address = number;

/** C types of a function's arguments and answer. `status` is ADBC's one-byte status code. */
export type CType =
  | "pointer"
  | "text"
  | "int32"
  | "int64"
  | "uint64"
  | "status"
  | "double"
  | "void";

export type NativeFunction = (...values: readonly (Address | string | null)[]) => unknown;

export interface Signature {
  readonly answer: CType;
  readonly takes: readonly CType[];
}

/** A loaded shared library. It stays loaded for the life of the process. */
export interface Library {
  /** Undefined when the library does not export `symbol`. */
  find(symbol: string, signature: Signature): NativeFunction | undefined;
  /** Where a function lies; undefined when it is not exported. */
  addressOf(symbol: string): Address | undefined;
  /** Like `find`; a missing symbol is a bug of whoever chose the library. */
  get(symbol: string, signature: Signature): NativeFunction;
}

const cTypes = {
  pointer: "void *",
  text: "str",
  int32: "int32_t",
  int64: "int64_t",
  uint64: "uint64_t",
  status: "uint8_t",
  double: "double",
  void: "void",
} as const satisfies Record<CType, string>;

/** Deeply nested SQL recurses in the engine's parser; koffi's own default of 2 MiB is too little for that. */
const stackBytes = 16 << 20;

// Must come before the first library is loaded in this thread.
koffi.config({ sync_stack_size: stackBytes });
const process = koffi.load(null);
const copyBytes = process.func("memcpy", "void *", [
  "void *",
  "void *",
  "size_t",
]) as NativeFunction;
const allocateZeroed = process.func("calloc", "void *", ["size_t", "size_t"]) as (
  count: number,
  size: number,
) => bigint | number | null;
const releaseBytes = process.func("free", "void", ["void *"]) as NativeFunction;

/** Loads a library by its path; null is the process itself with its C library. Throws the loader's own error when it can not. */
export function loadLibrary(path: string | null): Library {
  const library = koffi.load(path);
  const find: Library["find"] = (symbol, { answer, takes }) => {
    try {
      return library.func(
        symbol,
        cTypes[answer],
        takes.map((type) => cTypes[type]),
      ) as NativeFunction;
    } catch {
      return undefined;
    }
  };
  return {
    find,
    addressOf: (symbol) => {
      try {
        return Number(library.symbol(symbol));
      } catch {
        return undefined;
      }
    },
    get: (symbol, signature) => {
      const found = find(symbol, signature);
      if (found === undefined)
        throw new Error(`${path ?? "the process"} does not export ${symbol}`);
      return found;
    },
  };
}

/**
 * A native function of one pointer that writes NULL at `offset` behind it, or undefined on a platform
 * whose instructions are not known here.
 *
 * Foreign code calls it on threads of its own, where a JavaScript callback would wait for ever, and no C
 * library has such a function: so it is two machine instructions in a page of its own, which is first
 * written and then executable, never both.
 */
export function nullWriter(offset: number): Address | undefined {
  const code = instructionsOf(offset);
  if (code === undefined) return undefined;
  const map = process.func("mmap", "void *", ["void *", "size_t", "int", "int", "int", "int64_t"]);
  const protect = process.func("mprotect", "int", ["void *", "size_t", "int"]);
  const page = Number(map(null, pageBytes, readWrite, privateAnonymous, -1, 0));
  if (page <= 0 || !Number.isSafeInteger(page)) return undefined;
  copy(page, addressOf(code.buffer), code.length);
  return Number(protect(page, pageBytes, readExecute)) === 0 ? page : undefined;
}

const pageBytes = 4096;
/** `PROT_…` and `MAP_…` of Linux. */
const readWrite = 3;
const readExecute = 5;
const privateAnonymous = 0x22;

/** `mov qword [rdi + offset], 0; ret` and `str xzr, [x0, offset]; ret`. */
function instructionsOf(offset: number): Uint8Array<ArrayBuffer> | undefined {
  if (platform !== "linux") return undefined;
  if (arch === "x64") return Uint8Array.of(0x48, 0xc7, 0x47, offset, 0, 0, 0, 0, 0xc3);
  if (arch !== "arm64") return undefined;
  const words = Uint32Array.of(0xf900_001f | ((offset / 8) << 10), 0xd65f_03c0);
  return new Uint8Array(words.buffer);
}

/**
 * Two sockets that are connected with each other, as descriptors that no child inherits by accident. Both
 * block; the caller closes them. Throws when there are no more descriptors, or where there are no such sockets.
 */
export function socketPair(): { readonly ours: number; readonly theirs: number } {
  const pair = process.func("socketpair", "int", ["int", "int", "int", "void *"]);
  const found = new Int32Array(2);
  const made = Number(pair(unixFamily, streamType | closeOnExec, 0, addressOf(found.buffer)));
  const [ours, theirs] = found;
  if (made !== 0 || ours === undefined || theirs === undefined)
    throw new Error("no sockets for a process of a driver");
  setBufferSize(theirs);
  return { ours, theirs };
}

/** Asks for room for a whole message, so that the other thread goes on while this one reads; the system gives what it allows. */
function setBufferSize(socket: number): void {
  if (platform !== "linux") return;
  const set = process.func("setsockopt", "int", ["int", "int", "int", "void *", "uint32"]);
  set(socket, socketLevel, sendBuffer, addressOf(Int32Array.of(messageBytes).buffer), 4);
}

/** `SOL_SOCKET` and `SO_SNDBUF` of Linux. */
const socketLevel = 1;
const sendBuffer = 7;
const messageBytes = 1 << 20;

/** `AF_UNIX`, `SOCK_STREAM` and `SOCK_CLOEXEC` of Linux; elsewhere a child may inherit one, which only keeps it open. */
const unixFamily = 1;
const streamType = 1;
const closeOnExec = platform === "linux" ? 0x8_0000 : 0;

/** Has the system end this process when its parent ends, however that ends. Does nothing but on Linux. */
export function endWithParent(): void {
  if (platform !== "linux") return;
  const control = process.func("prctl", "int", ["int", "uint64", "uint64", "uint64", "uint64"]);
  control(parentDeathSignal, killSignal, 0, 0, 0);
}

/**
 * Gives memory that was freed back to the system, which glibc does by itself only from its ends. It takes five to
 * twenty milliseconds, of one of libuv's threads: the calling one only waits where it allocates meanwhile.
 * Undefined where there is nothing like it.
 */
export function memoryTrimmer(): ((done: () => void) => void) | undefined {
  try {
    const trim = process.func("malloc_trim", "int", ["size_t"]);
    return (done) => void trim.async(0, done);
  } catch {
    return undefined;
  }
}

/**
 * Bounds the freed memory that the C library keeps at the end of each thread's arena, and has it take blocks
 * of this size from the system alone, so that they go back when they are freed. By itself glibc raises both
 * limits with the largest block that it saw freed: each arena then keeps up to 64 MB, which trimming does
 * not touch. And new threads share the arenas that are there: by itself each gets one, in which what it freed
 * waits for that thread alone. Does nothing where there is no such setting.
 */
export function boundFreedEnds(bytes: number): void {
  if (platform !== "linux") return;
  try {
    const set = process.func("mallopt", "int", ["int", "int"]);
    set(trimThreshold, bytes);
    set(mapThreshold, bytes);
    set(arenaMax, sharedArenas);
  } catch {
    // Another C library than glibc.
  }
}

/** `M_TRIM_THRESHOLD`, `M_MMAP_THRESHOLD` and `M_ARENA_MAX`. */
const trimThreshold = -1;
const mapThreshold = -3;
const arenaMax = -8;
/** Fewer than Node has by then: no more are made. */
const sharedArenas = 2;

/** `PR_SET_PDEATHSIG` and `SIGKILL`. */
const parentDeathSignal = 1;
const killSignal = 9;

/** Copies bytes between any two places. The caller answers for both ranges. */
export function copy(to: Address, from: Address, length: number): void {
  if (length > 0) copyBytes(to, from, length);
}

/** Takes zeroed memory that `release` must give back. */
export function allocate(bytes: number): Address {
  const address = allocateZeroed(1, Math.max(bytes, 1));
  if (address === null || Number(address) === 0) throw new Error(`no memory for ${bytes} bytes`);
  return Number(address);
}

export function release(address: Address): void {
  releaseBytes(address);
}

/** Where a buffer's bytes lie. They stay there as long as the buffer lives and was not transferred. */
export function addressOf(buffer: ArrayBuffer): Address {
  return Number(koffi.address(buffer));
}

/** The memory at an address as a buffer, which nobody may use once that memory is gone. */
export function viewOf(address: Address, bytes: number): ArrayBuffer {
  return koffi.view(address, bytes);
}

/** The zero-terminated UTF-8 text at an address; "" at NULL. */
export function textAt(address: Address): string {
  return address === 0 ? "" : koffi.decode.string(address);
}

/** Reads native memory into a buffer of ours. */
export function bytesAt(address: Address, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  if (length > 0) copy(addressOf(bytes.buffer), address, length);
  return bytes;
}

const decoded = new Map<Signature, Map<Address, NativeFunction>>();

/**
 * Makes the function at an address callable. Answers are kept by the signature object, so pass a
 * constant: a driver has few callbacks, and making one costs microseconds.
 */
export function functionAt(address: Address, signature: Signature): NativeFunction {
  let known = decoded.get(signature);
  if (known === undefined) decoded.set(signature, (known = new Map<Address, NativeFunction>()));
  let found = known.get(address);
  if (found === undefined) {
    const types = signature.takes.map((type) => cTypes[type]);
    found = koffi.decode(address, koffi.proto(cTypes[signature.answer], types)) as NativeFunction;
    known.set(address, found);
  }
  return found;
}

/** One entry of a list that a driver keeps: a key and the bytes of its value. */
export interface NativeDetail {
  readonly key: string;
  readonly value: Uint8Array;
}

const detailStruct = koffi.struct({ key: "void *", value: "void *", length: "size_t" });
const detailProto = koffi.proto(detailStruct, ["void *", "int"]);

/** Calls a function that takes a struct and an index and answers a detail by value (`AdbcErrorDetail`). */
export function detailBy(address: Address, owner: Address, index: number): NativeDetail {
  const get = koffi.decode(address, detailProto) as (owner: Address, index: number) => unknown;
  const found = get(owner, index) as { readonly [K in "key" | "value" | "length"]: unknown };
  const length = Math.min(Number(found.length), detailBytesMax);
  const value = pointed(found.value);
  return { key: textAt(pointed(found.key)), value: bytesAt(value, value === 0 ? 0 : length) };
}

function pointed(place: unknown): Address {
  return place === null ? 0 : Number(place);
}

/** No driver says anything longer that is worth keeping. */
const detailBytesMax = 4_096;

/** A pointer-sized word read as a number. */
export function addressIn(view: DataView, at: number): Address {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 0x1_0000_0000;
}

/** A signed 64-bit count read as a number; counts of rows and bytes stay below 2^53. */
export function countIn(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getInt32(at + 4, true) * 0x1_0000_0000;
}

/**
 * A block of native memory that this side reads and writes in place, for the structs a driver fills.
 * Nobody may touch `view` after the block was disposed.
 */
export class MemoryBlock implements Disposable {
  readonly address: Address;
  readonly view: DataView;
  #live = true;

  constructor(bytes: number) {
    this.address = allocate(bytes);
    this.view = new DataView(viewOf(this.address, bytes));
  }

  clear(): void {
    new Uint8Array(this.view.buffer).fill(0);
  }

  pointer(at: number): Address {
    return addressIn(this.view, at);
  }

  /** Writes a pointer or a count. */
  put(at: number, value: number): void {
    this.view.setBigInt64(at, BigInt(value), true);
  }

  [Symbol.dispose](): void {
    if (!this.#live) return;
    this.#live = false;
    release(this.address);
  }
}
