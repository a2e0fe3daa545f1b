/**
 * Whose calls of which script were cut lately. What a client writes may be what makes a script slow, and while it is
 * cut again and again everybody else's calls wait.
 */
import { Aged } from "@gateway/core/tool/aged.ts";
import { cutsMax, pauseMs } from "./limits.ts";

/** Pairs of a script and a user that are remembered. */
const pairsMax = 10_000;

interface Cuts {
  readonly inARow: number;
  readonly lastMs: number;
}

export class CutCalls {
  readonly #pairs = new Aged<string, Cuts>();

  /** Whether the user's calls of that script are refused now. */
  paused(script: number, user: string, nowMs: number): boolean {
    const cuts = this.#pairs.get(keyOf(script, user));
    return cuts !== undefined && cuts.inARow >= cutsMax && nowMs - cuts.lastMs < pauseMs;
  }

  /** A call ended. */
  ended(script: number, user: string, cut: boolean, nowMs: number): void {
    const key = keyOf(script, user);
    const before = this.#pairs.get(key);
    if (!cut) {
      if (before !== undefined) this.#pairs.delete(key);
      return;
    }
    this.#pairs.put(key, { inARow: (before?.inARow ?? 0) + 1, lastMs: nowMs });
    const { oldest } = this.#pairs;
    if (this.#pairs.size > pairsMax && oldest !== undefined) this.#pairs.delete(oldest[0]);
  }
}

function keyOf(script: number, user: string): string {
  return `${script} ${user}`;
}
