/**
 * The neutral types: what a column or a parameter is, between every engine and every protocol.
 *
 * They follow Arrow's, reduced to one layout per meaning (see vector.ts). A frontend's `types.ts` says what
 * each becomes in its protocol, an engine's `types.ts` what the engine's types become here.
 */

export type TimeUnit = "s" | "ms" | "us" | "ns";

export type DataType =
  | { readonly kind: "null" }
  | { readonly kind: "boolean" }
  | { readonly kind: "integer"; readonly bits: 8 | 16 | 32 | 64 | 128; readonly signed: boolean }
  | { readonly kind: "float"; readonly bits: 32 | 64 }
  /** Exact; `precision` at most 38, `0 <= scale <= precision`. */
  | { readonly kind: "decimal"; readonly precision: number; readonly scale: number }
  | { readonly kind: "text" }
  | { readonly kind: "binary" }
  | { readonly kind: "date" }
  /** Time of day without a zone. */
  | { readonly kind: "time"; readonly unit: TimeUnit }
  /** `zoned`: an instant, counted from the epoch in UTC. Otherwise a wall-clock reading, counted as if in UTC. */
  | { readonly kind: "timestamp"; readonly unit: TimeUnit; readonly zoned: boolean }
  /** Months, days and nanoseconds; none of them converts into another. */
  | { readonly kind: "interval" }
  | { readonly kind: "uuid" }
  /** JSON as text. */
  | { readonly kind: "json" }
  | { readonly kind: "list"; readonly item: DataType }
  | { readonly kind: "struct"; readonly fields: readonly Field[] }
  | { readonly kind: "map"; readonly key: DataType; readonly value: DataType };

export interface Field {
  readonly name: string;
  readonly type: DataType;
}

/** A column of a result. */
export interface Column extends Field {
  /** False only where the engine promises that no NULL can appear. */
  readonly nullable: boolean;
  /** The engine's own name of the type (`DECIMAL(12,2)`), for protocols that show one. */
  readonly engineType?: string;
  /**
   * Set where the type is text and each cell an exact number of any length, `NaN`, `Infinity` or `-Infinity`, as
   * PostgreSQL writes its numeric: with the digits that the engine says, or any.
   */
  readonly numeric?: "any" | { readonly precision: number; readonly scale: number };
  /** PostgreSQL's own description, where its client gets the rows as the server sent them. */
  readonly announced?: AnnouncedColumn;
}

/** A field of PostgreSQL's RowDescription. */
export interface AnnouncedColumn {
  readonly oid: number;
  readonly size: number;
  readonly modifier: number;
  /** Object id of its table and its number there; absent or 0 where it is no column of a table. */
  readonly table?: number;
  readonly column?: number;
}

/**
 * A typed value: a parameter as the client sent it, or one cell taken out.
 *
 * `value` by type: null for NULL of any type; `boolean`; `bigint` for integers, decimals (unscaled),
 * dates (days since 1970-01-01), times and timestamps (count of the type's unit); `number` for floats;
 * `string` for text, json and uuid (canonical lower-case form); `Uint8Array` for binary;
 * `Interval` for intervals; an array of `Value` for lists and structs (in field order); an array of
 * `[key, value]` pairs for maps.
 */
export interface Parameter {
  readonly type: DataType;
  readonly value: Value;
  /**
   * What the client wrote, in its own dialect. Only an engine of that dialect gets it, and takes it in place
   * of the value: a zone or a computed value would be lost on the way through a neutral type.
   */
  readonly expression?: string;
}

export interface Interval {
  readonly months: number;
  readonly days: number;
  readonly nanoseconds: bigint;
}

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Interval
  | readonly Value[];
