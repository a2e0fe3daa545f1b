/** A column of a catalog's result: its cells are PostgreSQL's own bytes, and so is its type. */
import type { Column } from "@gateway/core/type/type.ts";

export interface CatalogColumn extends Column {
  readonly announced: Announced;
}

/** What the client is told of a column. */
export interface Announced {
  readonly oid: number;
  readonly size: number;
  readonly modifier: number;
}

/** The type that came with the column; undefined for a column of a neutral type. */
export function announcedOf(column: Column | CatalogColumn): Announced | undefined {
  return "announced" in column ? column.announced : undefined;
}
