/**
 * Pages that go on behind the last row seen instead of counting rows, so that rows which arrive
 * between two pages neither repeat nor hide one.
 *
 * A cursor is the key of that row, opaque to callers. It is no secret and not signed: a made-up one
 * only names another place to go on from.
 */
import { Buffer } from "node:buffer";
import { z } from "zod";
import type { Page } from "./store.ts";

/** Longest cursor that is looked at. The longest key we write is a name and an id. */
const cursorLengthMax = 4_096;

export interface Keyset<Key> {
  /** The key to go on behind; undefined from the start; null for a cursor that nobody here wrote. */
  read(cursor: string | undefined): Key | undefined | null;
  /** A page of `found`, which holds one more than `limit` when there is more. */
  page<Item>(found: readonly Item[], limit: number, keyOf: (item: Item) => Key): Page<Item>;
}

/** A page without items. Also the answer to a cursor that nobody here wrote. */
export const emptyPage = { items: [], nextCursor: undefined } as const;

/** By time in whole milliseconds, and id, newest first. */
export const byTime = keysetOf(z.tuple([z.int(), z.string()]));
/** By epoch and sequence, newest first. */
export const byPosition = keysetOf(z.tuple([z.int(), z.int()]));
/** By name. */
export const byName = keysetOf(z.tuple([z.string()]));
/** By name and id. */
export const byNameAndId = keysetOf(z.tuple([z.string(), z.string()]));

/** Cursors over keys of one shape. */
export function keysetOf<Key>(schema: z.ZodType<Key>): Keyset<Key> {
  return {
    read: (cursor) => {
      if (cursor === undefined) return undefined;
      if (cursor.length > cursorLengthMax) return null;
      const key = schema.safeParse(parsed(Buffer.from(cursor, "base64url").toString("utf8")));
      return key.success ? key.data : null;
    },
    page: (found, limit, keyOf) => {
      const items = found.slice(0, limit);
      const last = items.at(-1);
      if (found.length <= limit || last === undefined) return { items, nextCursor: undefined };
      const nextCursor = Buffer.from(JSON.stringify(keyOf(last)), "utf8").toString("base64url");
      return { items, nextCursor };
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
