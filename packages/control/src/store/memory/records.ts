/**
 * Query history in memory: the newest records, oldest forgotten first.
 *
 * One list of slots in order of time, so that a page and the end of the oldest are slices of it. New records
 * belong near its end, where putting one in is cheap.
 */
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
import type { RecordFace } from "@gateway/core/record/form.ts";
import { pageOf, stored } from "./order.ts";
import { RecordTable } from "./recordTable.ts";
import { seriesOf, type SeriesRow } from "./recordSeries.ts";

/** Records kept: some fifteen megabytes where statements come again, and a hundred where each is another. */
const recordsMaxDefault = 100_000;
/** So many at a time are forgotten when the array is full, as the others move then. */
const forgottenPartOf = 100;

interface ConflictRow extends RecordConflict {
  readonly contentHash: string;
}

type TimeKey = readonly [number, string];

/** History in memory; `recordsMax` is smaller in tests only. */
export function memoryRecords(recordsMax = recordsMaxDefault): RecordStore {
  const held = new Held(recordsMax);
  const { inOrder, table, conflicts } = held;
  const recordAt = (slot: number): QueryRecord => JSON.parse(table.text(slot)) as QueryRecord;
  return {
    ingest: (batch, nowMs) => stored(held.take(batch, nowMs)),
    keepNow: (record) => {
      const slot = table.putNew(record);
      if (slot !== undefined) held.place(slot, record);
    },
    list: (filter, page) => {
      const { items, ...rest } = newestFirst(held, filter, page);
      return stored({ ...rest, items: items.map(recordAt) });
    },
    get: (id) => {
      const slot = table.find(id);
      return stored(slot === undefined ? undefined : recordAt(slot));
    },
    series: (request) => stored(seriesOf(rowsOf(held, request), request)),
    known: (ids) => stored(new Set(ids.filter((id) => table.find(id) !== undefined))),
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
      const old = placeOf(inOrder, [before, ""], table);
      const count = Math.min(chunk, Math.max(old, inOrder.length - keep, 0));
      held.forgetOldest(count);
      return stored(count);
    },
  };
}

class Held implements Ordered {
  readonly table = new RecordTable();
  readonly inOrder: number[] = [];
  readonly conflicts = new Map<string, ConflictRow>();
  readonly #recordsMax: number;
  readonly #overMax: number;
  /** Of the newest that ever came, which may be forgotten meanwhile. */
  #newestAt = Number.NEGATIVE_INFINITY;
  #newestId = "";

  constructor(recordsMax: number) {
    this.#recordsMax = recordsMax;
    this.#overMax = Math.floor(recordsMax / forgottenPartOf);
  }

  /** Puts a slot where its record belongs: nearly always it is the newest. */
  place(slot: number, { createdAt, proxyQueryId: id }: QueryRecord): void {
    const { inOrder, table } = this;
    const at = Math.floor(createdAt);
    const isNewest = at === this.#newestAt ? id > this.#newestId : at > this.#newestAt;
    if (isNewest) {
      inOrder.push(slot);
      this.#newestAt = at;
      this.#newestId = id;
    } else inOrder.splice(placeOf(inOrder, [at, id], table), 0, slot);
    const over = inOrder.length - this.#recordsMax;
    if (over > this.#overMax) this.forgetOldest(over);
  }

  forgetOldest(count: number): void {
    const { inOrder, table, conflicts } = this;
    for (const slot of inOrder.splice(0, count)) {
      if (conflicts.size > 0) conflicts.delete(table.id(slot));
      table.remove(slot);
    }
  }

  take(batch: readonly IncomingRecord[], nowMs: number): Ingested {
    const { table, conflicts } = this;
    let accepted = 0;
    let duplicates = 0;
    const conflicting = new Set<string>();
    for (const incoming of batch) {
      const { record, parts, contentHash } = incoming;
      const id = storableText(record.proxyQueryId);
      const there = table.find(id);
      if (there === undefined) {
        accepted += 1;
        // Where it was written already, its writer left out what no store can hold.
        const storable = parts === undefined ? storableRecord(record) : record;
        this.place(table.put(storable, contentHash), storable);
      } else if (table.contentHash(there) === contentHash) {
        duplicates += 1;
      } else {
        conflicting.add(id);
        conflicts.set(id, conflictOf(conflicts.get(id), incoming, nowMs));
      }
    }
    return { accepted, duplicates, conflicts: [...conflicting] };
  }
}

interface Ordered {
  /** Oldest first. */
  readonly inOrder: readonly number[];
  readonly table: RecordTable;
}

/** Those that a series looks at, oldest first. */
function rowsOf(
  { inOrder, table }: Ordered,
  { from, stepMs, steps, errorsFrom }: SeriesRequest,
): readonly SeriesRow[] {
  const first = placeOf(inOrder, [Math.min(from, errorsFrom), ""], table);
  const end = placeOf(inOrder, [from + stepMs * steps, ""], table);
  return inOrder.slice(first, end).map((slot) => ({
    at: table.at(slot),
    status: table.face(slot)?.status ?? "",
    errorCode: table.face(slot)?.errorCode,
    durations: () => table.durations(slot),
  }));
}

function newestFirst(
  { inOrder, table }: Ordered,
  filter: RecordFilter,
  { limit, cursor }: PageRequest,
): Page<number> {
  const after = byTime.read(cursor);
  if (after === null) return emptyPage;
  const found: number[] = [];
  let index = after === undefined ? inOrder.length : placeOf(inOrder, after, table);
  for (index -= 1; index >= 0 && found.length <= limit; index -= 1) {
    const slot = inOrder[index];
    if (slot !== undefined && fits(table.at(slot), table.face(slot), filter)) found.push(slot);
  }
  return byTime.page(found, limit, (slot) => [table.at(slot), table.id(slot)]);
}

/** How many come before `key`: where it belongs. */
function placeOf(inOrder: readonly number[], [at, id]: TimeKey, table: RecordTable): number {
  let low = 0;
  let high = inOrder.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const slot = inOrder[middle];
    if (slot !== undefined && isBefore(slot, [at, id], table)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(slot: number, [at, id]: TimeKey, table: RecordTable): boolean {
  const own = table.at(slot);
  return own === at ? table.compareId(slot, id) < 0 : own < at;
}

function fits(at: number, face: RecordFace | undefined, filter: RecordFilter): boolean {
  const { from, to } = filter;
  if (face === undefined || (from !== undefined && at < from)) return false;
  if (to !== undefined && at >= to) return false;
  return (
    matches(filter.user, face.user) &&
    matches(filter.status, face.status) &&
    matches(filter.clusterGroup, face.clusterGroup) &&
    matches(filter.cluster, face.cluster) &&
    matches(filter.worker, face.worker) &&
    matches(filter.frontend, face.frontend) &&
    matches(filter.errorCode, face.errorCode)
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
