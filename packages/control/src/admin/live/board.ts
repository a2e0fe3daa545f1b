/**
 * What runs, waits and stands at this moment, gathered from this process, from workers' heartbeats and from the
 * configuration. One board for all who look: it is made again only when somebody asks and the last one is old.
 *
 * It knows no stream, and nothing of who may see what.
 */
import type {
  LiveCluster,
  LiveCounters,
  LiveGroup,
  LiveQuery,
  LiveWorker,
} from "@gateway/contract/studioApi.ts";
import { liveItemsMax } from "@gateway/contract/studioApi.ts";
import { revisionText } from "@gateway/contract/revision.ts";
import { z } from "zod";
import type { ControlDeps } from "../../deps.ts";
import type { WorkerRow } from "../../store/store.ts";
import { statusOf } from "../../worker/status.ts";

/** How old what a reader gets may be. */
export const boardAgeMs = 1_000;
/** Workers report every few seconds, and reading a fleet of thousands is work for the database. */
const workersAgeMs = 2_000;
/** Pages of workers that are read: a fleet of 10,000. */
const workerPagesMax = 10;
const workerPageSize = 1_000;

/**
 * Entries by key, at most `liveItemsMax`; `total` counts all. An entry that did not change is the same value
 * as on the board before, so that readers need not compare what is in it.
 */
export interface Listed<Item> {
  readonly total: number;
  readonly items: ReadonlyMap<string, Item>;
}

export interface Board {
  /** Unix milliseconds. */
  readonly at: number;
  readonly counters: LiveCounters;
  /** With their texts: whoever shows them to viewers leaves those out. */
  readonly queries: Listed<LiveQuery>;
  readonly workers: Listed<LiveWorker>;
  readonly clusters: Listed<LiveCluster>;
  readonly groups: Listed<LiveGroup>;
}

export interface Boards {
  /** Never older than `boardAgeMs`, never fails: `counters.problem` says what could not be had. */
  current(): Promise<Board>;
}

type BoardDeps = Pick<ControlDeps, "store" | "clock" | "config" | "queries" | "clusterHealth">;

export function boardsOf(deps: BoardDeps): Boards {
  const { clock } = deps;
  let last: { readonly board: Board; readonly atMs: number } | undefined;
  let making: Promise<Board> | undefined;
  let workers: readonly WorkerRow[] = [];
  let workersAtMs = Number.NEGATIVE_INFINITY;
  let problem: string | undefined;

  async function readWorkers(): Promise<void> {
    if (clock.nowMs() - workersAtMs < workersAgeMs) return;
    const read: WorkerRow[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < workerPagesMax; pages += 1) {
      const page = await deps.store.workers.list({ limit: workerPageSize, cursor });
      problem = page.ok ? undefined : "The database does not answer.";
      // What was read before stays, and is marked by the problem.
      if (!page.ok) return;
      read.push(...page.value.items);
      cursor = page.value.nextCursor;
      if (cursor === undefined) break;
    }
    workers = read;
    workersAtMs = clock.nowMs();
  }

  async function make(): Promise<Board> {
    await readWorkers();
    const board = sharing(boardOf(deps, workers, problem), last?.board);
    last = { board, atMs: clock.nowMs() };
    return board;
  }

  return {
    current: () => {
      if (last !== undefined && clock.nowMs() - last.atMs < boardAgeMs) {
        return Promise.resolve(last.board);
      }
      making ??= make().finally(() => {
        making = undefined;
      });
      return making;
    },
  };
}

function boardOf(deps: BoardDeps, rows: readonly WorkerRow[], problem: string | undefined): Board {
  const { clock, config } = deps;
  const at = clock.unixMs();
  const built = config.current();
  const newest = built === undefined ? undefined : revisionText(built.revision);
  const workers = rows.map((row) => workerOf(row, statusOf(row, at), built?.revision.hash));
  // What an offline worker said last is no sign that it still runs.
  const online = rows.filter((row) => statusOf(row, at) !== "offline");
  const queries = [...localQueries(deps), ...online.flatMap(reportedBy)];
  const body = objectsSchema.safeParse(built?.body ?? {}).data;
  const clusters = clustersOf(body?.clusters ?? {}, deps, queries);
  const groups = groupsOf(body?.clusterGroups ?? {}, queries);
  const running = queries.filter(({ state }) => state === "running").length;
  return {
    at,
    counters: {
      running,
      queued: queries.length - running,
      workersOnline: online.length,
      workersOffline: rows.length - online.length,
      workersBehind: workers.filter(({ behind, status }) => behind && status !== "offline").length,
      clustersDown: clusters.filter(({ health }) => health === "down").length,
      revision: newest,
      problem: problem ?? config.freshness().problem,
    },
    queries: listed(queries.toSorted((a, b) => a.since - b.since)),
    workers: listed(workers),
    clusters: listed(clusters),
    groups: listed(groups),
  };
}

