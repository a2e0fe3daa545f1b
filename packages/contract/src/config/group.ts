/**
 * A cluster group: the routing target. Its members share the work by a strategy, its limits hold for
 * every query that is routed to it.
 *
 * Shapes only. That members exist and weights name members is checked in core/snapshot/check.ts.
 */
import { z } from "zod";
import { scriptName } from "./script.ts";

/** Waiting time for a slot when the config says 0, which means "the default" and not "never". */
const capacityWaitTimeoutSecsDefault = 300;

const clusterName = z.string().min(1);

const roundRobin = z
  .strictObject({ type: z.literal("roundRobin") })
  .meta({ title: "Round robin", description: "Members take turns." });

const leastLoaded = z.strictObject({ type: z.literal("leastLoaded") }).meta({
  title: "Least loaded",
  description: "The member with the fewest running queries goes first; equals take turns.",
});

const failover = z.strictObject({ type: z.literal("failover") }).meta({
  title: "Failover",
  description: "The first member that is healthy and has room, in the order of the list.",
});

const engineAffinity = z
  .strictObject({
    type: z.literal("engineAffinity"),
    preference: z
      .array(z.string().min(1))
      .min(1)
      .meta({
        title: "Preference",
        description:
          "Engine kinds, best first. Members of other engines come last; equals take turns.",
        examples: [["duckDb"]],
      }),
  })
  .meta({ title: "Engine affinity", description: "Members of a preferred engine go first." });

const weighted = z
  .strictObject({
    type: z.literal("weighted"),
    weights: z.record(clusterName, z.number().min(0).max(1_000)).meta({
      title: "Weights",
      description:
        "Share of each member against the others. A member that is not named has weight 1; one with weight 0 is used only when no other has room.",
      examples: [{ small: 1, big: 4 }],
    }),
  })
  .meta({ title: "Weighted", description: "Members take turns by weight." });

const scriptStrategy = z.strictObject({ type: z.literal("script"), script: scriptName }).meta({
  title: "Script strategy",
  description:
    "A script of the use order puts the members in their order, once for each query. Members take turns while it fails.",
});

const strategy = z
  .discriminatedUnion("type", [
    roundRobin,
    leastLoaded,
    failover,
    engineAffinity,
    weighted,
    scriptStrategy,
  ])
  .default({ type: "roundRobin" })
  .meta({ title: "Strategy", description: "Which member is offered a query first." });

const authorization = z
  .strictObject({
    allowGroups: z.array(z.string().min(1)).optional().meta({
      title: "Allowed user groups",
      description: "Members of these user groups may use the cluster group.",
    }),
    allowUsers: z.array(z.string().min(1)).optional().meta({
      title: "Allowed users",
      description: "These users may use the cluster group.",
    }),
  })
  .meta({
    title: "Allow lists",
    description:
      "Who may route here: a match in either list. Both absent means everyone; a written empty list and no other match means nobody.",
  });

const circuitBreaker = z
  .strictObject({
    failures: z.int().min(1).max(1_000).default(5).meta({
      title: "Failures",
      description: "Failed connections in a row after which a member gets no more queries.",
      "x-unit": "failures",
    }),
    openSecs: z.int().min(1).max(86_400).default(30).meta({
      title: "Open time",
      description: "How long it gets none, before one query tries again.",
      "x-unit": "seconds",
    }),
  })
  .meta({
    title: "Circuit breaker",
    description: "Keeps queries away from a member that can not be reached. Absent means none.",
  });

const limits = {
  maxRunningQueries: z.int().min(1).max(1_000_000).meta({
    title: "Running queries",
    description: "Most queries of this group that run at once on each member cluster.",
    "x-unit": "queries",
  }),
  maxRunningPerUser: z.int().min(1).max(1_000_000).optional().meta({
    title: "Running queries of a user",
    description:
      "Most queries and open transactions of one user that hold slots of this group at once, over all its members; further ones wait, and nobody else waits behind them. Absent means no limit but the group's. Over all workers where they share slots (coordination.mode controlPlane); each query then asks the control plane for its slot. Refused where users are not verified.",
    "x-unit": "queries",
  }),
  maxQueuedQueries: z.int().min(0).max(10_000_000).optional().meta({
    title: "Waiting queries",
    description:
      "Most queries that wait for a slot; a further one is refused. Absent means no limit.",
    "x-unit": "queries",
  }),
  capacityWaitTimeoutSecs: z.int().min(0).max(86_400).default(capacityWaitTimeoutSecsDefault).meta({
    title: "Capacity wait timeout",
    description:
      "How long a query waits for clusters that are full before it is refused; 0 means 300. Where no cluster of the group can be reached it is refused after ten seconds.",
    "x-unit": "seconds",
  }),
  maxExecutionSecs: z.int().min(1).max(31_536_000).optional().meta({
    title: "Execution time",
    description:
      "A query that runs longer in the engine is ended, by the engine itself where it has such a limit. Absent means no limit; on a control plane with workers it is required where a member can not list what it runs.",
    "x-unit": "seconds",
  }),
  maxTransactionSecs: z.int().min(1).max(31_536_000).optional().meta({
    title: "Transaction time",
    description:
      "Longest life of a transaction, whatever happens in it: it is rolled back then, a statement that runs in it is ended, and its slot is free. Chained transactions count as one. Absent means no limit but that of an idle one.",
    "x-unit": "seconds",
  }),
  maxRows: z.int().min(1).optional().meta({
    title: "Rows",
    description: "A result with more rows is ended with an error. Absent means no limit.",
    "x-unit": "rows",
  }),
};

export const groupSchema = z
  .strictObject({
    enabled: z.boolean().default(true).meta({
      title: "Enabled",
      description: "No query is routed to a disabled group.",
    }),
    members: z
      .array(clusterName)
      .min(1)
      .meta({
        title: "Members",
        description: "Clusters of the group, each once. The order counts for failover.",
        examples: [["duck"]],
      }),
    order: z.int().min(-1_000_000).max(1_000_000).default(0).meta({
      title: "Order",
      description:
        "Where no router matched, the allowed group with the lowest order is taken; equals go by name.",
    }),
    strategy,
    ...limits,
    weight: z.number().min(0.001).max(1_000).default(1).meta({
      title: "Weight",
      description: "Share of the group when groups compete for the slots of one cluster.",
    }),
    authorization: authorization.optional(),
    defaultTags: z.record(z.string().min(1), z.string()).default({}).meta({
      title: "Default tags",
      description: "Tags a query gets unless its client set them.",
    }),
    circuitBreaker: circuitBreaker.optional(),
    agentWrites: z.boolean().optional().meta({
      title: "Writes of agents",
      description:
        "Whether statements that may write run here when an agent sends them (MCP). Absent means no: only what is known to read runs, and a text that can be read in two ways does not. Functions that write are not known; give the engine's user no more rights than agents may have.",
    }),
  })
  .meta({ title: "Cluster group", description: "A routing target: clusters that share work." });

export type GroupConfig = z.output<typeof groupSchema>;
export type StrategyConfig = GroupConfig["strategy"];
export type CircuitBreakerConfig = z.output<typeof circuitBreaker>;
export type AllowLists = z.output<typeof authorization>;

/** `capacityWaitTimeoutSecs` in milliseconds, with 0 read as the default. */
export function capacityWaitTimeoutMs(group: Pick<GroupConfig, "capacityWaitTimeoutSecs">): number {
  return (group.capacityWaitTimeoutSecs || capacityWaitTimeoutSecsDefault) * 1_000;
}
