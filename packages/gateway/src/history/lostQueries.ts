/**
 * Queries that an earlier process began and whose record no store has: they are logged, counted,
 * and noted as counted. The book itself is queryBook.ts.
 */
import type { RecordStore } from "@gateway/control/store/store.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { historyFamilies } from "./backlog.ts";
import { pause } from "@gateway/core/tool/pause.ts";
import type { BookEntry } from "./bookSlots.ts";
import type { QueryBook } from "./queryBook.ts";

/** Ids of one question. */
const chunkIds = 5_000;
/** Pause before a store that did not answer is asked again. */
const retryMs = 5_000;
/** At most so many are named in the log, a line each. All are counted. */
const linesMax = 1_000;

export interface LostQueriesParts {
  readonly book: QueryBook;
  readonly known: RecordStore["known"];
  readonly host: Pick<Host, "clock" | "log" | "metrics">;
  /** Ends the tries. The next process judges what is left. */
  readonly signal: AbortSignal;
}

/** Judges what the book was found with. Never rejects. */
export async function countLostQueries(parts: LostQueriesParts): Promise<void> {
  const { book, host } = parts;
  const { open, dropped, word } = book.found;
  const count = host.metrics.counter(historyFamilies.dropped, {});
  count.add(dropped);
  if (word === "open" || word === "crashed") {
    host.log.write("warn", "process.endedBefore", {
      how: word === "crashed" ? "a bug" : "without a word",
      running: open.filter(({ running }) => running).length,
    });
  }
  try {
    const lost = await withoutRecord(parts, open);
    if (lost === undefined) return;
    for (const { queryId, running } of lost.slice(0, linesMax)) {
      host.log.write("warn", "history.lost", { queryId, state: running ? "running" : "ended" });
    }
    if (lost.length > 0) {
      const running = lost.filter((entry) => entry.running).length;
      const fields = { count: lost.length, running, detail: "killed" };
      host.log.write("error", "history.dropped", fields);
    }
    count.add(lost.length);
    book.judged(lost.length);
  } catch (bug) {
    host.log.bug(bug);
  }
}

/** Undefined when the store did not answer until the end. */
async function withoutRecord(
  parts: LostQueriesParts,
  open: readonly BookEntry[],
): Promise<readonly BookEntry[] | undefined> {
  const lost: BookEntry[] = [];
  for (let from = 0; from < open.length;) {
    if (parts.signal.aborted) return undefined;
    const chunk = open.slice(from, from + chunkIds);
    const known = await parts.known(chunk.map(({ queryId }) => queryId));
    if (known.ok) {
      lost.push(...chunk.filter(({ queryId }) => !known.value.has(queryId)));
      from += chunkIds;
    } else {
      await pause(parts.host.clock, retryMs, parts.signal);
    }
  }
  return lost;
}
