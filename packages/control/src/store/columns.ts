/**
 * Column types that read PostgreSQL's text output, which is what `Database` hands over. Drizzle's own
 * types cover the rest (bigint as a number, jsonb, arrays).
 */
import { Buffer } from "node:buffer";
import { bigint, customType } from "drizzle-orm/pg-core";

/**
 * Text that is a key or decides an order. Collation "C" compares bytes: faster than a language's
 * rules, the same on every machine, and an index on it survives an upgrade of the system's locales.
 */
export const key = customType<{ data: string; driverData: string }>({
  dataType: () => 'text COLLATE "C"',
});

/** `t` or `f`. */
export const flag = customType<{ data: boolean; driverData: string | boolean }>({
  dataType: () => "boolean",
  fromDriver: (value) => value === true || value === "t",
});

/** `\x` and hex digits out, bytes in. */
export const bytes = customType<{ data: Uint8Array; driverData: string | Uint8Array }>({
  dataType: () => "bytea",
  fromDriver: (value) =>
    typeof value === "string" ? Uint8Array.from(Buffer.from(value.slice(2), "hex")) : value,
});

/**
 * Unix milliseconds, whole. A number and not a timestamp: it is what crosses processes, it is the same
 * in every session time zone, and a cursor holds it exactly. `to_timestamp(x / 1000.0)` reads it.
 */
export const unixMs = (name: string) => bigint(name, { mode: "number" });
