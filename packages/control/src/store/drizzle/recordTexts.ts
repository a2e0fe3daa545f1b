/**
 * Which texts of records come again, and are then kept once a day instead of in each record. Not the
 * statement that keeps them: that is ingest.ts.
 */
import { hash } from "node:crypto";

export const dayMs = 86_400_000;

/** Texts that one process remembers as seen; twice as many for a while. */
const seenMax = 10_000;

export interface RecentTexts {
  /** The id under which a record of that time shares this text; undefined for a text that came only once so far. */
  idOf(shared: string, createdAt: number): string | undefined;
}

/** Two generations, so that forgetting is dropping the older one. */
export function recentTexts(): RecentTexts {
  let newer = new Set<string>();
  let older = new Set<string>();
  return {
    idOf: (shared, createdAt) => {
      const id = hash("sha256", `${dayOf(createdAt)}:${shared}`, "hex").slice(0, 32);
      if (newer.has(id)) return id;
      const known = older.has(id);
      newer.add(id);
      if (newer.size >= seenMax) [older, newer] = [newer, new Set()];
      return known ? id : undefined;
    },
  };
}

export function dayOf(createdAt: number): number {
  return Math.floor(createdAt / dayMs);
}
