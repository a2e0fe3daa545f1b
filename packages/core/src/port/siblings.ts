/**
 * The other processes that share this one's listeners. A client's next connection may be in any of them, so what one
 * connection says of another (a cancel, KILL) is asked of the one that has it.
 */

/** A kind of question. What crosses is JSON, between processes of one program that trust each other. */
export interface SiblingTopic<Question, Answer> {
  readonly name: string;
  /** Never set: it ties a question to its answer. */
  readonly types?: readonly [Question, Answer];
}

export interface Siblings {
  /** This process's number, from 0. It stays when the process is replaced. */
  readonly index: number;
  readonly count: number;
  /**
   * Asks the others, or only the one with the number `to`. Answers what those said that answered within two seconds;
   * never rejects.
   */
  ask<Question, Answer>(
    topic: SiblingTopic<Question, Answer>,
    question: Question,
    to?: number,
  ): Promise<readonly Answer[]>;
  /** How this process answers; one way for each topic. */
  answer<Question, Answer>(
    topic: SiblingTopic<Question, Answer>,
    how: (question: Question) => Answer | Promise<Answer>,
  ): void;
}
