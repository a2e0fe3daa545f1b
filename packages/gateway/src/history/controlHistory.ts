/** History of the roles with a store: records kept by it, redacted as the configuration says, and swept. */
import type { Configuration } from "@gateway/control/config/configuration.ts";
import { historySettingSchema } from "@gateway/control/config/objects.ts";
import type { Store } from "@gateway/control/store/store.ts";
import type { History } from "@gateway/core/port/history.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Redaction } from "@gateway/core/record/redact.ts";
import type { GatewayConfig } from "../config/schema.ts";
import { countLostQueries } from "./lostQueries.ts";
import type { QueryBook } from "./queryBook.ts";
import { startRetention } from "./retention.ts";
import { storeHistory } from "./storeHistory.ts";

export interface ControlHistoryParts {
  readonly store: Store;
  readonly configuration: Pick<Configuration, "current">;
  readonly host: Pick<Host, "clock" | "random" | "log" | "metrics">;
  /** Ends with the history. Undefined where nothing is counted over a kill. */
  readonly book: QueryBook | undefined;
}

export interface ControlHistory extends History {
  /** Keeps what waits until `deadline`, then ends the sweeps. Never rejects. */
  close(deadline: AbortSignal): Promise<void>;
}

/** At a drain's end the last queries' records are still on their way. They get this long at least. */
const flushMsMin = 5_000;
export function controlHistory(
  { retention, logLevel }: Pick<GatewayConfig, "retention" | "logLevel">,
  { store, configuration, host, book }: ControlHistoryParts,
): ControlHistory {
  const sender = storeHistory({
    host,
    keep: (batch, nowMs) => store.records.ingest(batch, nowMs),
    redaction: redactionOf(configuration),
    texts: logLevel === "debug",
    book,
    ...(store.records.keepNow !== undefined && { keepNow: store.records.keepNow }),
  });
  const sweeps = startRetention(store, retention, host);
  const stopping = new AbortController();
  const judging =
    book &&
    countLostQueries({
      book,
      known: (ids) => store.records.known(ids),
      host,
      signal: stopping.signal,
    });
  return {
    begin: (queryId) => sender.begin?.(queryId),
    append: (record) => sender.append(record),
    close: async () => {
      const limit = new AbortController();
      using _timer = host.clock.timer(flushMsMin, () => limit.abort());
      await sender.flush(limit.signal);
      await sweeps[Symbol.asyncDispose]();
      stopping.abort();
      await judging;
      book?.[Symbol.dispose]();
    },
  };
}

/** The redaction of what is served now, read once per revision. */
export function redactionOf(configuration: Pick<Configuration, "current">): () => Redaction {
  let known: { readonly hash: string; readonly redaction: Redaction } | undefined;
  return () => {
    const built = configuration.current();
    if (built === undefined) return "metadata";
    if (known?.hash !== built.revision.hash) {
      const parsed = historySettingSchema.safeParse(built.body.history);
      // A setting that can not be read permits nothing.
      const redaction = parsed.success ? parsed.data.redaction : "metadata";
      known = { hash: built.revision.hash, redaction };
    }
    return known.redaction;
  };
}
