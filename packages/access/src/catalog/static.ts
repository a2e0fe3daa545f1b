/** Tables of the configuration as a catalog. The same configuration always says the same. */
import type { StaticCatalogConfig } from "@gateway/contract/config/catalogProvider.ts";
import { lower } from "@gateway/core/police/names.ts";
import type { Catalog, CatalogTable } from "@gateway/core/port/sql/catalog.ts";

/** A key means the last parts of a whole name; the longest one that fits counts. */
export function staticCatalog({ tables }: StaticCatalogConfig): Catalog {
  const known = new Map<string, CatalogTable>(
    Object.entries(tables).map(([name, { kind, columns }]) => [
      lower(name),
      { isView: kind === "view", columns },
    ]),
  );
  return {
    nameParts: Math.max(1, ...[...known.keys()].map((name) => name.split(".").length)),
    table: (path) => {
      // A name with a dot in quotes is no two names.
      if (path.some((part) => part.includes("."))) return { kind: "unknown" };
      for (let from = 0; from < path.length; from += 1) {
        const found = known.get(path.slice(from).join("."));
        if (found !== undefined) return { kind: "known", ...found };
      }
      return { kind: "unknown" };
    },
  };
}
