/** What a worker's config must not hold: everything that the control plane owns (a worker gets it in a snapshot). */
import { valueAt, type Path } from "@gateway/control/config/keys.ts";
import { textOf, type ConfigProblem } from "@gateway/control/config/check/report.ts";

const owned: readonly Path[] = [
  ["clusters"],
  ["groups"],
  ["clusterGroups"],
  ["routers"],
  ["routingFallback"],
  ["auth"],
  ["authorization"],
  ["catalogProvider"],
  ["guardrails"],
  ["accessControl"],
  ["translation", "mode"],
  ["translation", "errorOnUnsupported"],
  ["translation", "clusterGroups"],
  ["translation", "scripts"],
  ["scripts"],
  ["gateway", "workerApi"],
  ["gateway", "retention"],
  ["gateway", "adminApi", "firstAdmin"],
];

/**
 * For a worker's file: the full list of keys that belong to the control plane, then those of
 * `problems` that are not inside of them. Answers `problems` as they are for any other role.
 */
export function controlPlaneProblems(
  input: unknown,
  problems: readonly ConfigProblem[],
): readonly ConfigProblem[] {
  if (valueAt(input, ["gateway", "role"]) !== "worker") return problems;
  const foreign = controlPlaneKeys(input).map(textOf);
  const reason = "belongs to the control plane; a worker receives it in the snapshot";
  const isInside = (path: string): boolean =>
    foreign.some((key) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`));
  return [
    ...foreign.map((path) => ({ path, reason })),
    ...problems.filter(({ path }) => !isInside(path)),
  ];
}

function controlPlaneKeys(input: unknown): readonly Path[] {
  const found = owned.filter((path) => valueAt(input, path) !== undefined);
  const persistence: Path = ["gateway", "persistence"];
  const stored =
    valueAt(input, persistence) !== undefined &&
    valueAt(input, [...persistence, "type"]) !== "inMemory";
  return stored ? [...found, persistence] : found;
}
