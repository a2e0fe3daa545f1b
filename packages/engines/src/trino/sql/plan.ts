/** What a plan of Trino, as EXPLAIN (TYPE DISTRIBUTED, FORMAT JSON) writes it, reads of tables. */
import type { ScanEstimate } from "@gateway/core/port/backend.ts";

type Node = Readonly<Record<string, unknown>>;

/** They read a table, and the first of their estimates is of that alone. */
const scans: ReadonlySet<unknown> = new Set([
  "TableScan",
  "ScanFilter",
  "ScanProject",
  "ScanFilterProject",
]);
/** They end a branch and read no table: another fragment counts by itself. */
const readsNothing: ReadonlySet<unknown> = new Set(["Values", "RemoteSource"]);

/** Reads what EXPLAIN answered: all scans together. Trino runs each of them once. */
export function plannedBytes(text: string): ScanEstimate {
  const fragments = parsed(text);
  if (fragments === undefined) return strange;
  let bytes = 0;
  const open = Object.values(fragments);
  if (open.length === 0) return strange;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isNode(node) || typeof node["name"] !== "string") return strange;
    const { name, children } = node;
    if (!isList(children)) return strange;
    if (scans.has(name)) {
      const read = bytesOf(node);
      if (read === undefined)
        return { unknown: "Trino has no statistics of a table that it reads" };
      bytes += read;
    } else if (children.length === 0 && !readsNothing.has(name)) {
      return { unknown: "a step of Trino's plan reads what its statistics do not tell" };
    }
    open.push(...children);
  }
  return { bytes: Math.ceil(bytes) };
}

/**
 * What the scan itself hands over, which is what its cost is made of: its size is told of the columns that are left behind
 * the filter, which may be none. A scan of no column still reads each row: a byte. Trino writes the text NaN where it
 * does not know.
 */
function bytesOf({ estimates }: Node): number | undefined {
  const [first] = isList(estimates) ? estimates : [];
  if (!isNode(first)) return undefined;
  const { outputRowCount: rows, cpuCost: bytes } = first;
  const known = typeof rows === "number" && typeof bytes === "number" && rows >= 0 && bytes >= 0;
  return known ? Math.max(rows, bytes) : undefined;
}

function parsed(text: string): Node | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isNode(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const strange = { unknown: "Trino's plan is of another form" } as const;
