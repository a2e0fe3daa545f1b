/** Processes that share a listener, without any process: what one asks, the others answer at once, as JSON. */
import type { SiblingTopic, Siblings } from "@gateway/core/port/siblings.ts";

type How = (question: unknown) => unknown;

class Sibling implements Siblings {
  readonly index: number;
  readonly #all: readonly Sibling[];
  readonly #ways = new Map<string, How>();

  constructor(index: number, all: readonly Sibling[]) {
    this.index = index;
    this.#all = all;
  }

  get count(): number {
    return this.#all.length;
  }

  async ask<Question, Answer>(
    { name }: SiblingTopic<Question, Answer>,
    question: Question,
    to?: number,
  ): Promise<readonly Answer[]> {
    const others = this.#all.filter(
      (one) => one !== this && (to === undefined || one.index === to),
    );
    const answers = others.map((other) => other.#ways.get(name)?.(crossed(question)));
    return crossed(await Promise.all(answers)) as readonly Answer[];
  }

  answer<Question, Answer>(
    { name }: SiblingTopic<Question, Answer>,
    how: (question: Question) => Answer | Promise<Answer>,
  ): void {
    this.#ways.set(name, how as How);
  }
}

/** So many processes, by their numbers. */
export function crewOf(count: number): readonly Siblings[] {
  const all: Sibling[] = [];
  for (let index = 0; index < count; index += 1) all.push(new Sibling(index, all));
  return all;
}

function crossed(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
