/** The audit log in memory: the newest entries, oldest forgotten first. */
import { byTime } from "../keyset.ts";
import type { AuditEntry, AuditFilter, AuditRow, AuditStore } from "../store.ts";
import { pageOf, stored } from "./order.ts";

/** Entries kept. An entry is some hundred bytes. */
const entriesMax = 100_000;

export interface MemoryAudit {
  readonly store: AuditStore;
  /** As `append`, inside another step. */
  readonly add: (entry: AuditEntry) => void;
}

/** An empty log. */
export function memoryAudit(): MemoryAudit {
  /** In the order they came. */
  const rows: AuditRow[] = [];
  let count = 0;

  function add(entry: AuditEntry): void {
    count += 1;
    // Padded, so that ids sort as text in the order they were given.
    rows.push({ ...entry, id: String(count).padStart(15, "0") });
    if (rows.length > entriesMax) rows.shift();
  }

  const store: AuditStore = {
    append: (entry) => {
      add(entry);
      return stored(undefined);
    },
    list: (filter, page) =>
      stored(
        pageOf(
          rows.filter((row) => fits(row, filter)),
          page,
          { keyset: byTime, keyOf: ({ at, id }) => [at, id], newestFirst: true },
        ),
      ),
    retain: (before, chunk) => {
      const old = rows
        .filter(({ at }) => at < before)
        .toSorted((a, b) => a.at - b.at)
        .slice(0, chunk);
      const gone = new Set(old);
      rows.splice(0, rows.length, ...rows.filter((row) => !gone.has(row)));
      return stored(old.length);
    },
  };
  return { store, add };
}

function fits(row: AuditRow, { by, action, target, from, to }: AuditFilter): boolean {
  return (
    (by === undefined || row.by === by) &&
    (action === undefined || row.action === action) &&
    (target === undefined || row.target === target) &&
    (from === undefined || row.at >= from) &&
    (to === undefined || row.at < to)
  );
}
