/**
 * The open databases of this process, one object for each, shared by everybody who uses it.
 *
 * The same file opened twice in a process diverges: each object has its own idea of what is in it.
 * So a file is one object whatever cluster or generation names it. A database in memory belongs to
 * its cluster and outlives a reload, because the next generation opens it before the last one
 * lets go.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { failureOf, type AdbcFailure } from "../driver.ts";
import type { DriverThread } from "./driverThread.ts";
import type { Home } from "./home.ts";
import type { DatabaseOptions, OpenedDatabase } from "../message.ts";
import type { Address } from "../memory/native.ts";

/** The name of a database that lives as long as the process. */
export const inMemoryPath = ":memory:";

/** A database by the path from `realDatabasePath`, or of a cluster in memory. */
export interface SharedKey {
  readonly key: string;
  /** What two openings must agree on to share an object. */
  readonly settings: string;
}

/** One database object. Its users count themselves in and out. */
interface Shared {
  readonly home: Home;
  /** What it was opened with, to be compared. */
  readonly settings: string;
  readonly opening: Promise<Result<OpenedDatabase, AdbcFailure>>;
  users: number;
  /** It refuses everything. A new object is made when the last share was given back. */
  broken: boolean;
}

const databases = new Map<string, Shared>();
/** Objects that are just being closed; the file is free when the promise is settled. */
const closing = new Map<string, Promise<unknown>>();

/** A share in an open database. */
export interface DatabaseShare {
  readonly address: Address;
  /** Answered to the one who opened it; empty for those who came later. */
  readonly skipped: OpenedDatabase["skipped"];
  /** Says that the object refuses everything, so that nobody takes a new share in it. */
  condemn(): void;
  /** Closes the database when this is the last share. Every connection of this share must be closed before. */
  giveBack(thread: DriverThread): Promise<AdbcFailure | undefined>;
}

/** The path that names a file whatever way it is written. */
export function realDatabasePath(written: string): string {
  if (written === inMemoryPath) return inMemoryPath;
  const absolute = resolve(written);
  try {
    return realpathSync(absolute);
  } catch {
    return join(realFolder(dirname(absolute)), basename(absolute));
  }
}

/** A file that is not there yet lies in a folder that may be a link. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** A thread that opens a database, and where it does. */
export interface Opener {
  readonly home: Home;
  readonly thread: DriverThread;
}

/** Opens a database, or takes a share in it when it is open already. Refuses other settings than it has. */
export async function shareObject(
  { key, settings }: SharedKey,
  options: DatabaseOptions,
  { home, thread }: Opener,
): Promise<Result<DatabaseShare, AdbcFailure>> {
  // An object that is being closed still holds the file.
  while (closing.has(key)) await closing.get(key);
  const open = databases.get(key);
  // What lived in a process is gone with it, and its file is free.
  if (open?.home.alive !== true) {
    const opening = openOn(thread, options);
    const shared: Shared = { home, settings, opening, users: 1, broken: false };
    databases.set(key, shared);
    const opened = await shared.opening;
    if (!opened.ok) forget(key, shared);
    return opened.ok ? ok(shareOf(key, shared, opened.value)) : opened;
  }
  if (open.broken) return err(failureOf("library", "the database waits to be opened again"));
  if (open.settings !== settings) {
    const reason = "the database is open with other settings; they change with a restart";
    return err(failureOf("library", reason));
  }
  open.users += 1;
  const opened = await open.opening;
  return opened.ok ? ok(shareOf(key, open, { ...opened.value, skipped: [] })) : opened;
}

function shareOf(key: string, shared: Shared, { address, skipped }: OpenedDatabase): DatabaseShare {
  let given = false;
  return {
    address,
    skipped,
    condemn: () => {
      shared.broken = true;
    },
    giveBack: async (thread) => {
      if (given) return undefined;
      given = true;
      shared.users -= 1;
      if (shared.users > 0 || !forget(key, shared)) return undefined;
      const closed = thread.ask({ kind: "closeDatabase", database: address });
      closing.set(key, closed);
      const answer = await closed;
      closing.delete(key);
      return answer.ok ? undefined : answer.error;
    },
  };
}

/** True when it was the open object of its key. */
function forget(key: string, shared: Shared): boolean {
  return databases.get(key) === shared && databases.delete(key);
}

async function openOn(
  thread: DriverThread,
  database: DatabaseOptions,
): Promise<Result<OpenedDatabase, AdbcFailure>> {
  const answer = await thread.ask({ kind: "openDatabase", database });
  if (!answer.ok) return answer;
  if (answer.value.kind !== "opened") throw new Error("a database answered by something else");
  return ok(answer.value.opened);
}
