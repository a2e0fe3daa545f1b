/** The catalog of a configuration: its own tables, the server that it names, or its clusters. */
import type { CatalogProviderConfig } from "@gateway/contract/config/catalogProvider.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Catalog } from "@gateway/core/port/sql/catalog.ts";
import { unreachable } from "@gateway/core/result.ts";
import { engineCatalog, type AskedCluster, type ClustersOf } from "./engine.ts";
import { icebergCatalog } from "./icebergRest.ts";
import { staticCatalog } from "./static.ts";
import { unityCatalog } from "./unity.ts";

/** Opens nothing before it is asked. `clusters` are those that `engine` asks, and closed by whoever opened them. */
export function openCatalog(
  config: CatalogProviderConfig,
  host: Host,
  clusters: { readonly all: readonly AskedCluster[]; readonly of: ClustersOf },
): Catalog & Partial<AsyncDisposable> {
  switch (config.provider) {
    case "static":
      return staticCatalog(config);
    case "icebergRest":
      return icebergCatalog(config.icebergRest, host);
    case "engine":
      return engineCatalog(config.engine, host, clusters);
    case "unity":
      return unityCatalog(config.unity, host);
    default:
      return unreachable(config);
  }
}
