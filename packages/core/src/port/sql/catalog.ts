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
}

export interface Catalog {
  /** Parts that a name must have for the catalog to know it. */
  readonly nameParts: number;
  /** `table`: the whole name in lower case, from the outermost part. Never rejects. */
  table(table: readonly string[], signal: AbortSignal): CatalogAnswer | Promise<CatalogAnswer>;
}
