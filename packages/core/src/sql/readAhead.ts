/**
 * What was read of long texts before anybody asks for it, so that nobody reads one in a single go.
 *
 * Bounded by the number of texts and by their length together; the oldest goes first, and what is gone is
 * read again by whoever asks. Filled by `longText.ts` alone.
 */
import type { Dialect } from "./dialect.ts";

/** UTF-16 units beyond which a text is long. Reading a shorter one takes less than two milliseconds. */
export const longTextUnits = 64 * 1024;

const textsMax = 32;
const unitsMax = 16 * 1024 * 1024;

export class ReadAhead<Found> {
  readonly #kept = new Map<string, { readonly dialect: Dialect; readonly found: Found }[]>();
  #units = 0;

  /** Undefined also for every text that is not long, after one look at its length. */
  get(sql: string, dialect: Dialect): Found | undefined {
    if (sql.length <= longTextUnits) return undefined;
    return this.#kept.get(sql)?.find((one) => one.dialect === dialect)?.found;
  }

  put(sql: string, dialect: Dialect, found: Found): void {
    if (sql.length <= longTextUnits) return;
    const known = this.#kept.get(sql);
    const others = (known ?? []).filter((one) => one.dialect !== dialect);
    this.#kept.set(sql, [...others, { dialect, found }]);
    if (known === undefined) this.#units += sql.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= textsMax && this.#units <= unitsMax) return;
      this.#kept.delete(oldest);
      this.#units -= oldest.length;
    }
  }
}
