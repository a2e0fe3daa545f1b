/**
 * A part of the way of a query as a plain generator: it yields the events for the client, and a promise wherever it
 * has to wait. What is there already takes no turn of the event loop and no promise, through any number of stages; an
 * async generator takes several for each event in each of them.
 *
 * A course that was begun is driven to its end by one of the drivers here, also when its reader leaves.
 */
import type { GatewayError } from "../error.ts";
import { err, type Result } from "../result.ts";
import type { DoneEvent, LastEvent, ResultEvent, ResultStream } from "./event.ts";

/** Yields events in their order, and promises whose values it is resumed with. Returns how it ended. */
export type Course<Ended = void> = Generator<ResultEvent | Promise<unknown>, Ended, unknown>;

/** Everything of a result whose whole answer was there at once, the last event included; otherwise its events one by one. */
export type Answer = readonly ResultEvent[] | ResultStream;

/**
 * Thrown where a course stands when it is ended early. It is no `return`, because a stage that waits in its `finally`
 * would make one into an ordinary end for the stage around it. Whoever catches what is thrown lets this pass.
 */
export const readerLeft = new Error("the reader left");

/** A part of a course that says nothing itself, and answers a value. */
export type Reading<Value> = Generator<Promise<unknown>, Value, unknown>;

/** The value of a reading for whoever is no course. */
export async function settled<Value>(reading: Reading<Value>): Promise<Value> {
  let step = reading.next();
  while (step.done !== true) {
    let value: unknown;
    try {
      value = await step.value;
    } catch (bug) {
      step = reading.throw(bug);
      continue;
    }
    step = reading.next(value);
  }
  return step.value;
}

/** Waits within a course. A rejection is thrown there. */
export function* waited<Value>(promise: Promise<Value>): Generator<Promise<Value>, Value, unknown> {
  return (yield promise) as Value;
}

/** A step that is over where nothing was waited for, and a reading where something is. */
export type Now<Value> = Result<Value, GatewayError> | Reading<Result<Value, GatewayError>>;

/** Goes on with `next` once `wait` has found nothing to refuse. What `next` takes is handed on: it needs no closure where nobody waits. */
export function* unlessRefused<Value, Taken extends readonly unknown[]>(
  wait: Promise<GatewayError | undefined>,
  next: (...taken: Taken) => Now<Value>,
  ...taken: Taken
): Reading<Result<Value, GatewayError>> {
  const refused = yield* waited(wait);
  if (refused !== undefined) return err(refused);
  const going = next(...taken);
  return "ok" in going ? going : yield* going;
}

/** A stage that is a stream, within a course. */
export function* courseOf<Ended>(stream: AsyncGenerator<ResultEvent, Ended, void>): Course<Ended> {
  let over = false;
  try {
    for (;;) {
      const step = yield* waited(stream.next());
      over = step.done === true;
      if (step.done === true) return step.value;
      yield step.value;
    }
  } finally {
    if (!over) yield* waited(stream.return(undefined as never));
  }
}

/**
 * Begins a course and waits for what it has to say. Resolves with all events where it needs no other wait behind its
 * first event, and with a stream of them otherwise. That a query waits or runs is left out of the list. Rejects only for a bug.
 */
export async function answerOf(course: Course): Promise<Answer> {
  const events: ResultEvent[] = [];
  for (let step = course.next(); ;) {
    if (step.done === true) return events;
    const { value } = step;
    if (value instanceof Promise) {
      if (events.length > 0) return begun(course, value, events);
      // As `after` does, whose promise each query would pay.
      let came: unknown;
      try {
        came = await value;
      } catch (bug) {
        step = course.throw(bug);
        continue;
      }
      step = course.next(came);
    } else {
      if (value.kind === "done") putDone(value, events);
      else if (value.kind !== "progress" && value.kind !== "queued") events.push(value);
      step = course.next();
    }
  }
}

/** How a query ended, with its result where that came whole. */
export function eventsOf(last: LastEvent): readonly ResultEvent[] {
  if (last.kind !== "done" || last.whole === undefined) return [last];
  const { columns, batch } = last.whole;
  return batch === undefined ? [columns, last] : [columns, { kind: "batch", batch }, last];
}

/** A result that came whole, as the events that it stands for. */
function putDone(done: DoneEvent, events: ResultEvent[]): void {
  for (const event of eventsOf(done)) events.push(event);
}

/** The next event of a course for whoever is none, or how it ended. */
export async function nextOf<Ended>(
  course: Course<Ended>,
): Promise<IteratorResult<ResultEvent, Ended>> {
  for (let step = course.next(); ;) {
    if (step.done === true) return step;
    const { value } = step;
    if (!(value instanceof Promise)) return { done: false, value };
    step = await after(course, value);
  }
}

/** Ends a course early, with everything that it does then. Does nothing where it is over. */
export async function endCourse<Ended>(course: Course<Ended>): Promise<void> {
  await ending(course);
}

/**
 * Ends a course that said its last event already, by asking for more. What is thrown instead costs microseconds in
 * each stage, and the runtime never compiles a stage that always ends by it. One that goes on all the same is ended early.
 */
export function finishing<Ended>(course: Course<Ended>): Promise<void> | undefined {
  const step = course.next();
  if (step.done === true) return undefined;
  return step.value instanceof Promise ? endedAfter(course, step.value) : ending(course);
}

/** The same as `endCourse`. A promise only where it has to wait. */
export function ending<Ended>(course: Course<Ended>): Promise<void> | undefined {
  try {
    let step = course.throw(readerLeft);
    while (step.done !== true) {
      if (step.value instanceof Promise) return endedAfter(course, step.value);
      step = course.next();
    }
  } catch (thrown) {
    if (thrown !== readerLeft) throw thrown;
  }
  return undefined;
}

async function endedAfter<Ended>(course: Course<Ended>, wait: Promise<unknown>): Promise<void> {
  try {
    let step = await after(course, wait);
    while (step.done !== true) {
      step = step.value instanceof Promise ? await after(course, step.value) : course.next();
    }
  } catch (thrown) {
    if (thrown !== readerLeft) throw thrown;
  }
}

async function* onward<Ended>(
  course: Course<Ended>,
  from: IteratorResult<ResultEvent | Promise<unknown>, Ended>,
): AsyncGenerator<ResultEvent, Ended, void> {
  let step = from;
  while (step.done !== true) {
    if (step.value instanceof Promise) step = await after(course, step.value);
    else {
      const events: ResultEvent[] = [];
      if (step.value.kind === "done") putDone(step.value, events);
      else events.push(step.value);
      yield* events;
      step = course.next();
    }
  }
  return step.value;
}

/** A course that is under way: its stream is begun, so that a reader who leaves before the first event ends it too. */
function begun(
  course: Course,
  wait: Promise<unknown>,
  events: readonly ResultEvent[],
): ResultStream {
  const stream = rest(course, wait, events);
  void stream.next();
  return stream;
}

async function* rest(
  course: Course,
  wait: Promise<unknown>,
  events: readonly ResultEvent[],
): ResultStream {
  try {
    // Taken by whoever makes the stream.
    yield { kind: "queued", position: 0 };
    yield* events;
    yield* onward(course, await after(course, wait));
  } finally {
    await endCourse(course);
  }
}

async function after<Ended>(
  course: Course<Ended>,
  wait: Promise<unknown>,
): Promise<IteratorResult<ResultEvent | Promise<unknown>, Ended>> {
  let value: unknown;
  try {
    value = await wait;
  } catch (bug) {
    return course.throw(bug);
  }
  return course.next(value);
}
