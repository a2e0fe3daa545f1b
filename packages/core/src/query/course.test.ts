import { describe, expect, it } from "vitest";
import { answerOf, courseOf, waited, type Course } from "./course.ts";
import { streamOf } from "./courseStream.ts";
import type { ResultEvent, ResultStream } from "./event.ts";
import { batchOf, columnOf } from "../type/build.ts";

describe("answerOf", () => {
  it("answers all events where nothing is waited for behind the first one", async () => {
    const answer = await answerOf(course(["wait", 1, 2]));
    expect(answer).toEqual([notice(1), notice(2)]);
  });

  it("leaves out that a query waits or runs", async () => {
    const answer = await answerOf(
      (function* (): Course {
        yield { kind: "queued", position: 1 };
        yield* waited(Promise.resolve());
        yield notice(1);
      })(),
    );
    expect(answer).toEqual([notice(1)]);
  });

  it("streams from the first event on where more is waited for", async () => {
    const answer = await answerOf(course([1, "wait", 2, "wait", 3]));
    expect(Array.isArray(answer)).toBe(false);
    expect(await allOf(answer)).toEqual([1, 2, 3].map(notice));
  });

  it("ends the course of a stream that nobody begins to read", async () => {
    const ends: string[] = [];
    const answer = await answerOf(course([1, "wait", 2], ends));
    if (!(Symbol.asyncIterator in answer)) throw new Error("no stream");
    await answer.return();
    expect(ends).toEqual(["ended"]);
  });

  it("tells a result that came with its end as the events that it stands for, also in a stream", async () => {
    const columns = [columnOf("n", { kind: "boolean" })];
    const described = { kind: "columns", columns } as const;
    const batch = batchOf(columns, [[true]]);
    const done: ResultEvent = {
      kind: "done",
      stats: noStats,
      whole: { columns: described, batch },
    };
    const empty: ResultEvent = { ...done, whole: { columns: described, batch: undefined } };
    const told = [described, { kind: "batch", batch }, done];
    expect(await answerOf(saying([done]))).toEqual(told);
    expect(await answerOf(saying([empty]))).toEqual([told[0], empty]);
    const late = await answerOf(saying([notice(1), "wait", done]));
    expect(await allOf(late)).toEqual([notice(1), ...told]);
  });

  it("rejects with a bug of the course, before the first event and behind it", async () => {
    await expect(answerOf(failing([]))).rejects.toThrow("a bug");
    const late = await answerOf(failing([1, "wait"]));
    await expect(allOf(late)).rejects.toThrow("a bug");
  });
});

const noStats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };

function* saying(steps: readonly (ResultEvent | "wait")[]): Course {
  for (const step of steps) {
    if (step === "wait") yield* waited(Promise.resolve());
    else yield step;
  }
}

describe("streamOf", () => {
  it("waits in every stage that has to end something, and goes on in none behind a reader who left", async () => {
    const ends: string[] = [];
    const stream = streamOf(outer(ends));
    expect(await stream.next()).toEqual({ done: false, value: notice(1) });
    await stream.return();
    expect(ends).toEqual(["ended", "outer"]);
  });

  it("throws into the course what a wait was rejected with", async () => {
    const stream = streamOf(
      (function* (): Course {
        try {
          yield* waited(Promise.reject(new Error("refused")));
        } catch {
          yield notice(7);
        }
      })(),
    );
    expect(await allOf(stream)).toEqual([notice(7)]);
  });

  it("begins nothing before it is read", async () => {
    const ends: string[] = [];
    await streamOf(course([1], ends)).return();
    expect(ends).toEqual([]);
  });
});

describe("courseOf", () => {
  it("passes a stream on, and ends it with the course", async () => {
    const ends: string[] = [];
    const events = streamOf(courseOf(streamed([1, 2], ends)));
    expect(await allOf(events)).toEqual([1, 2].map(notice));
    const left = streamOf(courseOf(streamed([1, 2], ends)));
    await left.next();
    await left.return();
    expect(ends).toEqual(["ended", "ended"]);
  });
});

type Part = number | "wait";

function* course(parts: readonly Part[], ends?: string[]): Course {
  try {
    for (const part of parts) {
      if (part === "wait") yield* waited(Promise.resolve());
      else yield notice(part);
    }
  } finally {
    if (ends !== undefined) {
      yield* waited(Promise.resolve());
      ends.push("ended");
    }
  }
}

function* failing(parts: readonly Part[]): Course {
  for (const part of parts) {
    if (part === "wait") yield* waited(Promise.resolve());
    else yield notice(part);
  }
  throw new Error("a bug");
}

function* outer(ends: string[]): Course {
  try {
    yield* course([1, 2], ends);
    yield notice(3);
    ends.push("went on");
  } finally {
    yield* waited(Promise.resolve());
    ends.push("outer");
  }
}

async function* streamed(numbers: readonly number[], ends: string[]): ResultStream {
  try {
    for (const number of numbers) yield notice(number);
  } finally {
    ends.push("ended");
  }
}

async function allOf(answer: readonly ResultEvent[] | ResultStream) {
  const events: ResultEvent[] = [];
  for await (const event of answer) events.push(event);
  return events;
}

function notice(number: number): ResultEvent {
  return { kind: "notice", code: String(number), text: "" };
}
