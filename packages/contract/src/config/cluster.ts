/** What every cluster has in common. Each engine's `config.ts` spreads `clusterShape` into its own strict object, beside `engine: z.literal(kind)`. */
import { z } from "zod";

export const queryAuthModes = [
  "serviceAccount",
  "passthrough",
  "impersonate",
  "tokenExchange",
] as const;
export type QueryAuthMode = (typeof queryAuthModes)[number];

/** Common fields; `modes` are the identity modes that the engine has. */
export function clusterShape(modes: readonly [QueryAuthMode, ...QueryAuthMode[]]) {
  const reason = `this engine has ${modes.join(", ")} only`;
  return {
    enabled: z.boolean().default(true).meta({
      title: "Enabled",
      description: "A disabled cluster takes no queries and is not opened.",
    }),
    maxRunningQueries: z.int().min(1).optional().meta({
      title: "Running queries",
      description: "Cap of the cluster over all groups.",
      "x-unit": "queries",
    }),
    queryAuth: z
      .strictObject({
        type: z
          .enum(modes, reason)
          .default(modes[0])
          .meta({ title: "Mode", description: "As whom a query reaches the engine." }),
      })
      .optional()
      .meta({ title: "Backend identity", description: "Which identity the engine sees." }),
  } as const;
}

export interface CommonClusterConfig {
  readonly engine: string;
  readonly enabled: boolean;
  readonly maxRunningQueries?: number | undefined;
  readonly queryAuth?: { readonly type: QueryAuthMode } | undefined;
}
