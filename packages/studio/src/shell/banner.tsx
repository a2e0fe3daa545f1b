/** What concerns every page: the control plane does not answer, or does not have the newest configuration. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { cache } from "../api/cache.ts";
import { connectionNow, onConnection } from "../api/connection.ts";
import { meQuery, statusQuery } from "../api/queries.ts";
import { pause } from "../tool/clock.ts";
import { Ago } from "../ui/time.tsx";

const againMs = 1_500;

export function Banners() {
  const connection = useSyncExternalStore(onConnection, connectionNow);
  useEffect(() => {
    if (connection === "answering") return undefined;
    const stopped = new AbortController();
    void askAgain(stopped.signal);
    return () => {
      stopped.abort();
      // What was shown meanwhile may be old.
      void cache.invalidateQueries();
    };
  }, [connection]);
  return (
    <div aria-live="polite">
      {connection === "lost" ? (
        <div className="banner bad" role="status">
          <strong>The control plane does not answer.</strong>
          <span>What you see is from before. Asking again …</span>
        </div>
      ) : (
        <Freshness />
      )}
    </div>
  );
}

/** The first answer turns the connection back, which ends this. */
async function askAgain(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(againMs, signal);
    if (!signal.aborted)
      await cache.fetchQuery({ ...meQuery, staleTime: 0 }).catch(() => undefined);
  }
}

function Freshness() {
  const { data } = useQuery(statusQuery);
  if (data?.fresh.problem === undefined) return null;
  return (
    <div className="banner warn" role="status">
      <strong>The configuration may be old.</strong>
      <span>
        {data.fresh.problem} Confirmed <Ago at={data.fresh.confirmedAt} />.
      </span>
    </div>
  );
}
