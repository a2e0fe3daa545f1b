/**
 * What a cell writer is, and the style that tells it how its text looks. A writer is chosen once per column and
 * batch and called once per cell; it writes bytes into the caller's buffer and makes no object. text.ts has
 * the writers.
 */
import type { Zone } from "./zone.ts";

/** Writes cells of one vector. Never called for a NULL. */
export interface CellWriter {
  /** Most bytes that `write` needs for this row. The caller makes room for them first. */
  bound(row: number): number;
  /** Writes the cell at `at` and returns the offset behind it. */
  write(out: Uint8Array, at: number, row: number): number;
}

/** How the text of a cell looks. Frontends start from one of the three in text.ts and spread over it. */
export interface TextStyle {
  /** True: every cell is a JSON value (text quoted and escaped, numbers bare). False: plain text. */
  readonly json: boolean;
  /** In JSON booleans are always `true` and `false`. */
  readonly booleans: "t/f" | "true/false" | "1/0";
  /** `hex` is `\x0aff`, `0x` is `0x0AFF`; `raw` is the bytes themselves and base64 inside JSON. */
  readonly binary: "hex" | "0x" | "base64" | "raw";
  /** Between date and time. */
  readonly separator: " " | "T";
  /** Digits behind the second: as many as the unit has, or without trailing zeros. */
  readonly fraction: "fixed" | "trimmed";
  /** Where instants are shown. Wall-clock timestamps are never moved. */
  readonly zone: Zone;
  /** Behind an instant: `offset` is `+01` or `+05:30`, `isoOffset` is `+01:00` or `Z`, `name` is ` Europe/Berlin`. */
  readonly zoneSuffix: "none" | "offset" | "isoOffset" | "name";
  /** Years outside 0001 to 9999: `postgres` is `12345` and a trailing ` BC`; `iso` is `+12345` and `-0043` (with a year 0). */
  readonly years: "postgres" | "iso";
  /** When floats take an exponent and how it looks. All have the fewest digits that read back exactly. */
  readonly exponents: "postgres" | "mysql" | "ecmascript";
  /**
   * `postgres`: `1 year 2 mons 3 days 04:05:06.789`; `iso`: `P1Y2M3DT4H5M6.789S`; `trino`: `1-2` or
   * `3 04:05:06.789`, and the ISO form for an interval that has both halves.
   */
  readonly intervals: "postgres" | "iso" | "trino";
  /** Lists, structs and maps: `{1,2}`, `(1,x)`, `{"(k,v)"}` or JSON. In JSON always JSON. */
  readonly nested: "postgres" | "json";
  /** A struct in JSON: by its field names, or its values in order. */
  readonly structs: "object" | "array";
  /** In JSON: decimals and integers beyond 64 signed bits as numbers, or as strings for readers without them. */
  readonly wideNumbers: "number" | "string";
  /** A json cell in JSON: embedded as it is, or as a string that holds it. */
  readonly jsonCells: "value" | "string";
}
