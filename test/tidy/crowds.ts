/** How many files lie flat in a folder: a newcomer looks through all of them. */
import { posix } from "node:path";
import { sourcesOf, type Tree } from "./tree.ts";

const filesMax = 16;

/** What stood before there was a limit. A number only falls, and its line goes when it fits. */
export const crowded: Readonly<Record<string, number>> = {
  "packages/control/src/admin": 27,
  "packages/control/src/config": 20,
  "packages/control/src/worker": 24,
  "packages/core/src/capacity": 25,
  "packages/core/src/port": 19,
  "packages/core/src/query": 28,
  "packages/engines/src/adbc": 38,
  "packages/engines/src/adbcDriver": 26,
  "packages/engines/src/clickHouse": 20,
  "packages/engines/src/duckDb": 17,
  "packages/engines/src/starRocks": 25,
  "packages/engines/src/trino": 35,
  "packages/frontends/src/mysql": 37,
  "packages/frontends/src/postgres": 49,
  "packages/frontends/src/trino": 39,
  "packages/gateway/src/control": 22,
  "packages/gateway/src/host": 18,
  "packages/gateway/src/worker": 35,
};

/** Folders that hold more than they may, and those that hold less than `known` says they do. */
export function crowdProblems(
  tree: Tree,
  known: Readonly<Record<string, number>>,
): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of sourcesOf(tree).keys()) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const grown = [...counts].flatMap(([folder, count]) => {
    const most = known[folder] ?? filesMax;
    return count > most ? [`${folder}: ${count} files, at most ${most}`] : [];
  });
  const shrunk = Object.entries(known).flatMap(([folder, most]) => {
    const count = counts.get(folder) ?? 0;
    const next = count > filesMax ? `${count}` : "none";
    return count < most ? [`${folder}: ${count} files; its line says ${most}, not ${next}`] : [];
  });
  return [...grown, ...shrunk];
}
