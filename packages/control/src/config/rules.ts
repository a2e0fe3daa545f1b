/** Rules that span objects of a snapshot; what only the process knows is judged there. */
import type { Path } from "./keys.ts";
import type { SnapshotConfig } from "./objects.ts";

/** One broken rule. */
export interface RuleProblem {
  readonly path: Path;
  readonly reason: string;
}

/** All that rules across objects see of a cluster: one with the same is the same to them. */
export interface ClusterBeside {
  readonly engine: string;
  readonly queryAuth?: { readonly type: string } | undefined;
}

type Together = Pick<SnapshotConfig, "auth" | "authorization" | "clusterGroups"> & {
  readonly clusters: Readonly<Record<string, ClusterBeside>>;
};

/** Under provider `none` the name is the client's own claim, so nothing may depend on it. */
export function nameOnlyAuth(config: Together): readonly RuleProblem[] {
  if (verifiesUsers(config)) return [];
  const reason = "needs verified users, but auth.provider is none";
  const allowLists = Object.entries(config.clusterGroups).flatMap(([name, { authorization }]) =>
    authorization === undefined ? [] : [["clusterGroups", name, "authorization"]],
  );
  const identities = Object.entries(config.clusters).flatMap(([name, { queryAuth }]) =>
    (queryAuth?.type ?? "serviceAccount") === "serviceAccount"
      ? []
      : [["clusters", name, "queryAuth", "type"]],
  );
  const provider = config.authorization.provider === "none" ? [] : [["authorization", "provider"]];
  return [...allowLists, ...identities, ...provider].map((path) => ({ path, reason }));
}

/** False while a client is whoever it says. */
export function verifiesUsers({ auth }: Pick<SnapshotConfig, "auth">): boolean {
  return (auth?.provider ?? "none") !== "none";
}
