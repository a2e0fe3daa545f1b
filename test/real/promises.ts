/**
 * Sessions that do by chance what leaves something behind, all at once on few connections. Each knows what it must
 * find, and looks after every transaction: whatever else it sees is another's, or was lost.
 */
import { isDeepStrictEqual } from "node:util";
import { seededRandom } from "@gateway/core/rig/virtual.ts";
import { seed } from "./seed.ts";

/** Transactions of a run: by night ten thousand for each way of pooling, else a part of one thousand. */
export function turnsOf(share: number): number {
  return process.env["GATEWAY_NIGHTLY"] === "1" ? 10_000 : Math.round(1_000 * share);
}

/** Draws lots. */
export class Chance {
  readonly #random: () => number;

  constructor(ofSession: number) {
    this.#random = seededRandom(seed * 1_009 + ofSession);
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  one<T>(list: readonly T[]): T {
    const found = list[this.below(list.length)];
    if (found === undefined) throw new Error("a list without anything in it");
    return found;
  }

  shuffled<T>(list: readonly T[]): readonly T[] {
    return list
      .map((value) => ({ value, at: this.#random() }))
      .toSorted((left, right) => left.at - right.at)
      .map(({ value }) => value);
  }
}

/** One client with what it knows of itself. */
export interface Modelled {
  /** One transaction, or what stands for it; throws where something is not as it must be. */
  turn(): Promise<void>;
  leave(): Promise<void>;
  /** What it sent last, for whoever reads a failure. */
  readonly said: readonly string[];
}

/** Throws where something is not as it must be. */
export function same(seen: unknown, wanted: unknown, what: string): void {
  if (isDeepStrictEqual(seen, wanted)) return;
  throw new Error(`${what}: ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`);
}

/** Lets them take turns at once until so many were taken. Answers what failed first, and how it is repeated. */
export async function interleaved(
  sessions: readonly Modelled[],
  turns: number,
): Promise<string | undefined> {
  const failures: string[] = [];
  let left = turns;
  const run = async (session: Modelled): Promise<void> => {
    try {
      for (; left > 0; left -= 1) await session.turn();
    } catch (error) {
      left = 0;
      const reason = error instanceof Error ? error.message : String(error);
      const last = session.said.slice(-25).join("\n  ");
      failures.push(`GATEWAY_TEST_SEED=${seed}: ${reason}\n  ${last}`);
    } finally {
      // Whoever waits for the connection of this one would wait for ever.
      await session.leave().catch(() => undefined);
    }
  };
  await Promise.all(sessions.map(run));
  return failures[0];
}
