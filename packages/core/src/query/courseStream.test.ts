import { describe, expect, it } from "vitest";
import { deferred } from "../tool/pause.ts";
import { waited, type Course } from "./course.ts";
import { streamOf } from "./courseStream.ts";
import type { ResultEvent } from "./event.ts";

describe("streamOf", () => {
  it("answers in the order in which was asked, also who asks before an answer is there", async () => {
    const gate = deferred<void>();
    const stream = streamOf(gated(gate.promise));
    const answers = [stream.next(), stream.next(), stream.next(), stream.next()];
    gate.resolve();
    expect(await Promise.all(answers)).toEqual([
      { done: false, value: notice("before") },
      { done: false, value: notice("behind") },
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
  });

  it("ends a course behind the event that it waits for, and only once", async () => {
    const gate = deferred<void>();
    const ends: string[] = [];
    const stream = streamOf(gated(gate.promise, ends));
    await stream.next();
    const next = stream.next();
    const ended = Promise.all([stream.return(), stream.return()]);
    expect(ends).toEqual([]);
    gate.resolve();
    expect(await next).toEqual({ done: false, value: notice("behind") });
    await ended;
    expect(ends).toEqual(["ended"]);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("lets a course that said its last event go on to its end", async () => {
    const ends: string[] = [];
    const stream = streamOf(
      (function* (): Course {
        yield { kind: "failed", error: { code: "query.cancelled", message: "" } };
        ends.push("went on");
      })(),
    );
    await stream.next();
    await stream.return();
    expect(ends).toEqual(["went on"]);
  });

  it("rejects with a bug before a wait and behind one, and is over then", async () => {
    for (const wait of [undefined, Promise.resolve(), Promise.reject(new Error("a bug"))]) {
      const stream = streamOf(
        (function* (): Course {
          if (wait !== undefined) yield* waited(wait);
          throw new Error("a bug");
        })(),
      );
      await expect(stream.next()).rejects.toThrow("a bug");
      expect(await stream.next()).toEqual({ done: true, value: undefined });
    }
  });

  it("ends the course when it is thrown into, or disposed of", async () => {
    const ends: string[] = [];
    const thrown = streamOf(gated(Promise.resolve(), ends));
    await thrown.next();
    await expect(thrown.throw(new Error("mine"))).rejects.toThrow("mine");
    {
      await using disposed = streamOf(gated(Promise.resolve(), ends));
      await disposed.next();
    }
    expect(ends).toEqual(["ended", "ended"]);
  });
});

function* gated(gate: Promise<void>, ends: string[] = []): Course {
  try {
    yield notice("before");
    yield* waited(gate);
    yield notice("behind");
  } finally {
    ends.push("ended");
  }
}

function notice(text: string): ResultEvent {
  return { kind: "notice", code: "0", text };
}
