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

interface Sweep {
  readonly store: RetainingStore;
  readonly limits: RetentionLimits;
  readonly host: Pick<Host, "clock" | "random" | "log">;
  readonly signal: AbortSignal;
}

async function sweepForEver(sweep: Sweep): Promise<void> {
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

async function sweepOnce(sweep: Sweep): Promise<void> {
  const { store, limits, host } = sweep;
  const nowMs = host.clock.unixMs();
  const records = {
    before: nowMs - limits.historyDays * dayMs,
    keep: limits.historyRecords,
    chunk: chunkRows,
  };
  await inChunks("records", sweep, () => store.records.retain(records));
  const auditBefore = nowMs - limits.auditDays * dayMs;
  await inChunks("audit", sweep, () => store.audit.retain(auditBefore, chunkRows));
  if (sweep.signal.aborted) return;
  report("revisions", await store.config.retainRevisions(limits.revisions), host);
}

type Deleted = Result<number, StoreUnavailable>;

async function inChunks(
  kind: string,
  sweep: Sweep,
  deleteChunk: () => Promise<Deleted>,
): Promise<void> {
  const { signal, host } = sweep;
  let total = 0;
  for (let chunk = 0; chunk < chunksMax && !signal.aborted; chunk += 1) {
    const deleted = await deleteChunk();
    if (!deleted.ok) return report(kind, deleted, host);
    total += deleted.value;
    if (deleted.value < chunkRows) break;
    await pause(host.clock, pauseMs, signal);
  }
  report(kind, { ok: true, value: total }, host);
}

function report(kind: string, deleted: Deleted, { log }: Pick<Host, "log">): void {
  if (!deleted.ok) {
    log.write("warn", "retention.failed", { kind, detail: deleted.error.detail });
  } else if (deleted.value > 0) {
    log.write("info", "retention.deleted", { kind, count: deleted.value });
  }
}
