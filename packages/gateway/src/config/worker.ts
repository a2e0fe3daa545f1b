/** What a worker's config must not hold: everything that the control plane owns (a worker gets it in a snapshot). */
import type { ConfigProblem } from "./report.ts";
import { textOf } from "./report.ts";

const owned: readonly (readonly string[])[] = [
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
  ["gateway", "workerApi"],
];

/** True when the file asks for the role `worker`. */
export function isWorker(input: unknown): boolean {
  return at(input, ["gateway", "role"]) === "worker";
}

/** Every key of a worker's config that belongs to the control plane. */
export function controlPlaneKeys(input: unknown): readonly ConfigProblem[] {
  const found = owned.filter((path) => at(input, path) !== undefined);
  const store = at(input, ["gateway", "persistence", "type"]);
  const persistence = at(input, ["gateway", "persistence"]);
  const stored = persistence !== undefined && store !== "inMemory";
  const paths = stored ? [...found, ["gateway", "persistence"]] : found;
  return paths.map((path) => ({
    path: textOf(path),
    reason: "belongs to the control plane; a worker receives it in the snapshot",
  }));
}

function at(input: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== "object" || value === null) return undefined;
    return (value as Readonly<Record<string, unknown>>)[key];
  }, input);
}
