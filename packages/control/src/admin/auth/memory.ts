/**
 * Logins that the database confirmed a moment ago. A repeated Basic login then costs no bcrypt, and
 * while the database is down these logins may read.
 *
 * The key is an HMAC under a key of this process, so the memory tells no password and no cookie.
 */
import { createHmac } from "node:crypto";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { AdminUser } from "../../store/store.ts";

const keepMs = 60_000;
const entriesMax = 10_000;

export interface LoginMemory {
  /** The key of one credential. Parts are length-prefixed, so no two credentials share one. */
  keyOf(...parts: readonly string[]): string;
  /** The user as last confirmed; undefined a minute later. */
  find(key: string): AdminUser | undefined;
  keep(key: string, user: AdminUser): void;
  forget(key: string): void;
}

interface Entry {
  readonly user: AdminUser;
  readonly untilMs: number;
}

export function loginMemory(clock: Clock, hmacKey: Uint8Array): LoginMemory {
  /** Oldest first. */
  const entries = new Map<string, Entry>();
  return {
    keyOf: (...parts) => {
      const hmac = createHmac("sha256", hmacKey);
      for (const part of parts) {
        const bytes = Buffer.from(part, "utf8");
        hmac.update(`${bytes.length}:`).update(bytes);
      }
      return hmac.digest("base64");
    },
    find: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (clock.nowMs() < entry.untilMs) return entry.user;
      entries.delete(key);
      return undefined;
    },
    keep: (key, user) => {
      entries.delete(key);
      entries.set(key, { user, untilMs: clock.nowMs() + keepMs });
      const [oldest] = entries.keys();
      if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest);
    },
    forget: (key) => {
      entries.delete(key);
    },
  };
}
