/**
 * Names of tables under a policy: patterns, and what an unfinished name is completed with.
 *
 * A rule judges whole names only. `orders` may be any schema's table, and which one depends on settings of the
 * session that a client can change, so the name is completed here and written into the text.
 */

import { wildcard } from "../regex/wildcard.ts";

/** Says whether the last parts of a whole name fit. Names in lower case. */
export type TablePattern = (table: readonly string[]) => boolean;

/** Parts divided by dots; `*` stands for any ASCII characters within one. */
export function tablePattern(pattern: string): TablePattern {
  const parts = pattern.split(".").map(partPattern);
  return (table) => {
    const from = table.length - parts.length;
    return from >= 0 && parts.every((fits, index) => fits(table[from + index] ?? ""));
  };
}

/** Engines fold letters beyond ASCII in different ways, so no `*` stands for one. */
const ascii = /^[\x20-\x7e]*$/;

function partPattern(pattern: string): (name: string) => boolean {
  const fits = wildcard(lower(pattern));
  return pattern.includes("*") ? (name) => ascii.test(name) && fits(name) : fits;
}

/** Case never tells two tables apart here. */
export function lower(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/** Where a session is; undefined where it does not say. */
export interface Place {
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
}

/**
 * The parts to write before a name so that it has `parts` of them; undefined where nobody says which. `names` is
 * what the text says.
 */
export function missingParts(
  names: readonly string[],
  parts: number,
  { catalog, schema }: Place,
): readonly string[] | undefined {
  const missing: string[] = [];
  const whole = [catalog, schema];
  for (let have = names.length; have < parts; have += 1) {
    const part = have > 2 ? undefined : whole[2 - have];
    if (part === undefined || part === "") return undefined;
    missing.unshift(part);
  }
  return missing;
}
