import { describe, expect, it } from "vitest";
import { virtualHost } from "../rig/virtual.ts";
import { deferred } from "../tool/pause.ts";
import { FirstAnswers, firstAnswersMs } from "./firstAnswers.ts";

describe("FirstAnswers", () => {
  it("waits for the last of them, and is over then", async () => {
    const { clock } = virtualHost(1);
    const [one, other] = [deferred<void>(), deferred<void>()];
    using answers = new FirstAnswers([{ first: one.promise }, { first: other.promise }], clock);
    const waiting = answers.pending;
    one.resolve();
    await one.promise;
    expect(answers.pending).toBe(waiting);
    other.resolve();
    await waiting;
    expect(answers.pending).toBeUndefined();
  });

  it("keeps nobody waiting for an engine that does not answer", async () => {
    const host = virtualHost(1);
    const { clock } = host;
    using answers = new FirstAnswers([{ first: new Promise(() => {}) }], clock);
    const waiting = answers.pending;
    await host.advance(firstAnswersMs);
    await waiting;
    expect(answers.pending).toBeUndefined();
  });

  it("lets everybody go when nobody watches any more", async () => {
    const { clock } = virtualHost(1);
    const answers = new FirstAnswers([{ first: new Promise(() => {}) }], clock);
    const waiting = answers.pending;
    answers[Symbol.dispose]();
    await waiting;
    expect(answers.pending).toBeUndefined();
  });
});
