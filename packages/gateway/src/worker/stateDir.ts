/**
 * The worker's folder: held by one process, files written whole or not at all. It knows nothing of
 * what is in the files; secrecy is sealing.ts.
 */
import { open, readdir, rename, rm } from "node:fs/promises";
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
}

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
    [Symbol.asyncDispose]: () => held.value[Symbol.asyncDispose](),
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
    // A full disk stays full while half a file lies on it.
    await rm(part, { force: true });
    throw error;
  }
  await rename(part, join(folder, name));
  // The new name is on the disk only when the folder is.
  await using handle = await open(folder, "r");
  await handle.sync();
}

async function attempt<Value>(work: () => Promise<Value>): Promise<Result<Value, string>> {
  try {
    return ok(await work());
  } catch (error) {
    return err(error instanceof Error && "code" in error ? String(error.code) : "failed");
  }
}
