/**
 * Live state: one stream of events for the whole page, kept in the query cache under `liveKey`. Where there are no
 * streams (a control plane of functions, a proxy that holds them back) the same state is polled.
 */
import type { Live, LiveDelta } from "@gateway/contract/studioApi.ts";
import { queryOptions } from "@tanstack/react-query";
import { pause } from "../tool/clock.ts";
import { cache, meKey } from "./cache.ts";
import { ask } from "./client.ts";
import { setConnection } from "./connection.ts";

const liveKey = ["live"] as const;
const pollMs = 2_000;
/** Streams that broke off before their first event: after so many the state is polled. */
const failuresMax = 2;
const againMs = 1_000;

/** Read once; the stream or the poll goes on from there. */
export const liveQuery = queryOptions({
  queryKey: liveKey,
  queryFn: ({ signal }) => ask<Live>("/live", { signal }),
  staleTime: pollMs,
});

/** Keeps the state live until the signal is aborted. */
export async function followLive(signal: AbortSignal): Promise<void> {
  let failures = typeof EventSource === "undefined" ? failuresMax : 0;
  let streams = false;
  while (!signal.aborted) {
    // Where there was one, there will be: a control plane that restarts is no reason to poll it for ever.
    if (streams || failures < failuresMax) {
      const said = await streamed(signal);
      streams ||= said;
      failures = said ? 0 : failures + 1;
      await pause(againMs, signal);
    } else {
      await cache.fetchQuery({ ...liveQuery, staleTime: 0 }).catch(() => undefined);
      await pause(pollMs, signal);
    }
  }
}

/** One stream to its end. Answers whether an event came. */
function streamed(signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const source = new EventSource("/admin/events");
    let said = false;
    const end = (): void => {
      source.close();
      signal.removeEventListener("abort", end);
      resolve(said);
    };
    signal.addEventListener("abort", end);
    source.addEventListener("snapshot", (event: MessageEvent<string>) => {
      said = true;
      setConnection("answering");
      cache.setQueryData(liveKey, JSON.parse(event.data) as Live);
    });
    source.addEventListener("delta", (event: MessageEvent<string>) => {
      const delta = JSON.parse(event.data) as LiveDelta;
      cache.setQueryData<Live>(liveKey, (live) =>
        live === undefined ? live : withDelta(live, delta),
      );
    });
    source.addEventListener("end", () => {
      // A session or a role may have ended; what still holds is said by an ordinary request.
      void cache.invalidateQueries({ queryKey: meKey });
      end();
    });
    source.addEventListener("error", end);
  });
}

/** The state after what changed. */
export function withDelta(live: Live, delta: LiveDelta): Live {
  return {
    at: delta.at,
    counters: delta.counters ?? live.counters,
    queries: changed(live.queries, delta.queries),
    workers: changed(live.workers, delta.workers),
    clusters: changed(live.clusters, delta.clusters),
    groups: changed(live.groups, delta.groups),
  };
}

interface Entry {
  readonly key: string;
}

interface List<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

type Changed<Item> =
  | { readonly total: number; readonly put: readonly Item[]; readonly gone: readonly string[] }
  | undefined;

/** Entries keep their place; new ones come last. */
function changed<Item extends Entry>(
  list: { total: number; items: Item[] },
  change: Changed<Item>,
): { total: number; items: Item[] };
function changed<Item extends Entry>(list: List<Item>, change: Changed<Item>): List<Item> {
  if (change === undefined) return list;
  const put = new Map(change.put.map((item) => [item.key, item]));
  const gone = new Set(change.gone);
  const kept = list.items
    .filter(({ key }) => !gone.has(key))
    .map((item) => put.get(item.key) ?? item);
  const known = new Set(kept.map(({ key }) => key));
  return {
    total: change.total,
    items: [...kept, ...change.put.filter(({ key }) => !known.has(key))],
  };
}
