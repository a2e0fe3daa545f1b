/** The middle of the channels, in the first process: brings questions to the others and their answers back. */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { SiblingTopic } from "@gateway/core/port/siblings.ts";
import type { ToChild, ToParent } from "./message.ts";

/** Whoever takes longer has not answered. */
const answerMsMax = 2_000;

/** A process as it is reached. */
export interface Line {
  readonly index: number;
  /** False when it is gone. */
  send(message: ToChild): boolean;
}

interface Pending {
  readonly line: Line;
  /** Undefined where there is no answer. */
  readonly answered: (answer: unknown) => void;
}

export class Switchboard {
  readonly #clock: Clock;
  readonly #lines = new Map<number, Line>();
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The process with that number can be asked from now on. */
  join(line: Line): void {
    this.#lines.set(line.index, line);
  }

  /** It is gone: whoever waits for it has no answer. */
  leave(line: Line): void {
    if (this.#lines.get(line.index) === line) this.#lines.delete(line.index);
    for (const pending of this.#pending.values()) {
      if (pending.line === line) pending.answered(undefined);
    }
  }

  /** Asks every process, or those in `only`; answers by their numbers. */
  async ask<Question, Answer>(
    { name }: SiblingTopic<Question, Answer>,
    question: Question,
    only: (index: number) => boolean = () => true,
  ): Promise<ReadonlyMap<number, Answer>> {
    const asked = [...this.#lines.values()].filter(({ index }) => only(index));
    const answers = await Promise.all(asked.map((line) => this.#askOne(line, name, question)));
    const given = asked.map(({ index }, at) => [index, answers[at] as Answer | undefined] as const);
    return new Map(given.filter((one): one is [number, Answer] => one[1] !== undefined));
  }

  /** A process asks or answers. */
  take(from: Line, message: Extract<ToParent, { kind: "ask" | "answer" }>): void {
    if (message.kind === "answer") {
      const pending = this.#pending.get(message.id);
      // Nobody answers for somebody else.
      if (pending?.line === from) pending.answered(message.answer);
      return;
    }
    const { id, topic, question, to } = message;
    const only = (index: number) => index !== from.index && (to === undefined || index === to);
    void this.ask({ name: topic }, question, only).then((answers) =>
      from.send({ kind: "answers", id, answers: [...answers.values()] }),
    );
  }

  #askOne(line: Line, topic: string, question: unknown): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const answered = (answer: unknown): void => {
        timer[Symbol.dispose]();
        this.#pending.delete(id);
        resolve(answer);
      };
      const timer = this.#clock.timer(answerMsMax, () => answered(undefined));
      this.#pending.set(id, { line, answered });
      if (!line.send({ kind: "question", id, topic, question })) answered(undefined);
    });
  }
}
