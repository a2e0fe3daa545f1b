/** From two boards to what changed between them, and a board as its reader may see it. Pure. */
import type { Live, LiveDelta, LiveQuery } from "@gateway/contract/studioApi.ts";
import type { Board, Listed } from "./board.ts";

/** `texts`: the reader may see the SQL of others. */
export function wholeOf(board: Board, texts: boolean): Live {
  const { at, counters, queries, workers, clusters, groups } = board;
  return {
    at,
    counters,
    queries: { total: queries.total, items: shown([...queries.items.values()], texts) },
    workers: { total: workers.total, items: [...workers.items.values()] },
    clusters: { total: clusters.total, items: [...clusters.items.values()] },
    groups: { total: groups.total, items: [...groups.items.values()] },
  };
}

/** Undefined where nothing changed. `before` is an earlier board of the same making. */
export function deltaOf(before: Board, now: Board, texts: boolean): LiveDelta | undefined {
  const queries = changeOf(before.queries, now.queries);
  const changes = {
    counters: before.counters === now.counters ? undefined : now.counters,
    queries: queries && { ...queries, put: shown(queries.put, texts) },
    workers: changeOf(before.workers, now.workers),
    clusters: changeOf(before.clusters, now.clusters),
    groups: changeOf(before.groups, now.groups),
  };
  const changed = Object.values(changes).some((change) => change !== undefined);
  return changed ? { at: now.at, ...changes } : undefined;
}

function shown(queries: LiveQuery[], texts: boolean): LiveQuery[] {
  return texts ? queries : queries.map(({ sql: _sql, ...query }) => query);
}

function changeOf<Item>(before: Listed<Item>, now: Listed<Item>) {
  const put = [...now.items].flatMap(([key, item]) =>
    before.items.get(key) === item ? [] : [item],
  );
  const gone = [...before.items.keys()].filter((key) => !now.items.has(key));
  if (put.length === 0 && gone.length === 0 && before.total === now.total) return undefined;
  return { total: now.total, put, gone };
}
