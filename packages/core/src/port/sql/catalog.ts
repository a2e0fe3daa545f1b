/** Which tables there are and which columns they have, as a catalog says. It knows names, never rows. */

/** `untilMs`: on the monotonic clock, when it has to be asked again; absent means never within one configuration. */
export type CatalogAnswer =
  | ({ readonly kind: "known"; readonly untilMs?: number } & CatalogTable)
  /** There is no such table, as far as the catalog goes. */
  | { readonly kind: "unknown"; readonly untilMs?: number }
  /** It was not reached, or said nothing that can be used. */
  | { readonly kind: "unavailable" };

export interface CatalogTable {
  readonly isView: boolean;
  /** All of its columns in their order, as they are written. */
  readonly columns: readonly string[];
  /** Their types in the engine's own words, one for each column; absent where the catalog does not tell. */
  readonly types?: readonly string[];
}

/** In the place of a schema: where the engine looks for a name without one. No table has such a schema. */
export const tableDefault = "\u0000default";

export interface Catalog {
  /** Parts that a name must have for the catalog to know it. */
  readonly nameParts: number;
  /** True where what it says depends on the cluster group that is asked for. */
  readonly perGroup?: boolean;
  /** `table`: the whole name in lower case, from the outermost part. `group`: where the statement goes. Never rejects. */
  table(
    table: readonly string[],
    signal: AbortSignal,
    group: string,
  ): CatalogAnswer | Promise<CatalogAnswer>;
}
