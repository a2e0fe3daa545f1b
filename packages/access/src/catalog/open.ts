/** The catalog of a configuration: its own tables, or the server that it names. */
import type { CatalogProviderConfig } from "@gateway/contract/config/catalogProvider.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Catalog } from "@gateway/core/port/sql/catalog.ts";
import { unreachable } from "@gateway/core/result.ts";
import { icebergCatalog } from "./icebergRest.ts";
import { staticCatalog } from "./static.ts";

/** Opens nothing before it is asked. */
export function openCatalog(
  config: CatalogProviderConfig,
  host: Host,
): Catalog & Partial<AsyncDisposable> {
  switch (config.provider) {
    case "static":
      return staticCatalog(config);
    case "icebergRest":
      return icebergCatalog(config.icebergRest, host);
    default:
      return unreachable(config);
  }
}