/** With the values of the board before, where they say the same. */
function sharing(board: Board, before: Board | undefined): Board {
  if (before === undefined) return board;
  const { counters } = before;
  return {
    at: board.at,
    counters: isSame(counters, board.counters) ? counters : board.counters,
    queries: sharedWith(before.queries, board.queries),
    workers: sharedWith(before.workers, board.workers),
    clusters: sharedWith(before.clusters, board.clusters),
    groups: sharedWith(before.groups, board.groups),
  };
}

function sharedWith<Item>(before: Listed<Item>, { total, items }: Listed<Item>): Listed<Item> {
  const shared = [...items].map(([key, item]) => {
    const old = before.items.get(key);
    return [key, old !== undefined && isSame(old, item) ? old : item] as const;
  });
  return { total, items: new Map(shared) };
}

/** Of values that were made alike, so that their members stand in the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What of the configuration a board looks at. */
const objectsSchema = z.looseObject({
  clusters: z
    .record(
      z.string(),
      z.looseObject({
        engine: z.string(),
        enabled: z.boolean().default(true),
        maxRunningQueries: z.int().optional(),
      }),
    )
    .default({}),
  clusterGroups: z
    .record(
      z.string(),
      z.looseObject({
        enabled: z.boolean().default(true),
        maxRunningQueries: z.int().optional(),
      }),
    )
    .default({}),
});
type Objects = z.output<typeof objectsSchema>;

function listed<Item extends { readonly key: string }>(all: readonly Item[]): Listed<Item> {
  const shown = all.slice(0, liveItemsMax);
  return { total: all.length, items: new Map(shown.map((item) => [item.key, item])) };
}

function localQueries({ queries }: BoardDeps): readonly LiveQuery[] {
  return (queries?.list() ?? []).map((query) => ({ key: keyOf(query.id), ...query }));
}

function reportedBy({ name, instanceId, queries }: WorkerRow): readonly LiveQuery[] {
  return queries.map((query) => ({
    key: keyOf(query.id, instanceId),
    ...query,
    worker: name,
    instanceId,
  }));
}

/** Two processes may claim one id; both are shown. */
function keyOf(id: string, instanceId = ""): string {
  return instanceId === "" ? id : `${id} ${instanceId}`;
}

/** `newest` is the hash: a worker reports its content, which the same one of another epoch is. */
function workerOf(
  row: WorkerRow,
  status: LiveWorker["status"],
  newest: string | undefined,
): LiveWorker {
  const { instanceId, name, labels, version, activeRevision, downloadedRevision } = row;
  const running = row.queries.filter(({ state }) => state === "running").length;
  return {
    key: instanceId,
    name,
    status,
    labels,
    version,
    activeRevision,
    downloadedRevision,
    behind: newest !== undefined && activeRevision !== newest,
    configSource: row.configSource,
    stale: row.stale,
    lastError: row.lastError,
    running,
    queued: row.queries.length - running,
    lastSeenAt: row.lastSeenAt,
  };
}

function clustersOf(
  clusters: Objects["clusters"],
  { clusterHealth }: BoardDeps,
  queries: readonly LiveQuery[],
): readonly LiveCluster[] {
  const known = new Map((clusterHealth?.() ?? []).map((health) => [health.cluster, health]));
  return Object.entries(clusters).map(([key, { engine, enabled, maxRunningQueries: cap }]) => ({
    key,
    engine,
    enabled,
    health: enabled ? (known.get(key)?.state ?? "unknown") : "disabled",
    breakers: known.get(key)?.breakers ?? {},
    running: queries.filter(({ state, cluster }) => state === "running" && cluster === key).length,
    cap,
  }));
}

function groupsOf(
  groups: Objects["clusterGroups"],
  queries: readonly LiveQuery[],
): readonly LiveGroup[] {
  return Object.entries(groups).map(([key, { enabled, maxRunningQueries: cap }]) => {
    const own = queries.filter(({ group }) => group === key);
    const running = own.filter(({ state }) => state === "running").length;
    return { key, enabled, running, queued: own.length - running, cap };
  });
}
