/**
 * Query history in memory: the newest records, oldest forgotten first.
 *
 * One array in order of time, so that a page and the end of the oldest are slices of it. New records
 * belong near its end, where putting one in is cheap.
 */
import type { QueryRecord } from "@gateway/contract/record.ts";
import { byTime, emptyPage } from "../keyset.ts";
import { storableRecord } from "../storable.ts";
import type {
  IncomingRecord,
  Ingested,
  Page,
  PageRequest,
  RecordConflict,
  RecordFilter,
  RecordStore,
} from "../store.ts";
import { compareKeys, pageOf, stored } from "./order.ts";

/** Records kept. At one to two kilobytes each this is some hundred megabytes. */
const recordsMaxDefault = 100_000;

interface Kept {
  readonly record: QueryRecord;
  readonly contentHash: string;
}

interface KeptConflict extends RecordConflict {
  readonly contentHash: string;
}

type TimeKey = [number, string];

/** History in memory; `recordsMax` is smaller in tests only. */
export function memoryRecords(recordsMax = recordsMaxDefault): RecordStore {
  const byId = new Map<string, Kept>();
  /** Oldest first. */
  const inOrder: Kept[] = [];
  const conflicts = new Map<string, KeptConflict>();

  function forgetOldest(count: number): void {
    for (const { record } of inOrder.splice(0, count)) {
      byId.delete(record.proxyQueryId);
      conflicts.delete(record.proxyQueryId);
    }
  }

  function take(batch: readonly IncomingRecord[], nowMs: number): Ingested {
    let accepted = 0;
    let duplicates = 0;
    const conflicting = new Set<string>();
    for (const { record: sent, contentHash } of batch) {
      const record = storableRecord(sent);
      const there = byId.get(record.proxyQueryId);
      if (there === undefined) {
        accepted += 1;
        const kept = { record, contentHash };
        byId.set(record.proxyQueryId, kept);
        inOrder.splice(placeOf(inOrder, keyOf(kept)), 0, kept);
      } else if (there.contentHash === contentHash) {
        duplicates += 1;
      } else {
        conflicting.add(record.proxyQueryId);
        const known = conflicts.get(record.proxyQueryId);
        conflicts.set(record.proxyQueryId, conflictOf(known, { record, contentHash }, nowMs));
      }
    }
    forgetOldest(Math.max(0, inOrder.length - recordsMax));
    return { accepted, duplicates, conflicts: [...conflicting] };
  }

  return {
    ingest: (batch, nowMs) => stored(take(batch, nowMs)),
    list: (filter, page) => stored(newestFirst(inOrder, filter, page)),
    get: (id) => stored(byId.get(id)?.record),
    conflicts: (page) => {
      const rows = pageOf(conflicts.values(), page, {
        keyset: byTime,
        keyOf: ({ firstAt, proxyQueryId }) => [firstAt, proxyQueryId],
        newestFirst: true,
      });
      return stored({
        ...rows,
        items: rows.items.map(({ contentHash: _hash, ...conflict }) => conflict),
      });
    },
    retain: ({ before, keep, chunk }) => {
      const old = placeOf(inOrder, [before, ""]);
      const count = Math.min(chunk, Math.max(old, inOrder.length - keep, 0));
      forgetOldest(count);
      return stored(count);
    },
  };
}

function newestFirst(
  inOrder: readonly Kept[],
  filter: RecordFilter,
  { limit, cursor }: PageRequest,
): Page<QueryRecord> {
  const after = byTime.read(cursor);
  if (after === null) return emptyPage;
  const found: Kept[] = [];
  let index = after === undefined ? inOrder.length : placeOf(inOrder, after);
  for (index -= 1; index >= 0 && found.length <= limit; index -= 1) {
    const kept = inOrder[index];
    if (kept !== undefined && fits(kept.record, filter)) found.push(kept);
  }
  const page = byTime.page(found, limit, keyOf);
  return { ...page, items: page.items.map(({ record }) => record) };
}

/** How many come before `key`: where it belongs. */
function placeOf(inOrder: readonly Kept[], key: TimeKey): number {
  let low = 0;
  let high = inOrder.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const kept = inOrder[middle];
    if (kept !== undefined && compareKeys(keyOf(kept), key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keyOf({ record }: Kept): TimeKey {
  return [recordTime(record), record.proxyQueryId];
}

/** Whole milliseconds, because that is what a column of the other stores orders by. */
function recordTime({ createdAt }: QueryRecord): number {
  return Math.floor(createdAt);
}

function fits(record: QueryRecord, filter: RecordFilter): boolean {
  const { from, to, ...equal } = filter;
  const at = recordTime(record);
  if (from !== undefined && at < from) return false;
  if (to !== undefined && at >= to) return false;
  return (
    matches(equal.user, record.user) &&
    matches(equal.status, record.status) &&
    matches(equal.clusterGroup, record.clusterGroup) &&
    matches(equal.cluster, record.cluster) &&
    matches(equal.worker, record.worker) &&
    matches(equal.frontend, record.frontend) &&
    matches(equal.errorCode, record.errorCode)
  );
}

function matches(wanted: string | undefined, there: string | undefined): boolean {
  return wanted === undefined || wanted === there;
}

/** Repeats of the newest different one are the sender's retries, and count once. */
function conflictOf(
  known: KeptConflict | undefined,
  { record, contentHash }: Kept,
  nowMs: number,
): KeptConflict {
  const count = (known?.count ?? 0) + (known?.contentHash === contentHash ? 0 : 1);
  const { proxyQueryId, worker } = record;
  const firstAt = known?.firstAt ?? nowMs;
  return { proxyQueryId, record, worker, count, firstAt, lastAt: nowMs, contentHash };
}
