/** What the contract of the console adds to the resources: capabilities, time series, signing on. */
import type { Capabilities, Overview, OverviewRange, SignOn } from "@gateway/contract/studioApi.ts";
import { queryOptions } from "@tanstack/react-query";
import { ApiError, ask, pathOf } from "./client.ts";

const seriesMs = 10_000;

export const capabilitiesQuery = queryOptions({
  queryKey: ["capabilities"],
  queryFn: ({ signal }) => ask<Capabilities>("/capabilities", { signal }),
  staleTime: 60_000,
});

export function overviewQuery(range: OverviewRange) {
  return queryOptions({
    queryKey: ["overview", range],
    queryFn: ({ signal }) => ask<Overview>(pathOf("/overview", { range }), { signal }),
    refetchInterval: seriesMs,
  });
}

export const signOnQuery = queryOptions({
  queryKey: ["signOn"],
  queryFn: async ({ signal }): Promise<SignOn> => {
    try {
      return await ask<SignOn>("/sign-on", { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      // A control plane without other ways to sign on than a password.
      const { needed } = await ask<{ readonly needed: boolean }>("/setup", { signal });
      return { setupNeeded: needed, password: true };
    }
  },
});
