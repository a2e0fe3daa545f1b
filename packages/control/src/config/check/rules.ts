/** Rules that span objects of a snapshot; what only the process knows is judged there. */
import { engines } from "@gateway/engines/catalog.ts";
import type { SlotsFreedBy } from "@gateway/engines/descriptor.ts";
import type { Path } from "../keys.ts";
import type { SnapshotConfig } from "../objects.ts";

/** One broken rule. */
export interface RuleProblem {
  readonly path: Path;
  readonly reason: string;
}

/** All that rules across objects see of a cluster. Two clusters with equal values are equal to them. */
export interface ClusterBeside {
  readonly engine: string;
  readonly queryAuth?: { readonly type: string } | undefined;
}

type Together = Pick<
  SnapshotConfig,
  "auth" | "authorization" | "clusterGroups" | "accessControl"
> & {
  readonly clusters: Readonly<Record<string, ClusterBeside>>;
};

/** Under provider `none` the name is the client's own claim, so nothing may depend on it. */
export function nameOnlyAuth(config: Together): readonly RuleProblem[] {
  if (verifiesUsers(config)) return [];
  const reason = "needs verified users, but auth.provider is none";
  const allowLists = Object.entries(config.clusterGroups).flatMap(([name, { authorization }]) =>
    authorization === undefined ? [] : [["clusterGroups", name, "authorization"]],
  );
  const perUser = Object.entries(config.clusterGroups).flatMap(([name, { maxRunningPerUser }]) =>
    maxRunningPerUser === undefined ? [] : [["clusterGroups", name, "maxRunningPerUser"]],
  );
  const identities = Object.entries(config.clusters).flatMap(([name, { queryAuth }]) =>
    (queryAuth?.type ?? "serviceAccount") === "serviceAccount"
      ? []
      : [["clusters", name, "queryAuth", "type"]],
  );
  const provider = config.authorization.provider === "none" ? [] : [["authorization", "provider"]];
  const access = config.accessControl === undefined ? [] : [["accessControl"]];
  return [...allowLists, ...perUser, ...identities, ...provider, ...access].map((path) => ({
    path,
    reason,
  }));
}

type Members = Pick<SnapshotConfig, "clusters" | "clusterGroups">;

/** Where workers lease slots, a dead worker's slot on an engine that lists nothing comes back only by the limit of its group. */
export function unlimitedGroups({ clusters, clusterGroups }: Members): readonly RuleProblem[] {
  return Object.entries(clusterGroups).flatMap(([name, { members, maxExecutionSecs }]) => {
    if (maxExecutionSecs !== undefined) return [];
    const unlisted = members.find((member) => freedBy(clusters, member) === "limit");
    if (unlisted === undefined) return [];
    const reason = `is required: ${unlisted} can not list what it runs, so that slots of a dead worker come back by it`;
    return [{ path: ["clusterGroups", name, "maxExecutionSecs"], reason }];
  });
}

/** Members whose slots come back by hand when a worker is dead. Nothing is wrong with them. */
export function handFreedMembers({ clusters, clusterGroups }: Members): readonly RuleProblem[] {
  const reason =
    "can neither list what it runs nor end it by a limit: slots of a dead worker are freed by hand";
  return Object.entries(clusterGroups).flatMap(([name, { members }]) =>
    members.flatMap((member, at) =>
      freedBy(clusters, member) === "hand"
        ? [{ path: ["clusterGroups", name, "members", at], reason: `${member} ${reason}` }]
        : [],
    ),
  );
}

/** What brings a slot of the cluster back; undefined for one that takes no queries. */
function freedBy(clusters: SnapshotConfig["clusters"], name: string): SlotsFreedBy | undefined {
  const config = Object.hasOwn(clusters, name) ? clusters[name] : undefined;
  return config?.enabled === true ? slotsFreedBy(config) : undefined;
}

/** As the engine of the config says. */
export function slotsFreedBy(config: SnapshotConfig["clusters"][string]): SlotsFreedBy {
  const descriptor = engines[config.engine];
  // Its own config, which the union of all engines does not show.
  return descriptor.slotsFreedBy(config as never);
}

/** False while a client is whoever it says. */
export function verifiesUsers({ auth }: Pick<SnapshotConfig, "auth">): boolean {
  return (auth?.provider ?? "none") !== "none";
}
