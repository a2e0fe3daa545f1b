/** What a plan of PostgreSQL, as EXPLAIN (FORMAT JSON, VERBOSE) writes it, reads of which relation. */

/** A relation that is read, by the words of the plan: a temporary one is in `pg_temp`. */
export interface PlannedScan {
  readonly schema: string;
  readonly relation: string;
  /** All of it is read, but for what `costMax` says. Otherwise the part that an index finds. */
  readonly whole: boolean;
  /** What the planner takes its reading to cost at most, in its own units; a page that is read costs at least one page's price. */
  readonly costMax: number;
}

/** The scans of a plan, or why they are not known. */
export type PlannedScans = readonly PlannedScan[] | { readonly unknown: string };

type Node = Readonly<Record<string, unknown>>;

/** A node, how often it runs, and what it costs at most because of a LIMIT above it. */
interface Place {
  readonly node: Node;
  readonly times: number;
  readonly costMax: number;
}

const whole: ReadonlySet<unknown> = new Set(["Seq Scan", "Sample Scan"]);
const byIndex: ReadonlySet<unknown> = new Set([
  "Index Scan",
  "Index Only Scan",
  "Bitmap Heap Scan",
  "Tid Scan",
  "Tid Range Scan",
]);
/** They read no relation themselves; of a function nobody knows what it reads. */
const readsNothing: ReadonlySet<unknown> = new Set([
  "Bitmap Index Scan",
  "Subquery Scan",
  "Function Scan",
  "Table Function Scan",
  "Values Scan",
  "CTE Scan",
  "Named Tuplestore Scan",
  "WorkTable Scan",
]);

/** Reads what EXPLAIN answered. */
export function plannedScans(text: string): PlannedScans {
  const plans = parsed(text);
  if (plans === undefined) return strange;
  const scans: PlannedScan[] = [];
  // A rule may make several statements of one.
  for (const plan of plans) {
    const root = isNode(plan) ? plan["Plan"] : undefined;
    if (!isNode(root)) return { unknown: "a rule makes a statement of it that has no plan" };
    const open: Place[] = [{ node: root, times: 1, costMax: Number.POSITIVE_INFINITY }];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      const scan = scanOf(place);
      if (scan !== undefined && "unknown" in scan) return scan;
      if (scan !== undefined) scans.push(scan);
      const below = place.node["Plans"] ?? [];
      if (!Array.isArray(below) || !below.every(isNode)) return strange;
      for (const node of below) open.push(placeBelow(place, below, node));
    }
  }
  return scans;
}

function scanOf({
  node,
  times,
  costMax,
}: Place): PlannedScan | { readonly unknown: string } | undefined {
  const type = node["Node Type"];
  if (typeof type !== "string") return strange;
  if (!type.endsWith("Scan") || readsNothing.has(type)) return undefined;
  const { Schema: schema, "Relation Name": relation } = node;
  const known = whole.has(type) || byIndex.has(type);
  if (!known) return { unknown: "it reads what the server itself only reaches elsewhere" };
  if (typeof schema !== "string" || typeof relation !== "string") return strange;
  const own = byIndex.has(type) ? costOf(node) * times : Number.POSITIVE_INFINITY;
  return { schema, relation, whole: whole.has(type), costMax: Math.min(own, costMax) };
}

function placeBelow({ node, times, costMax }: Place, beside: readonly Node[], below: Node): Place {
  const often = times * timesOf(node, beside, below);
  const limited = node["Node Type"] === "Limit" ? costOf(node) * times : Number.POSITIVE_INFINITY;
  return { node: below, times: often, costMax: Math.min(costMax, limited) };
}

/** How often a node runs for each time that the one above it does. Where nobody knows, it reads all there is. */
function timesOf(above: Node, beside: readonly Node[], node: Node): number {
  const relation = node["Parent Relationship"];
  if (relation === "SubPlan") return Number.POSITIVE_INFINITY;
  switch (above["Node Type"]) {
    case "Nested Loop":
      return relation === "Inner" ? Math.max(1, rowsOf(beside)) : 1;
    case "Recursive Union":
      return relation === "Inner" ? Number.POSITIVE_INFINITY : 1;
    case "Gather":
    case "Gather Merge":
      return 1 + numberOf(above["Workers Planned"]);
    default:
      return 1;
  }
}

function rowsOf(nodes: readonly Node[]): number {
  const outer = nodes.find((node) => node["Parent Relationship"] === "Outer");
  return numberOf(outer?.["Plan Rows"]);
}

/** A tenth of a unit at least: what runs without end costs something. */
function costOf(node: Node): number {
  return Math.max(0.1, numberOf(node["Total Cost"]));
}

function numberOf(value: unknown): number {
  return typeof value === "number" && value >= 0 ? value : Number.POSITIVE_INFINITY;
}

function parsed(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.length > 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const strange = { unknown: "the server's plan is of another form" } as const;
