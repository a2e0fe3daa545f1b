/** The end of the channel in a process that is one of several: what it asks the others, what it is asked, when it stops. */
import type { Log } from "@gateway/core/port/log.ts";
import type { SiblingTopic, Siblings } from "@gateway/core/port/siblings.ts";
import { isOurs, type ToChild, type ToParent } from "./message.ts";
import type { Part } from "./part.ts";

/** Of Node's `process`, what is used of it. */
export type Port = Pick<NodeJS.Process, "on" | "off"> & {
  send?(message: unknown, sent?: (error: Error | null) => void): boolean;
};

type Answering = (question: unknown) => unknown;

/** Open for the life of the process. */
export class Channel implements Siblings {
  readonly index: number;
  readonly count: number;
  readonly #port: Port;
  readonly #answering = new Map<string, Answering>();
  readonly #asked = new Map<number, (answers: readonly unknown[]) => void>();
  /** Signals that nobody waited for yet. */
  readonly #signals: string[] = [];
  #onSignal: ((signal: string) => void) | undefined;
  #nextId = 1;

  constructor({ index, count }: Part, port: Port, log: Log) {
    this.index = index;
    this.count = count;
    this.#port = port;
    port.on("message", (message: unknown) => {
      if (isOurs(message)) this.#take(message as ToChild).catch((bug: unknown) => log.bug(bug));
    });
    // A terminal and some supervisors signal every process of a group; the first process says when to stop.
    for (const name of ["SIGINT", "SIGTERM"] as const) port.on(name, () => {});
  }

  ask<Question, Answer>(
    topic: SiblingTopic<Question, Answer>,
    question: Question,
    to?: number,
  ): Promise<readonly Answer[]> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#asked.set(id, (answers) => resolve(answers as readonly Answer[]));
      this.#send({
        kind: "ask",
        id,
        topic: topic.name,
        question,
        ...(to === undefined ? {} : { to }),
      });
    });
  }

  answer<Question, Answer>(
    topic: SiblingTopic<Question, Answer>,
    how: (question: Question) => Answer | Promise<Answer>,
  ): void {
    this.#answering.set(topic.name, how as Answering);
  }

  /** Tells that all listeners are open. */
  started(): void {
    this.#send({ kind: "started" });
  }

  /** The next signal to stop. */
  nextSignal(): Promise<string> {
    const waiting = this.#signals.shift();
    if (waiting !== undefined) return Promise.resolve(waiting);
    return new Promise((resolve) => {
      this.#onSignal = resolve;
    });
  }

  async #take(message: ToChild): Promise<void> {
    switch (message.kind) {
      case "question": {
        const { id, topic, question } = message;
        const how = this.#answering.get(topic);
        const answer = how === undefined ? undefined : await how(question);
        return this.#send({ kind: "answer", id, ...(answer === undefined ? {} : { answer }) });
      }
      case "answers":
        // Whoever asked goes through a list; what is none has no answer in it.
        this.#asked.get(message.id)?.(Array.isArray(message.answers) ? message.answers : []);
        this.#asked.delete(message.id);
        return;
      case "stop": {
        const waiting = this.#onSignal;
        this.#onSignal = undefined;
        if (waiting === undefined) this.#signals.push(message.signal);
        else waiting(message.signal);
      }
    }
  }

  /** Without the first process this one ends at once, so what can not be sent is not missed. */
  #send(message: ToParent): void {
    this.#port.send?.(message, () => {});
  }
}
