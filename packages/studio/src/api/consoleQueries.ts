/** What the contract of the console adds to the resources: capabilities, time series, signing on. */
import type { Capabilities, Overview, OverviewRange, SignOn } from "@gateway/contract/studioApi.ts";
import { queryOptions } from "@tanstack/react-query";
import { ask, pathOf } from "./client.ts";

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
  queryFn: ({ signal }) => ask<SignOn>("/sign-on", { signal }),
});
