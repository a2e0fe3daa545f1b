/**
 * Breakers of one member in the processes behind one listener: what one of them learnt by failing queries, the others
 * are told. Each keeps its own state. Without the others it works on as if it were alone.
 */
import type { Host } from "../port/host.ts";
import type { Siblings, SiblingTopic } from "../port/siblings.ts";
import type { Breaker, BreakerLabels } from "./breakers.ts";

/** What a process says of its breaker. */
export type BreakerWord = "opened" | "closed";

interface Told extends BreakerLabels {
  readonly word: BreakerWord;
}

const telling: SiblingTopic<Told, true> = { name: "breaker" };

/** By the way to the other processes: breakers come and go with their generations, and a topic has one answer. */
const registries = new WeakMap<Siblings, Registry>();

/** Those of this process, by their labels. Undefined where it is the only process. */
export function siblingBreakers({ siblings }: Pick<Host, "siblings">): Registry | undefined {
  if (siblings === undefined || siblings.count < 2) return undefined;
  const known = registries.get(siblings);
  if (known !== undefined) return known;
  const made = new Registry(siblings);
  registries.set(siblings, made);
  return made;
}

class Registry {
  readonly #siblings: Siblings;
  readonly #breakers = new Map<string, Set<Breaker>>();

  constructor(siblings: Siblings) {
    this.#siblings = siblings;
    siblings.answer(telling, (told) => {
      for (const breaker of this.#breakers.get(keyOf(told)) ?? []) breaker.hear(told.word);
      return true;
    });
  }

  add(labels: BreakerLabels, breaker: Breaker): void {
    const key = keyOf(labels);
    const there = this.#breakers.get(key);
    if (there === undefined) this.#breakers.set(key, new Set([breaker]));
    else there.add(breaker);
  }

  remove(labels: BreakerLabels, breaker: Breaker): void {
    const key = keyOf(labels);
    const there = this.#breakers.get(key);
    there?.delete(breaker);
    if (there?.size === 0) this.#breakers.delete(key);
  }

  /** Not waited for: who does not hear it learns by itself. */
  tell(labels: BreakerLabels, word: BreakerWord): void {
    void this.#siblings.ask(telling, { ...labels, word });
  }
}

function keyOf({ group, cluster }: BreakerLabels): string {
  return JSON.stringify([group, cluster]);
}
