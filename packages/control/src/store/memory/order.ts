/** Order and pages over arrays, for the store in memory. */
import { emptyPage, type Keyset } from "../keyset.ts";
import type { Page, PageRequest, Stored } from "../store.ts";
import { ok } from "@gateway/core/result.ts";

type Key = readonly (string | number)[];

/** How a list is ordered, and what its cursors hold. */
export interface Listing<Item, ItemKey extends Key> {
  readonly keyset: Keyset<ItemKey>;
  readonly keyOf: (item: Item) => ItemKey;
  readonly newestFirst: boolean;
}

/** Negative when `a` comes first, part by part. */
export function compareKeys(a: Key, b: Key): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined || part === other) continue;
    return part < other ? -1 : 1;
  }
  return 0;
}

/** One page of a list in any order; sorts a copy. For lists that people look at, not for history. */
export function pageOf<Item, ItemKey extends Key>(
  items: Iterable<Item>,
  { limit, cursor }: PageRequest,
  { keyset, keyOf, newestFirst }: Listing<Item, ItemKey>,
): Page<Item> {
  const after = keyset.read(cursor);
  if (after === null) return emptyPage;
  const sign = newestFirst ? -1 : 1;
  const sorted = [...items].toSorted((a, b) => sign * compareKeys(keyOf(a), keyOf(b)));
  const rest =
    after === undefined
      ? sorted
      : sorted.filter((item) => sign * compareKeys(keyOf(item), after) > 0);
  return keyset.page(rest, limit, keyOf);
}

/** Memory always answers. */
export function stored<Value>(value: Value): Stored<Value> {
  return Promise.resolve(ok(value));
}
