/** Judges what a config means as a whole, even where parts of it are broken. It then says only what holds without the broken parts. */
import { groupSchema, type GroupConfig } from "@gateway/contract/config/group.ts";
import { checkSnapshot, type SnapshotParts } from "@gateway/core/snapshot/check.ts";
import { valueAt, type Path } from "@gateway/control/config/keys.ts";
import type { Repaired } from "./repair.ts";
import { textOf, type ConfigProblem } from "@gateway/control/config/check/report.ts";
import type { RuleProblem } from "@gateway/control/config/check/rules.ts";
import { safetyProblems } from "./rules.ts";
import type { RootConfig } from "./schema.ts";

/** Problems between the parts, without those that exist only because a broken part was taken out. */
export function meaningProblems(
  { config, removed }: Repaired<RootConfig>,
  input: unknown,
): readonly ConfigProblem[] {
  const problems = [
    ...(removed.some(holdsNames) ? [] : checkSnapshot(withNames(config, removed, input))),
    ...(removed.some(holdsNames) ? [] : pythonProblems(config)),
    ...(removed.some(decidesSafety) ? [] : safetyProblems(config)),
  ];
  return problems
    .filter(({ path }) => !removed.some((gone) => startsWith(path, gone) || startsWith(gone, path)))
    .map(({ path, reason }) => ({ path: textOf(path), reason }));
}

/** All clusters or all groups are gone: every reference to one would seem to lead nowhere. */
function holdsNames(gone: Path): boolean {
  return gone.length === 1 && (gone[0] === "clusters" || gone[0] === "clusterGroups");
}

/** Who may listen where depends on these. */
function decidesSafety(gone: Path): boolean {
  const [first, second] = gone;
  return first === "auth" || (first === "gateway" && (second ?? "frontends") === "frontends");
}

const anyGroup = groupSchema.parse({ members: ["any"], maxRunningQueries: 1 });

/**
 * The parts, with broken clusters and groups back under their names and engines: others may refer
 * to them, however wrong the rest of them is.
 */
function withNames(config: RootConfig, removed: readonly Path[], input: unknown): SnapshotParts {
  const namesIn = (section: string) =>
    removed.flatMap(([first, name]) =>
      first === section && name !== undefined ? [String(name)] : [],
    );
  const clusters = namesIn("clusters").map((name): [string, { engine: string }] => [
    name,
    { engine: engineOf(valueAt(input, ["clusters", name, "engine"])) },
  ]);
  const groups = namesIn("clusterGroups").map((name): [string, GroupConfig] => [name, anyGroup]);
  return {
    ...config,
    clusters: { ...config.clusters, ...Object.fromEntries(clusters) },
    clusterGroups: { ...Object.fromEntries(groups), ...config.clusterGroups },
  };
}

/** Only a text names an engine. Turning anything else into a text could throw. */
function engineOf(written: unknown): string {
  return typeof written === "string" ? written : "";
}

function startsWith(path: Path, start: Path): boolean {
  return start.length <= path.length && start.every((part, index) => part === path[index]);
}

/** A worker's file has no groups to compare with: what its scripts would change behind a policy is refused statement by statement. */
function pythonProblems({
  gateway,
  translation,
  accessControl,
  clusterGroups: groups,
}: RootConfig): readonly RuleProblem[] {
  if (gateway.role === "worker") return [];
  const isPoliced = (group: string): boolean =>
    accessControl !== undefined && (accessControl.clusterGroups?.includes(group) ?? true);
  return (translation?.pythonScripts ?? []).flatMap(({ clusterGroups }, index) => {
    const path = ["translation", "pythonScripts", index];
    const policed = (clusterGroups ?? Object.keys(groups)).find(isPoliced);
    const unknown = (clusterGroups ?? []).flatMap((group, place) =>
      Object.hasOwn(groups, group)
        ? []
        : [
            {
              path: [...path, "clusterGroups", place],
              reason: `there is no cluster group ${JSON.stringify(group)}`,
            },
          ],
    );
    if (policed === undefined) return unknown;
    const reason = `would change statements that accessControl judged, of ${policed}`;
    return [...unknown, { path, reason }];
  });
}
