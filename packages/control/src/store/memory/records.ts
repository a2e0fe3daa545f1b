/**
 * Query history in memory: the newest records, oldest forgotten first.
 *
 * One array in order of time, so that a page and the end of the oldest are slices of it. New records
 * belong near its end, where putting one in is cheap. A record is kept as a database would keep it:
 * fields to find it by, and one text, because a hundred thousand records of twenty objects
 * each would be walked by the collector again and again. The text lies outside the heap.
 */
import { canonicalJson } from "@gateway/contract/canonical.ts";
import type { QueryRecord } from "@gateway/contract/record.ts";
import { byTime, emptyPage } from "../keyset.ts";
import { storableRecord, storableText } from "../storable.ts";
import type {
  IncomingRecord,
  Ingested,
  Page,
  PageRequest,
  RecordConflict,
  RecordFilter,
  RecordStore,
  SeriesRequest,
} from "../store.ts";
import { contentHashOf } from "../written.ts";
import { pageOf, stored } from "./order.ts";
import { Pages } from "./pages.ts";
import { seriesOf, type SeriesRow } from "./recordSeries.ts";

/** Records kept. At about one kilobyte each this is a hundred megabytes. */
const recordsMaxDefault = 100_000;
/** So many at a time are forgotten when the array is full, as the others move then. */
const forgottenPartOf = 100;

interface RecordRow {
  readonly proxyQueryId: string;
  /** Whole milliseconds of `createdAt`, because that is what a column of the other stores orders by. */
  readonly at: number;
  readonly user: string;
  readonly status: QueryRecord["status"];
  readonly clusterGroup: string | undefined;
  readonly cluster: string | undefined;
  readonly frontend: string;
  readonly errorCode: string | undefined;
  readonly worker: string | undefined;
  /** Where its canonical JSON lies. */
  readonly page: Buffer;
  readonly from: number;
  readonly end: number;
  /** Undefined where it is that of the text, for which nobody asks before the record comes again. */
  readonly contentHash: string | undefined;
}

interface ConflictRow extends RecordConflict {
  readonly contentHash: string;
}

type TimeKey = readonly [number, string];

