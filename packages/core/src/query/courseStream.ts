/**
 * A course as a stream. It does what an async generator around the course would do, without its promises: an event that
 * is there costs one, and one that is waited for takes two turns.
 */
import { ending, finishing, type Course } from "./course.ts";
import type { ResultEvent } from "./event.ts";

/** The events of a course as a stream. Ending it early ends the course. Nothing begins before its first event is asked for. */
export function streamOf<Ended>(course: Course<Ended>): AsyncGenerator<ResultEvent, Ended, void> {
  return new CourseStream(course);
}

type Step<Ended> = IteratorResult<ResultEvent, Ended>;

class CourseStream<Ended> implements AsyncGenerator<ResultEvent, Ended, void> {
  readonly #course: Course<Ended>;
  #begun = false;
  #over = false;
  #saidLast = false;
  /** The last of what was asked for and is not answered: whoever asks now comes behind it. */
  #pending: Promise<unknown> | undefined;
  /** Of the event that is waited for. */
  #resolve: (step: Step<Ended>) => void = () => {};
  #reject: (bug: unknown) => void = () => {};
  #awaited: Promise<Step<Ended>> | undefined;

  constructor(course: Course<Ended>) {
    this.#course = course;
  }

  next(): Promise<Step<Ended>> {
    return this.#pending === undefined ? this.#next() : this.#behind(() => this.#next());
  }

  /** Ends the course, with everything that it does then. */
  return(value?: Ended | PromiseLike<Ended>): Promise<Step<Ended>> {
    return this.#behind(async () => {
      await this.#end();
      return { done: true, value: (await value) as Ended };
    });
  }

  throw(reason: unknown): Promise<Step<Ended>> {
    return this.#behind(async () => {
      await this.#end();
      throw reason;
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Answers in the order in which was asked. */
  #behind(answer: () => Promise<Step<Ended>>): Promise<Step<Ended>> {
    const answered = this.#pending === undefined ? answer() : this.#pending.then(answer, answer);
    this.#pending = answered;
    const settle = (): void => {
      if (this.#pending === answered) this.#pending = undefined;
    };
    answered.then(settle, settle);
    return answered;
  }

  #next(): Promise<Step<Ended>> {
    if (this.#over) return Promise.resolve({ done: true, value: undefined as Ended });
    this.#begun = true;
    let step;
    try {
      step = this.#course.next();
    } catch (bug) {
      this.#over = true;
      return Promise.reject(bug);
    }
    if (step.done !== true && step.value instanceof Promise) return this.#later(step.value);
    return Promise.resolve(this.#told(step as Step<Ended>));
  }

  #later(wait: Promise<unknown>): Promise<Step<Ended>> {
    const awaited = new Promise<Step<Ended>>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#awaited = awaited;
    this.#pending = awaited;
    wait.then(this.#came, this.#failed);
    return awaited;
  }

  readonly #came = (value: unknown): void => {
    try {
      this.#go(this.#course.next(value));
    } catch (bug) {
      this.#broke(bug);
    }
  };

  readonly #failed = (reason: unknown): void => {
    try {
      this.#go(this.#course.throw(reason));
    } catch (bug) {
      this.#broke(bug);
    }
  };

  #go(step: IteratorResult<ResultEvent | Promise<unknown>, Ended>): void {
    if (step.done !== true && step.value instanceof Promise) {
      step.value.then(this.#came, this.#failed);
      return;
    }
    this.#settled();
    this.#resolve(this.#told(step as Step<Ended>));
  }

  #broke(bug: unknown): void {
    this.#over = true;
    this.#settled();
    this.#reject(bug);
  }

  #settled(): void {
    if (this.#pending === this.#awaited) this.#pending = undefined;
    this.#awaited = undefined;
  }

  #told(step: Step<Ended>): Step<Ended> {
    if (step.done === true) this.#over = true;
    else this.#saidLast = step.value.kind === "done" || step.value.kind === "failed";
    return step;
  }

  #end(): Promise<void> | undefined {
    const goesOn = this.#begun && !this.#over;
    this.#over = true;
    if (!goesOn) return undefined;
    return this.#saidLast ? finishing(this.#course) : ending(this.#course);
  }
}
