/**
 * Sessions by `session_id`: a database, settings, and one statement at a time. They are the gateway's own and belong
 * to a user, so nobody finds another's; no server keeps anything of them. One idle for its time is gone.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { named } from "../errors.ts";
import { sessionsMax, sessionsOfUserMax, settingsMax } from "../limits.ts";
import type { SessionAsked } from "../read/fields.ts";

/** What a session remembers. */
export interface HeldSession {
  catalog: string | undefined;
  database: string | undefined;
  readonly settings: Map<string, string>;
}

interface Entry extends HeldSession {
  busy: boolean;
  untilMs: number;
}

/** A session for one statement. Disposing lets the next one in. */
export interface TakenSession extends Disposable {
  readonly held: HeldSession;
}

export class Sessions {
  readonly #clock: Clock;
  /** By user, then by id. */
  readonly #users = new Map<string, Map<string, Entry>>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#count;
  }

  /** Refuses as ClickHouse does: one that must be there and is not, one that runs something, too many. */
  take(user: string, asked: SessionAsked): Result<TakenSession, GatewayError> {
    const nowMs = this.#clock.nowMs();
    const ofUser = this.#users.get(user) ?? new Map<string, Entry>();
    const known = ofUser.get(asked.id);
    const alive = known !== undefined && (known.busy || known.untilMs > nowMs) ? known : undefined;
    if (alive === undefined && asked.check) {
      return refused("query.unknown", "Session not found", "SESSION_NOT_FOUND");
    }
    if (alive?.busy === true) {
      return refused(
        "query.conflict",
        "Session is locked by a concurrent client",
        "SESSION_IS_LOCKED",
      );
    }
    if (alive === undefined && known === undefined) {
      if (ofUser.size >= sessionsOfUserMax || this.#count >= sessionsMax) this.#sweep(nowMs);
      if (ofUser.size >= sessionsOfUserMax || this.#count >= sessionsMax) {
        const message = "Too many sessions";
        return refused("connection.limit", message, "TOO_MANY_SIMULTANEOUS_QUERIES");
      }
      this.#count += 1;
    }
    const entry: Entry = alive ?? {
      catalog: undefined,
      database: undefined,
      settings: new Map(),
      busy: false,
      untilMs: 0,
    };
    entry.busy = true;
    ofUser.set(asked.id, entry);
    this.#users.set(user, ofUser);
    return ok({ held: entry, [Symbol.dispose]: () => this.#give(user, asked, entry) });
  }

  #give(user: string, asked: SessionAsked, entry: Entry): void {
    entry.busy = false;
    entry.untilMs = this.#clock.nowMs() + asked.timeoutSecs * 1000;
    if (asked.close) this.#drop(user, asked.id);
  }

  #sweep(nowMs: number): void {
    for (const [user, entries] of this.#users) {
      for (const [id, entry] of entries) {
        if (!entry.busy && entry.untilMs <= nowMs) this.#drop(user, id);
      }
    }
  }

  #drop(user: string, id: string): void {
    const entries = this.#users.get(user);
    if (entries?.delete(id) === true) this.#count -= 1;
    if (entries?.size === 0) this.#users.delete(user);
  }
}

/** Remembers a setting for the session's later statements; false where it holds too many. */
export function remember(held: HeldSession, name: string, value: string): boolean {
  if (held.settings.size >= settingsMax && !held.settings.has(name)) return false;
  held.settings.set(name, value);
  return true;
}

function refused(
  code: "query.unknown" | "query.conflict" | "connection.limit",
  message: string,
  name: Parameters<typeof named>[0],
): Result<never, GatewayError> {
  return err(gatewayError(code, { message, vendor: named(name) }));
}
