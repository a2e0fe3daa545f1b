/**
 * PGlite's own files, 6 MB of them in one, are read from the disk when PostgreSQL asks for one. PGlite holds them all in
 * memory, and of those a running database needs next to none: what makes a new one, conversions of character sets, and
 * dictionaries. Not the files of a database.
 */
import { fstatSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** What is used of a file or folder in Emscripten's memory: the bytes of a file, the names in a folder. */
export interface FileNode {
  contents?: Uint8Array | Readonly<Record<string, FileNode>>;
  mode: number;
}

/** Where the bytes of the files lie on the disk, and how many they are. The descriptor stays open. */
export interface PackedFiles {
  readonly descriptor: number;
  readonly bytes: number;
}

/** Before PGlite reads them, so that they are the same ones even when the package is replaced later. */
export function openPackedFiles(): PackedFiles {
  const program = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  const descriptor = openSync(join(dirname(program), "pglite.data"), "r");
  return { descriptor, bytes: fstatSync(descriptor).size };
}

/** The top folder of what a PGlite takes for its disk. */
export function rootOf(pglite: { readonly Module: object }): FileNode {
  const { FS: disk } = pglite.Module as { readonly FS: { readonly root: FileNode } };
  return disk.root;
}

/** For nobody to write: what was written would be lost. */
const writable = 0o222;

/**
 * Takes the bytes of packed files below `root` out of memory. Whoever writes to such a file is refused from then on.
 * Answers whether it did: not all were there in one buffer otherwise, and each stays where it is.
 */
export function readWhenAsked(root: FileNode, { descriptor, bytes }: PackedFiles): boolean {
  const files = [...filesBelow(root)].filter(
    ({ contents }) => contents.buffer.byteLength === bytes,
  );
  const packed = files[0]?.contents.buffer;
  if (!(packed instanceof ArrayBuffer)) return false;
  const whole = files.reduce((sum, { contents }) => sum + contents.length, 0) === bytes;
  if (!whole || files.some(({ contents }) => contents.buffer !== packed)) return false;

  for (const { node, contents } of files) {
    const { byteOffset, length } = contents;
    node.mode &= ~writable;
    Object.defineProperty(node, "contents", {
      get: () => bytesAt(descriptor, byteOffset, length),
    });
  }
  // PGlite keeps the buffer in places that nobody else can reach; whose it is no more, it holds nothing.
  structuredClone(packed, { transfer: [packed] });
  return true;
}

interface FileInMemory {
  readonly node: FileNode;
  readonly contents: Uint8Array;
}

function* filesBelow(node: FileNode): Generator<FileInMemory> {
  const { contents } = node;
  if (contents instanceof Uint8Array) yield { node, contents };
  else for (const child of Object.values(contents ?? {})) yield* filesBelow(child);
}

function bytesAt(descriptor: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let read = 0;
  while (read < length) {
    const more = readSync(descriptor, bytes, read, length - read, offset + read);
    if (more === 0) throw new Error("PGlite's files are shorter than they were");
    read += more;
  }
  return bytes;
}
