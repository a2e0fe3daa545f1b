/** Guards that ask engines how much a statement would read judge no group with an engine that can not say so. */
import { scanEstimatingEngines } from "@gateway/contract/config/guardrail.ts";
import type { ConfigProblem, SnapshotParts } from "./check.ts";

/** One problem for each guard and group, with the first cluster that is in its way. */
export function scanProblems(
  { guardrails, clusterGroups }: Pick<SnapshotParts, "guardrails" | "clusterGroups">,
  engines: ReadonlyMap<string, string>,
): readonly ConfigProblem[] {
  return (guardrails?.guards ?? []).flatMap((guard, index) => {
    if (guard.type !== "maxScanBytes") return [];
    return (guard.clusterGroups ?? Object.keys(clusterGroups)).flatMap((group) => {
      const members = Object.hasOwn(clusterGroups, group) ? clusterGroups[group]?.members : [];
      const other = members?.find((name) => !estimates(engines.get(name)));
      if (other === undefined) return [];
      const named = guard.clusterGroups?.indexOf(group) ?? -1;
      const at = ["guardrails", "guards", index];
      const reason = `the group ${group} has the cluster ${other} of the engine ${engines.get(other) ?? ""}, which does not say before a statement runs how many bytes it would read`;
      return [{ path: named < 0 ? [...at, "type"] : [...at, "clusterGroups", named], reason }];
    });
  });
}

/** A name that leads to no cluster is a problem of its own. */
function estimates(engine: string | undefined): boolean {
  return engine === undefined || scanEstimatingEngines.has(engine);
}
