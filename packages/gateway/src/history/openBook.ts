/** Where the query book of a process with a store lies: beside its data, or in the folder that the config names. */
import { join } from "node:path";
import { holdFolder } from "@gateway/control/store/driver/folderLock.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { GatewayConfig } from "../config/schema.ts";
import { openQueryBook, type QueryBook } from "./queryBook.ts";

/** Disposing gives the folder back; the book is its history's to end. */
export interface OpenBook extends AsyncDisposable {
  /** Undefined where nothing is counted over a kill: no store that outlives the process, or no folder. */
  readonly book: QueryBook | undefined;
}

const fileName = "open-queries";

/** Answers why the file can not be used, for the operator. */
export async function openBook(
  { persistence, stateDir }: Pick<GatewayConfig, "persistence" | "stateDir">,
  { log }: Pick<Host, "log">,
): Promise<Result<OpenBook, string>> {
  switch (persistence.type) {
    case "inMemory":
      return ok(none);
    case "pglite":
      // The database holds the lock on its folder.
      if (persistence.path === ":memory:") return ok(none);
      return opened(persistence.path, log, undefined);
    case "postgres":
    case "neon": {
      if (stateDir === undefined) {
        log.write("info", "history.notCounted", { advice: "gateway.stateDir" });
        return ok(none);
      }
      const held = await holdFolder(stateDir);
      if (!held.ok) return err(`gateway.stateDir: ${stateDir} is not usable (${held.error.code})`);
      const book = opened(stateDir, log, held.value);
      if (!book.ok) await held.value[Symbol.asyncDispose]();
      return book;
    }
  }
}

/** On a crash the book ends with the word `crashed`; a kill leaves it open. */
function opened(
  folder: string,
  log: Host["log"],
  hold: AsyncDisposable | undefined,
): Result<OpenBook, string> {
  const path = join(folder, fileName);
  try {
    const book = openQueryBook(path, log);
    const onCrash = (): void => book.crashed();
    process.on("uncaughtExceptionMonitor", onCrash);
    return ok({
      book,
      [Symbol.asyncDispose]: async () => {
        process.off("uncaughtExceptionMonitor", onCrash);
        await hold?.[Symbol.asyncDispose]();
      },
    });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
    return err(`${path} can not be used (${code})`);
  }
}

const none: OpenBook = { book: undefined, [Symbol.asyncDispose]: () => Promise.resolve() };