/** History in memory; `recordsMax` is smaller in tests only. */
export function memoryRecords(recordsMax = recordsMaxDefault): RecordStore {
  const byId = new Map<string, RecordRow>();
  /** Oldest first. */
  const inOrder: RecordRow[] = [];
  const pages = new Pages();
  const conflicts = new Map<string, ConflictRow>();
  const overMax = Math.floor(recordsMax / forgottenPartOf);

  function forgetOldest(count: number): void {
    for (const { proxyQueryId } of inOrder.splice(0, count)) {
      byId.delete(proxyQueryId);
      conflicts.delete(proxyQueryId);
    }
  }

  function take(batch: readonly IncomingRecord[], nowMs: number): Ingested {
    let accepted = 0;
    let duplicates = 0;
    const conflicting = new Set<string>();
    for (const incoming of batch) {
      const { record } = incoming;
      const id = storableText(record.proxyQueryId);
      const there = byId.get(id);
      if (there === undefined) {
        accepted += 1;
        const row = rowIn(pages, incoming);
        byId.set(id, row);
        place(inOrder, row);
      } else if (hashOf(there) === incoming.contentHash) {
        duplicates += 1;
      } else {
        conflicting.add(id);
        conflicts.set(id, conflictOf(conflicts.get(id), incoming, nowMs));
      }
    }
    if (inOrder.length > recordsMax + overMax) forgetOldest(inOrder.length - recordsMax);
    return { accepted, duplicates, conflicts: [...conflicting] };
  }

  return {
    ingest: (batch, nowMs) => stored(take(batch, nowMs)),
    list: (filter, page) => stored(newestFirst(inOrder, filter, page)),
    get: (id) => {
      const row = byId.get(id);
      return stored(row && recordOf(row));
    },
    series: (request) => stored(seriesOf(rowsOf(inOrder, request), request)),
    known: (ids) => stored(new Set(ids.filter((id) => byId.has(id)))),
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

/** Those that a series looks at, oldest first. */
function rowsOf(
  inOrder: readonly RecordRow[],
  { from, stepMs, steps, errorsFrom }: SeriesRequest,
): readonly SeriesRow[] {
  const first = placeOf(inOrder, [Math.min(from, errorsFrom), ""]);
  return inOrder.slice(first, placeOf(inOrder, [from + stepMs * steps, ""])).map(seriesRowOf);
}

function seriesRowOf(row: RecordRow): SeriesRow {
  const { at, status, errorCode } = row;
  return {
    at,
    status,
    errorCode,
    durations: () => {
      const { executionMs, queueMs } = recordOf(row);
      return { ranMs: executionMs, waitedMs: queueMs };
    },
  };
}

function rowIn(pages: Pages, incoming: IncomingRecord): RecordRow {
  const { whole, parts } = incoming;
  // Where it was written already, its writer left out what no store can hold.
  const written = whole !== undefined || parts !== undefined;
  const record = written ? incoming.record : storableRecord(incoming.record);
  const from = pages.put(whole ?? canonicalJson(record));
  return {
    proxyQueryId: record.proxyQueryId,
    at: Math.floor(record.createdAt),
    user: record.user,
    status: record.status,
    clusterGroup: record.clusterGroup,
    cluster: record.cluster,
    frontend: record.frontend,
    errorCode: record.errorCode,
    worker: record.worker,
    page: pages.page,
    from,
    end: pages.end,
    contentHash: whole === undefined ? incoming.contentHash : undefined,
  };
}

function hashOf({ contentHash, page, from, end }: RecordRow): string {
  return contentHash ?? contentHashOf(page.subarray(from, end));
}

/** The record as it came. */
function recordOf({ page, from, end }: RecordRow): QueryRecord {
  return JSON.parse(page.toString("utf8", from, end)) as QueryRecord;
}

function newestFirst(
  inOrder: readonly RecordRow[],
  filter: RecordFilter,
  { limit, cursor }: PageRequest,
): Page<QueryRecord> {
  const after = byTime.read(cursor);
  if (after === null) return emptyPage;
  const found: RecordRow[] = [];
  let index = after === undefined ? inOrder.length : placeOf(inOrder, after);
  for (index -= 1; index >= 0 && found.length <= limit; index -= 1) {
    const row = inOrder[index];
    if (row !== undefined && fits(row, filter)) found.push(row);
  }
  const page = byTime.page(found, limit, ({ at, proxyQueryId }) => [at, proxyQueryId]);
  return { ...page, items: page.items.map(recordOf) };
}

function place(inOrder: RecordRow[], row: RecordRow): void {
  const newest = inOrder.at(-1);
  if (newest === undefined || isBefore(newest, row.at, row.proxyQueryId)) inOrder.push(row);
  else inOrder.splice(placeOf(inOrder, [row.at, row.proxyQueryId]), 0, row);
}

/** How many come before `key`: where it belongs. */
function placeOf(inOrder: readonly RecordRow[], [at, id]: TimeKey): number {
  let low = 0;
  let high = inOrder.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const row = inOrder[middle];
    if (row !== undefined && isBefore(row, at, id)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(row: RecordRow, at: number, id: string): boolean {
  return row.at === at ? row.proxyQueryId < id : row.at < at;
}

function fits(row: RecordRow, filter: RecordFilter): boolean {
  const { from, to } = filter;
  if (from !== undefined && row.at < from) return false;
  if (to !== undefined && row.at >= to) return false;
  return (
    matches(filter.user, row.user) &&
    matches(filter.status, row.status) &&
    matches(filter.clusterGroup, row.clusterGroup) &&
    matches(filter.cluster, row.cluster) &&
    matches(filter.worker, row.worker) &&
    matches(filter.frontend, row.frontend) &&
    matches(filter.errorCode, row.errorCode)
  );
}

function matches(wanted: string | undefined, there: string | undefined): boolean {
  return wanted === undefined || wanted === there;
}

/** Repeats of the newest different one are the sender's retries, and count once. */
function conflictOf(
  known: ConflictRow | undefined,
  incoming: IncomingRecord,
  nowMs: number,
): ConflictRow {
  const { contentHash } = incoming;
  const record = storableRecord(incoming.record);
  const count = (known?.count ?? 0) + (known?.contentHash === contentHash ? 0 : 1);
  const { proxyQueryId, worker } = record;
  const firstAt = known?.firstAt ?? nowMs;
  return { proxyQueryId, record, worker, count, firstAt, lastAt: nowMs, contentHash };
}
