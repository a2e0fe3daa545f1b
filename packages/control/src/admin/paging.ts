/** Pages: as the store answers them, and over lists that are in memory. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Page, StoreUnavailable } from "../store/store.ts";
import { badRequest, unavailable } from "./refuse.ts";
import type { PageQuery } from "./shapes.ts";

/** A page for the client, each item through `view`; 503 when the store did not answer. */
export function listed<Item>(
  page: Result<Page<Item>, StoreUnavailable>,
  view: (item: Item) => unknown,
): Response {
  if (!page.ok) return unavailable();
  const { items, nextCursor } = page.value;
  return Response.json({ items: items.map(view), nextCursor });
}

/**
 * One page by ascending key; a response for a cursor that we did not make. Keys are unique. The cursor
 * is the last key, so a list that changes between two pages repeats nothing.
 */
export function pageOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { limit, cursor }: PageQuery,
): Result<Page<Item>, Response> {
  const after = cursor === undefined ? undefined : keyIn(cursor);
  if (cursor !== undefined && after === undefined) return err(badCursor());
  const rest = items
    .map((item) => ({ item, key: keyOf(item) }))
    .toSorted((a, b) => order(a.key, b.key))
    .filter(({ key }) => after === undefined || order(key, after) > 0);
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  const nextCursor = last === undefined ? undefined : cursorOf(last.key);
  return ok({ items: page.map(({ item }) => item), nextCursor });
}

export function badCursor(): Response {
  return badRequest("The cursor is not one of ours.", [
    { path: "cursor", reason: "must be the nextCursor of an earlier answer" },
  ]);
}

function cursorOf(key: string): string {
  return Buffer.from(`k${key}`, "utf8").toString("base64url");
}

function keyIn(cursor: string): string | undefined {
  const key = Buffer.from(cursor, "base64url").toString("utf8");
  return key.startsWith("k") && cursorOf(key.slice(1)) === cursor ? key.slice(1) : undefined;
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
