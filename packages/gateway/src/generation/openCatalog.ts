/** The catalog of a configuration, over the clusters that are open for it. */
import type { AskedCluster } from "@gateway/access/catalog/engine.ts";
import type { SnapshotConfig } from "@gateway/control/config/objects.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { CompileParts } from "@gateway/core/snapshot/compile.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { asksCatalog } from "@gateway/core/snapshot/catalog/use.ts";
import type { StartError } from "../starting.ts";

type Parts = Pick<
  SnapshotConfig,
  "catalogProvider" | "clusters" | "clusterGroups" | "accessControl" | "translation"
>;

/** Undefined where the configuration names none. `backends` are closed by whoever opened them. */
export async function openCatalogOf(
  config: Parts,
  backends: readonly Backend[],
  host: Host,
): Promise<Result<CompileParts["catalog"], readonly StartError[]>> {
  const { catalogProvider, clusters, clusterGroups } = config;
  if (catalogProvider === undefined) return ok(undefined);
  const open = new Map(
    backends.map((backend): [string, AskedCluster] => {
      const { cluster } = backend;
      return [cluster, { backend, queryAuth: clusters[cluster]?.queryAuth }];
    }),
  );
  const of = (group: string): readonly AskedCluster[] =>
    (clusterGroups[group]?.members ?? []).flatMap((name) => open.get(name) ?? []);
  const asking = Object.keys(clusterGroups).filter((group) => asksCatalog(config, group));
  const all = [...new Set(asking.flatMap((group) => of(group)))];
  if (catalogProvider.provider === "engine") {
    const { namePartsIn } = await import("@gateway/access/catalog/metadata.ts");
    const faults = all
      .filter(({ backend }) => namePartsIn(backend.dialect) === undefined)
      .map(({ backend: { cluster } }) => ({ cluster, reason: unknownMetadata }));
    if (faults.length > 0) return err(faults);
  }
  const { openCatalog } = await import("@gateway/access/catalog/open.ts");
  return ok(openCatalog(catalogProvider, host, { all, of }));
}

const unknownMetadata =
  "can not be asked for its tables: catalogProvider engine knows no metadata of its engine";
