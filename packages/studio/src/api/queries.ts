/** Every value of the server that a page shows, as one query each: its key, its path, and how often it is asked. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { meKey } from "./cache.ts";
import { ApiError, ask, pathOf, step } from "./client.ts";
import type {
  AdminSession,
  AuditRow,
  ConfigObject,
  Difference,
  HistoryRecord,
  Me,
  Page,
  QueryDetail,
  Revision,
  Schemas,
  Status,
  Suspect,
  User,
  Worker,
  WorkerDetail,
} from "./shapes.ts";

/** How often what moves is asked for where no stream of events says when. */
export const liveMs = 2_000;
const slowMs = 10_000;
/** Rows of one page of a long list. */
export const pageSize = 50;

/** Null: nobody is logged in. */
export const meQuery = queryOptions<Me | null>({
  queryKey: meKey,
  queryFn: async ({ signal }) => {
    try {
      return await ask<Me>("/me", { signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: ({ signal }) => ask<Status>("/status", { signal }),
  refetchInterval: slowMs,
});

/** They change with a release only. */
export const schemasQuery = queryOptions({
  queryKey: ["schemas"],
  queryFn: ({ signal }) => ask<Schemas>("/schemas", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** A kind of objects of the configuration, by its path. */
export type Collection = "clusters" | "groups" | "settings" | "scripts";

/** All of a kind: the configuration fits into memory, and a page of it would hide names. */
export function objectsQuery(collection: Collection) {
  return queryOptions({
    queryKey: ["objects", collection],
    queryFn: ({ signal }) => everything<ConfigObject>(`/${collection}`, signal),
    refetchInterval: slowMs,
  });
}

/** `path` as `/clusters/a` or `/routing`. Null where there is none. */
export function objectQuery(path: string) {
  return queryOptions<ConfigObject | null>({
    queryKey: ["object", path],
    queryFn: async ({ signal }) => {
      try {
        return await ask<ConfigObject>(path, { signal });
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });
}

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }) => everything<Worker>("/workers", signal),
  refetchInterval: liveMs,
});

export function workerQuery(instanceId: string) {
  return queryOptions({
    queryKey: ["workers", instanceId],
    queryFn: ({ signal }) => ask<WorkerDetail>(`/workers/${step(instanceId)}`, { signal }),
    refetchInterval: liveMs,
  });
}

export const suspectsQuery = queryOptions({
  queryKey: ["suspects"],
  queryFn: ({ signal }) => everything<Suspect>("/capacity/suspects", signal),
  refetchInterval: slowMs,
});

/** Filters of the history by the names that the API gives them. */
export interface HistoryFilter {
  readonly user?: string;
  readonly status?: string;
  readonly group?: string;
  readonly cluster?: string;
  readonly worker?: string;
  readonly frontend?: string;
  readonly errorCode?: string;
  readonly from?: number;
  readonly to?: number;
}

export function historyQuery(filter: HistoryFilter) {
  return infiniteQueryOptions({
    queryKey: ["history", filter],
    queryFn: ({ signal, pageParam }) =>
      ask<Page<HistoryRecord>>(
        pathOf("/queries", { ...filter, limit: pageSize, cursor: pageParam }),
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

export function recordQuery(id: string) {
  return queryOptions<QueryDetail | null>({
    queryKey: ["record", id],
    queryFn: async ({ signal }) => {
      try {
        return await ask<QueryDetail>(`/queries/${step(id)}`, { signal });
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    // A query that still runs has no record yet.
    refetchInterval: ({ state }) => (state.data === null ? liveMs : false),
  });
}

export const revisionsQuery = infiniteQueryOptions({
  queryKey: ["revisions"],
  queryFn: ({ signal, pageParam }) =>
    ask<Page<Revision>>(pathOf("/revisions", { limit: 50, cursor: pageParam }), { signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor,
});

export function revisionQuery(position: string) {
  return queryOptions({
    queryKey: ["revisions", position],
    queryFn: ({ signal }) => ask<Revision>(`/revisions/${step(position)}`, { signal }),
  });
}

/** Positions are `epoch.sequence`. */
export function differenceQuery(from: string, to: string) {
  return queryOptions({
    queryKey: ["difference", from, to],
    queryFn: ({ signal }) =>
      ask<Page<Difference>>(pathOf("/revisions/diff", { from, to }), { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: ({ signal }) => everything<User>("/users", signal),
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => everything<AdminSession>("/sessions", signal),
  refetchInterval: slowMs,
});

export interface AuditFilter {
  readonly by?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export function auditQuery(filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ signal, pageParam }) =>
      ask<Page<AuditRow>>(pathOf("/audit", { ...filter, limit: pageSize, cursor: pageParam }), {
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

/** Pages that are asked for one after the other; a list beyond them is cut, which its page says. */
const pagesMax = 10;

async function everything<Item>(path: string, signal: AbortSignal): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page: Page<Item> = await ask(pathOf(path, { limit: 1_000, cursor }), { signal });
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return items;
}
