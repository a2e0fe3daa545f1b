/**
 * Memory that two processes see, as a file without a name: the system's calls for it, and waiting for a descriptor. Linux
 * alone has all of them; elsewhere there is none, and messages go over sockets.
 */
import { closeSync } from "node:fs";
import { platform } from "node:process";
import {
  addressOf,
  loadLibrary,
  viewOf,
  type Address,
  type NativeFunction,
  type Signature,
} from "./native.ts";

const signatures = {
  memfd_create: { answer: "int32", takes: ["text", "int32"] },
  ftruncate: { answer: "int32", takes: ["int32", "int64"] },
  fcntl: { answer: "int32", takes: ["int32", "int32", "int64"] },
  fallocate: { answer: "int32", takes: ["int32", "int32", "int64", "int64"] },
  mmap: { answer: "pointer", takes: ["pointer", "uint64", "int32", "int32", "int32", "int64"] },
  munmap: { answer: "int32", takes: ["pointer", "uint64"] },
  poll: { answer: "int32", takes: ["pointer", "uint64", "int32"] },
} as const satisfies Record<string, Signature>;

const library = platform === "linux" ? loadLibrary(null) : undefined;
/** Made once each: making one costs more than most calls. */
const made = new Map<keyof typeof signatures, NativeFunction | undefined>();

function call(name: keyof typeof signatures, ...values: readonly (Address | string)[]): number {
  if (!made.has(name)) made.set(name, library?.find(name, signatures[name]));
  const found = made.get(name);
  return found === undefined ? -1 : Number(found(...values));
}

/**
 * A new file of that many bytes, all zero, which take no memory before they are written; its descriptor, which a child
 * inherits only by choice. It can become neither shorter nor longer: who maps it may read all of it at any time.
 * Undefined where there is nothing like it.
 */
export function createShared(bytes: number): number | undefined {
  const descriptor = call("memfd_create", "rows", closeOnExec | sealable);
  if (descriptor < 0) return undefined;
  const sized = call("ftruncate", descriptor, bytes) === 0;
  if (sized && call("fcntl", descriptor, addSeals, sealsOfSize) === 0) return descriptor;
  closeSync(descriptor);
  return undefined;
}

/** Maps a part of it; undefined when there is no room. */
export function mapShared(
  descriptor: number,
  from: number,
  bytes: number,
): ArrayBuffer | undefined {
  const address = call("mmap", 0, bytes, readWrite, shared, descriptor, from);
  return address <= 0 ? undefined : viewOf(address, bytes);
}

/** From here on nobody may read what was mapped at the address. */
export function unmapShared(address: Address, bytes: number): void {
  call("munmap", address, bytes);
}

/** Gives a part's memory back to the system: it is zero again. False when the system does not. */
export function clearShared(descriptor: number, from: number, bytes: number): boolean {
  return call("fallocate", descriptor, punchHole | keepSize, from, bytes) === 0;
}

/** Waits so many milliseconds for something to read. */
export function readableWithin(descriptor: number, ms: number): boolean {
  asked.set([descriptor, readable]);
  return call("poll", askedAt, 1, ms) === 1;
}

/** A `pollfd` that lives as long as this thread: the system writes into it during the call, which no reference would show. */
const asked = new Int32Array(2);
const askedAt = addressOf(asked.buffer);

/** `MFD_CLOEXEC`, `MFD_ALLOW_SEALING`, `F_ADD_SEALS`, and `F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW`. */
const closeOnExec = 1;
const sealable = 2;
const addSeals = 1033;
const sealsOfSize = 1 | 2 | 4;
/** `PROT_READ | PROT_WRITE`, `MAP_SHARED`. */
const readWrite = 3;
const shared = 1;
/** `FALLOC_FL_KEEP_SIZE`, `FALLOC_FL_PUNCH_HOLE`. */
const keepSize = 1;
const punchHole = 2;
/** `POLLIN`. */
const readable = 1;
