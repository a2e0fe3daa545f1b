/**
 * Deletes what is too old or too much from the store, in chunks, now and then.
 *
 * One sweep at a time; a store that is not available is asked again at the next one. Replicas may
 * sweep at the same moment: each deletes what is still there.
 */
import type { Store, StoreUnavailable } from "@gateway/control/store/store.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Result } from "@gateway/core/result.ts";
import { pause } from "@gateway/core/tool/pause.ts";

const dayMs = 86_400_000;
/** Rows of one delete: short enough to hold no lock for long. */
const chunkRows = 5_000;
/** Deletes of one kind in one sweep; what is left waits for the next. */
const chunksMax = 1_000;
const sweepMs = 600_000;
/** Rest between two chunks, so that ingest is not held up. */
const pauseMs = 50;

/** Config: `gateway.retention`. */
export interface RetentionLimits {
  readonly historyDays: number;
  readonly historyRecords: number;
  readonly auditDays: number;
  readonly revisions: number;
}

export interface RetainingStore {
  readonly records: Pick<Store["records"], "retain">;
  readonly audit: Pick<Store["audit"], "retain">;
  readonly config: Pick<Store["config"], "retainRevisions">;
}

/** Sweeps first within ten minutes and then about every ten, until disposed. Disposing waits for the chunk that runs. */
export function startRetention(
  store: RetainingStore,
  limits: RetentionLimits,
  host: Pick<Host, "clock" | "random" | "log">,
): AsyncDisposable {
  const stopping = new AbortController();
  const sweeping = sweepForEver({ store, limits, host, signal: stopping.signal });
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await sweeping;
    },
  };
}

export interface Sweep {
  readonly store: RetainingStore;
  readonly limits: RetentionLimits;
  readonly host: Pick<Host, "clock" | "log">;
  /** Aborted, the sweep ends after the chunk that runs. */
  readonly signal: AbortSignal;
}

async function sweepForEver(sweep: Sweep & { readonly host: Pick<Host, "random"> }): Promise<void> {
  const { host, signal } = sweep;
  // Jitter keeps replicas that started together apart.
  await pause(host.clock, sweepMs * host.random(), signal);
  while (!signal.aborted) {
    try {
      await sweepOnce(sweep);
    } catch (bug) {
      host.log.bug(bug);
    }
    await pause(host.clock, sweepMs * (0.75 + host.random() / 2), signal);
  }
}

/** One sweep. Answers the kinds of rows that could not be deleted; the log says why. */
export async function sweepOnce(sweep: Sweep): Promise<readonly string[]> {
  const { store, limits, host } = sweep;
  const nowMs = host.clock.unixMs();
  const records = {
    before: nowMs - limits.historyDays * dayMs,
    keep: limits.historyRecords,
    chunk: chunkRows,
  };
  const auditBefore = nowMs - limits.auditDays * dayMs;
  const failed = [
    ...(await inChunks("records", sweep, () => store.records.retain(records))),
    ...(await inChunks("audit", sweep, () => store.audit.retain(auditBefore, chunkRows))),
  ];
  if (sweep.signal.aborted) return failed;
  const revisions = await store.config.retainRevisions(limits.revisions);
  return [...failed, ...report("revisions", revisions, host)];
}

type Deleted = Result<number, StoreUnavailable>;

async function inChunks(
  kind: string,
  sweep: Sweep,
  deleteChunk: () => Promise<Deleted>,
): Promise<readonly string[]> {
  const { signal, host } = sweep;
  let total = 0;
  for (let chunk = 0; chunk < chunksMax && !signal.aborted; chunk += 1) {
    const deleted = await deleteChunk();
    if (!deleted.ok) return report(kind, deleted, host);
    total += deleted.value;
    if (deleted.value < chunkRows) break;
    await pause(host.clock, pauseMs, signal);
  }
  return report(kind, { ok: true, value: total }, host);
}

/** The kind, when it failed. */
function report(kind: string, deleted: Deleted, { log }: Pick<Host, "log">): readonly string[] {
  if (!deleted.ok) {
    log.write("warn", "retention.failed", { kind, detail: deleted.error.detail });
    return [kind];
  }
  if (deleted.value > 0) log.write("info", "retention.deleted", { kind, count: deleted.value });
  return [];
}
