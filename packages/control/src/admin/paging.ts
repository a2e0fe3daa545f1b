/** Pages over lists that are in memory. The cursor is the last key, so a list that changes between two pages repeats nothing. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Page } from "../store/store.ts";
import { badRequest } from "./refuse.ts";
import type { PageQuery } from "./shapes.ts";

/** One page by ascending key; a response for a cursor that we did not make. Keys are unique. */
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
