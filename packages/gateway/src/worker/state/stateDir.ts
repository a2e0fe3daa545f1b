/**
 * The worker's folder: held by one process, files written whole or not at all. It knows nothing of
 * what is in the files; secrecy is sealing.ts.
 */
import { constants, writeSync } from "node:fs";
import { open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { holdFolder } from "@gateway/control/store/driver/folderLock.ts";

export interface StateDir extends AsyncDisposable {
  /** The file's bytes; undefined when there is none. The error is a code of the system, or `TOO_LARGE`. */
  read(name: string, bytesMax: number): Promise<Result<Uint8Array | undefined, string>>;
  /** Replaces the file: after a crash it is the old one or the new one. */
  write(name: string, bytes: Uint8Array): Promise<Result<void, string>>;
  remove(name: string): Promise<Result<void, string>>;
  /** Names of the files, without those that are being written. */
  list(): Promise<Result<readonly string[], string>>;
  /** Opens a small file that is written over in place, made when absent. It closes with the folder. */
  cell(name: string): Promise<Result<Cell, string>>;
}

/** A file of a few bytes that lives through a kill of the process at once, and through a loss of power when it was flushed. */
export interface Cell extends AsyncDisposable {
  /** What was in it when it was opened. */
  readonly found: Uint8Array;
  /**
   * Replaces the content before it returns, in a microsecond or two: in the system's memory, not on
   * the disk. Answers the system's code when that failed; never throws.
   */
  put(bytes: Uint8Array): string | undefined;
  /** Brings it onto the disk. */
  flush(): Promise<Result<void, string>>;
}

/** A cell is no place for documents. */
const cellBytesMax = 4_096;

const temporary = ".part";

/** Opens and holds the folder, which is made (0700) when absent. */
export async function openStateDir(path: string): Promise<Result<StateDir, string>> {
  const held = await holdFolder(path);
  if (!held.ok) {
    const { error } = held;
    return err(
      error.code === "inUse"
        ? `${path} is in use by another process`
        : `${path} can not be used (${error.detail})`,
    );
  }
  const cells: Cell[] = [];
  // What a crash left half written.
  await attempt(async () => {
    const names = await readdir(path);
    const parts = names.filter((name) => name.endsWith(temporary));
    await Promise.all(parts.map((name) => rm(join(path, name), { force: true })));
  });
  return ok({
    read: (name, bytesMax) => readWhole(join(path, name), bytesMax),
    write: (name, bytes) => attempt(() => replace(path, name, bytes)),
    list: () =>
      attempt(async () => (await readdir(path)).filter((name) => !name.endsWith(temporary))),
    remove: (name) => attempt(() => rm(join(path, name), { force: true })),
    cell: (name) =>
      attempt(async () => {
        const cell = await cellAt(join(path, name));
        cells.push(cell);
        return cell;
      }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(cells.map((cell) => cell[Symbol.asyncDispose]()));
      await held.value[Symbol.asyncDispose]();
    },
  });
}

async function readWhole(
  path: string,
  bytesMax: number,
): Promise<Result<Uint8Array | undefined, string>> {
  const read = await attempt(async () => {
    await using handle = await open(path, "r");
    const { size } = await handle.stat();
    return size > bytesMax ? undefined : await handle.readFile();
  });
  if (!read.ok) return read.error === "ENOENT" ? ok(undefined) : read;
  return read.value === undefined ? err("TOO_LARGE") : ok(read.value);
}

async function replace(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const part = join(folder, `${name}${temporary}`);
  try {
    await using handle = await open(part, "w", 0o600);
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (error) {
    // Half a file left behind would keep a full disk full.
    await rm(part, { force: true });
    throw error;
  }
  await rename(part, join(folder, name));
  // The new name is on the disk only after the folder was flushed.
  await using handle = await open(folder, "r");
  await handle.sync();
}

async function cellAt(path: string): Promise<Cell> {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const { size } = await handle.stat();
  const found = new Uint8Array(Math.min(size, cellBytesMax));
  await handle.read(found, 0, found.length, 0);
  return new FileCell(handle, found);
}

class FileCell implements Cell {
  readonly found: Uint8Array;
  #handle: FileHandle | undefined;

  constructor(handle: FileHandle, found: Uint8Array) {
    this.#handle = handle;
    this.found = found;
  }

  put(bytes: Uint8Array): string | undefined {
    if (this.#handle === undefined) return "closed";
    try {
      const wrote = writeSync(this.#handle.fd, bytes, 0, bytes.length, 0);
      return wrote === bytes.length ? undefined : "EIO";
    } catch (error) {
      return codeOf(error);
    }
  }

  async flush(): Promise<Result<void, string>> {
    return attempt(async () => this.#handle?.datasync());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await attempt(async () => handle?.close());
  }
}

async function attempt<Value>(work: () => Promise<Value>): Promise<Result<Value, string>> {
  try {
    return ok(await work());
  } catch (error) {
    return err(codeOf(error));
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "failed";
}
