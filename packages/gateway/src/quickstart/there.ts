/**
 * Where the quick start that holds a data folder listens, for a second one that finds the folder
 * held.
 *
 * The addresses lie in the folder. Only the holder itself can say that somebody holds it: a killed
 * process may have left the file.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findHolder } from "@gateway/control/store/driver/folderLock.ts";
import type { PersistenceConfig } from "../config/persistence.ts";
import type { OpenListener } from "../running.ts";

/** Where data are kept; a path only where they are in a folder. */
interface DataStore {
  readonly type: PersistenceConfig["type"];
  readonly path?: string;
}

/** An open address, as the folder keeps it. */
export type Address = Pick<OpenListener, "kind" | "host" | "port">;

/** Writes where this process listens, until disposed. Nothing where the data are in memory. */
export function tellWhere(store: DataStore, listeners: readonly Address[]): Disposable {
  const file = fileOf(store);
  if (file === undefined) return { [Symbol.dispose]: () => undefined };
  const addresses = listeners.map(({ kind, host, port }) => ({ kind, host, port }));
  writeFileSync(file, JSON.stringify(addresses), { mode: 0o600 });
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

/** Where the holder of the folder listens; undefined when nobody holds it, or does not say. */
export async function holderOf(store: DataStore): Promise<readonly Address[] | undefined> {
  const file = fileOf(store);
  if (file === undefined) return undefined;
  await using holder = await findHolder(dirname(file));
  if (holder === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as readonly Address[];
  } catch {
    // The holder is starting, or it is no quick start.
    return undefined;
  }
}

function fileOf(store: DataStore): string | undefined {
  const { type, path } = store;
  return type === "pglite" && path !== undefined ? join(path, "listening.json") : undefined;
}
