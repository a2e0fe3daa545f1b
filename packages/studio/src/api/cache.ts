/** The query cache: what is asked again when, and what an ended session does to it. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client.ts";

export const meKey = ["me"] as const;

export const cache: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (failures, error) => failures < 2 && isPassing(error),
      retryDelay: 400,
      // Also when the browser believes to be offline: a control plane on loopback needs no network.
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
  queryCache: new QueryCache({ onError: sessionEnded }),
  mutationCache: new MutationCache({ onError: sessionEnded }),
});

/** All that a user was shown. Who it is stays: the gate watches that one, and would go on watching one that is gone. */
export function forgetAll(): void {
  const all = cache.getQueryCache();
  for (const query of all.findAll()) if (query.queryKey[0] !== meKey[0]) all.remove(query);
}

/** A 401 means that nobody is logged in any more: the page asks for a login where it is, and goes on there. */
function sessionEnded(error: unknown): void {
  if (error instanceof ApiError && error.status === 401 && cache.getQueryData(meKey) !== null) {
    cache.setQueryData(meKey, null);
  }
}

function isPassing(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 0 || error.status >= 500;
}
