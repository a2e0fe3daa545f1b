/** The caps of a configuration, as the store keeps them. Documents stand as they were written, without defaults. */
import { capacityWaitTimeoutMs, groupSchema } from "@gateway/contract/config/group.ts";
import type { Built } from "../../config/configuration.ts";
import type { CapacityLimits } from "../../store/capacity.ts";

/** A group that can not be read gives nothing: no worker could run it either. */
export function limitsOf({ revision, body }: Pick<Built, "revision" | "body">): CapacityLimits {
  const groups = Object.entries(body.clusterGroups).flatMap(([group, document]) => {
    const parsed = groupSchema.safeParse(document);
    return parsed.success ? [{ group, config: parsed.data }] : [];
  });
  return {
    epoch: revision.epoch,
    sequence: revision.sequence,
    clusters: Object.entries(body.clusters).flatMap(([cluster, { maxRunningQueries }]) =>
      typeof maxRunningQueries === "number" ? [{ cluster, maxRunning: maxRunningQueries }] : [],
    ),
    members: groups.flatMap(({ group, config }) => {
      const {
        members,
        maxRunningQueries: maxRunning,
        maxExecutionSecs,
        maxRunningPerUser,
      } = config;
      const maxExecutionMs = maxExecutionSecs === undefined ? undefined : maxExecutionSecs * 1_000;
      // Once each: the schema's rule about it is checked elsewhere.
      return [...new Set(members)].map((cluster) => ({
        cluster,
        group,
        maxRunning,
        maxExecutionMs,
        maxRunningPerUser,
      }));
    }),
    groups: groups.map(({ group, config }) => ({
      group,
      weight: config.weight,
      maxQueued: config.maxQueuedQueries,
      waitMs: capacityWaitTimeoutMs(config),
    })),
  };
}
