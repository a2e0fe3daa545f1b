/**
 * Slows guessing down. Failures delay the next answers to their address and user, for right and wrong
 * passwords alike, so that no delay reveals which it was. Nobody is ever locked out: a right password waits
 * at most `waitMaxMs`. Logins that were verified a moment ago do not come here.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import { Aged } from "@gateway/core/tool/aged.ts";

/** Failures that cost nothing: people mistype. An address is shared by many people. */
const freeFailures = { pair: 10, address: 100 } as const;
const gapFirstMs = 250;
const gapMaxMs = 1_000;
/** Shorter than the connect timeout of most clients. */
const waitMaxMs = 5_000;
/** A quiet key is forgotten after this. */
const forgetMs = 15 * 60_000;
const entriesMax = 10_000;

interface Entry {
  failures: number;
  /** When the next attempt may be checked. */
  nextAtMs: number;
  lastMs: number;
}

export class LoginPace {
  readonly #clock: Clock;
  /** By address and user, and by address alone. The one whose last failure is oldest comes first. */
  readonly #entries = new Aged<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long this attempt waits before it is checked. The next attempt under the same keys waits behind it. */
  waitMs(address: string, user: string | undefined): number {
    const now = this.#clock.nowMs();
    let wait = 0;
    for (const [key, free] of keysOf(address, user)) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      if (now - entry.lastMs > forgetMs) {
        this.#entries.delete(key);
        continue;
      }
      const gap = gapMs(entry.failures - free);
      if (gap === 0) continue;
      const at = Math.min(Math.max(entry.nextAtMs, now), now + waitMaxMs);
      entry.nextAtMs = at + gap;
      wait = Math.max(wait, at - now);
    }
    return wait;
  }

  failed(address: string, user: string | undefined): void {
    const now = this.#clock.nowMs();
    for (const [key, free] of keysOf(address, user)) {
      const failures = (this.#entries.get(key)?.failures ?? 0) + 1;
      const before = this.#entries.get(key)?.nextAtMs ?? now;
      const nextAtMs = Math.max(before, now + gapMs(failures - free));
      this.#entries.putWithin(entriesMax, key, { failures, nextAtMs, lastMs: now });
    }
  }

  /** A right login clears its user at this address, but not the address: others may guess from there. */
  succeeded(address: string, user: string | undefined): void {
    if (user !== undefined) this.#entries.delete(pairKey(address, user));
  }
}

function keysOf(address: string, user: string | undefined): readonly (readonly [string, number])[] {
  const alone = [address, freeFailures.address] as const;
  return user === undefined ? [alone] : [[pairKey(address, user), freeFailures.pair], alone];
}

/**
 * Keys have a bounded length, however long the name. Two long names with the same key share a pace, and so
 * do spellings that a directory takes for one name.
 */
function pairKey(address: string, user: string): string {
  const folded = user.slice(0, 256).normalize("NFKC").toLowerCase();
  return `${address} ${folded.slice(0, 256)}`;
}

function gapMs(over: number): number {
  return over <= 0 ? 0 : Math.min(gapFirstMs * 2 ** Math.min(over - 1, 8), gapMaxMs);
}
