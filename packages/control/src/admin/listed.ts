/** Pages as the store answers them. */
import type { Result } from "@gateway/core/result.ts";
import type { Page, StoreUnavailable } from "../store/store.ts";
import { unavailable } from "./refuse.ts";

/** A page for the client, each item through `view`; 503 when the store did not answer. */
export function listed<Item>(
  page: Result<Page<Item>, StoreUnavailable>,
  view: (item: Item) => unknown,
): Response {
  if (!page.ok) return unavailable();
  const { items, nextCursor } = page.value;
  return Response.json({ items: items.map(view), nextCursor });
}
