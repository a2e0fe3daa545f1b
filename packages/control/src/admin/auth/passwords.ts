/**
 * Verifies a name and a password, as slowly for unknown names as for known ones.
 *
 * Wrong passwords are counted by address and by user. Past the burst an attempt waits before it is
 * compared, and a wrong one is answered 429; a right one gets in after the wait. So nobody can lock a
 * user out from another address, and nobody guesses faster than `heldPerAddressMax` in `holdMsMax`.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ControlDeps } from "../../deps.ts";
import { tokenHashOf } from "../../http/secretCompare.ts";
import { throttleOf } from "../../http/throttle.ts";
import type { AdminUser } from "../../store/store.ts";
import type { LoginMemory } from "./memory.ts";

/** bcrypt looks at 72 bytes; more would make two passwords equal. */
export const passwordBytesMax = 72;
const holdMsMax = 2_000;
const heldPerAddressMax = 4;
/** Attempts that wait or compare at once, over all addresses. */
const attemptsMax = 64;

/** A hash of cost 10 that no password matches. */
const decoyHash = `$2b$10$${".".repeat(21)}O${".".repeat(31)}`;

export type PasswordRefusal =
  | { readonly code: "refused" }
  | { readonly code: "throttled"; readonly retryAfterMs: number }
  | { readonly code: "unavailable"; readonly detail: string };

/** What somebody presents to log in, and from where. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
  readonly address: string;
}

export interface Passwords {
  /** The user as the database holds it now, or a remembered one (`confirmed` false) while it is down. */
  verify(
    credentials: Credentials,
  ): Promise<Result<{ readonly user: AdminUser; readonly confirmed: boolean }, PasswordRefusal>>;
  /** Waits like an attempt of this address would; for other secrets that can be guessed. */
  hold(address: string, name: string): Promise<Result<Disposable, PasswordRefusal>>;
  /** Counts a wrong secret. How long to wait with the next one, in milliseconds. */
  failed(address: string, name: string): number;
}

export function passwordsOf(deps: ControlDeps, memory: LoginMemory): Passwords {
  const { clock, store, passwords } = deps;
  const addresses = throttleOf(clock);
  const users = throttleOf(clock);
  const held = new Map<string, number>();
  let attempts = 0;

  async function hold(address: string, name: string): Promise<Result<Disposable, PasswordRefusal>> {
    const waitMs = Math.max(addresses.retryAfterMs(address), users.retryAfterMs(tokenHashOf(name)));
    const here = held.get(address) ?? 0;
    const full = attempts >= attemptsMax || (waitMs > 0 && here >= heldPerAddressMax);
    if (full) return err({ code: "throttled", retryAfterMs: Math.max(waitMs, holdMsMax) });
    attempts += 1;
    held.set(address, here + 1);
    if (waitMs > 0) await passed(clock, Math.min(waitMs, holdMsMax));
    return ok({
      [Symbol.dispose]: () => {
        attempts -= 1;
        const left = (held.get(address) ?? 1) - 1;
        if (left > 0) held.set(address, left);
        else held.delete(address);
      },
    });
  }

  function failed(address: string, name: string): number {
    return Math.max(addresses.failed(address), users.failed(tokenHashOf(name)));
  }

  return {
    hold,
    failed,
    verify: async ({ name, password, address }) => {
      const key = memory.keyOf("basic", name, password);
      const remembered = memory.find(key);
      const found = await store.users.get(name);
      if (!found.ok) {
        return remembered === undefined
          ? err(found.error)
          : ok({ user: remembered, confirmed: false });
      }
      const user = found.value;
      if (user !== undefined && sameUser(user, remembered)) return ok({ user, confirmed: true });

      const turn = await hold(address, name);
      if (!turn.ok) return turn;
      using _turn = turn.value;
      const fits = await passwords.matches(password, comparedOf(user));
      const length = Buffer.byteLength(password, "utf8");
      const right = fits && length > 0 && length <= passwordBytesMax;
      if (user !== undefined && !user.disabled && right) {
        memory.keep(key, user);
        return ok({ user, confirmed: true });
      }
      const retryAfterMs = failed(address, name);
      return err(retryAfterMs > 0 ? { code: "throttled", retryAfterMs } : { code: "refused" });
    },
  };
}

/** A user without a password takes as long as any other. */
function comparedOf(user: AdminUser | undefined): string {
  return user === undefined || user.passwordHash.startsWith("!") ? decoyHash : user.passwordHash;
}

/** A changed password, role or state has another version, and a user that was made anew another hash. */
function sameUser(user: AdminUser, remembered: AdminUser | undefined): boolean {
  return (
    !user.disabled &&
    remembered?.version === user.version &&
    remembered.passwordHash === user.passwordHash
  );
}

function passed(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.timer(ms, resolve);
  });
}
