import { describe, expect, it } from "vitest";
import type { SqlWorkFault } from "@gateway/core/port/sql/sqlWork.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { idleMsMax, lengthMax, shortLengthMax, startMsMax, workMsMax } from "./limits.ts";
import type { SqlReply } from "./message.ts";
import { SqlThreads } from "./sqlThreads.ts";

const parsed = { parsed: true, kinds: ["select"] } as const;

describe("SqlThreads", () => {
  it("starts no thread until somebody asks, and one for each length of text", async () => {
    const { threads, ask, started } = rigOf();
    expect(started).toHaveLength(0);
    const short = ask("SELECT 1");
    const other = ask("SELECT 2");
    expect(started).toHaveLength(1);
    const long = ask("x".repeat(shortLengthMax + 1));
    expect(started).toHaveLength(2);
    for (const thread of started) thread.ready();
    started[0]?.done();
    expect(await short).toEqual({ ok: true, value: parsed });
    started[0]?.done();
    started[1]?.done();
    expect([await other, await long]).toEqual([
      { ok: true, value: parsed },
      { ok: true, value: parsed },
    ]);
    await threads[Symbol.asyncDispose]();
    expect(started.map(({ ended }) => ended)).toEqual([true, true]);
  });

  it("looks at no text beyond its limit", async () => {
    const { ask, started } = rigOf();
    expect(await ask("x".repeat(lengthMax + 1))).toEqual(fault("tooLong"));
    expect(started).toHaveLength(0);
  });

  it("ends a thread that works too long, answers for that text alone, and serves the others with a new one", async () => {
    const { host, ask, started } = rigOf();
    const hung = ask("SELECT hung");
    const next = ask("SELECT next");
    started[0]?.ready();
    await host.advance(workMsMax);
    expect(await hung).toEqual(fault("slow"));
    expect(started[0]?.ended).toBe(true);
    expect(started).toHaveLength(2);
    started[0]?.done();
    started[1]?.ready();
    expect(started[1]?.posted).toEqual([messageOf("SELECT next")]);
    started[1]?.done();
    expect(await next).toEqual({ ok: true, value: parsed });
  });

  it("answers for the text that broke its thread, and goes on with another", async () => {
    const { ask, started, bugs } = rigOf();
    const broke = ask("SELECT broke");
    const next = ask("SELECT next");
    started[0]?.ready();
    started[0]?.exit(new Error("unreachable"));
    expect(await broke).toEqual(fault("broken"));
    started[1]?.ready();
    started[1]?.done();
    expect(await next).toEqual({ ok: true, value: parsed });
    expect(bugs()).toBe(1);
  });

  it("does not start again and again what can not start", async () => {
    const { host, ask, started } = rigOf();
    const asked = [ask("SELECT 1"), ask("SELECT 2")];
    started[0]?.exit(new Error("no such file"));
    expect(await Promise.all(asked)).toEqual([fault("broken"), fault("broken")]);
    expect(started).toHaveLength(1);
    const later = ask("SELECT 3");
    expect(started).toHaveLength(2);
    await host.advance(startMsMax);
    expect(await later).toEqual(fault("broken"));
    expect(started[1]?.ended).toBe(true);
  });

  it("lets users take turns, and skips those who left", async () => {
    const { ask, started } = rigOf();
    const left = new AbortController();
    const answers = [ask("a1", "ann"), ask("a2", "ann"), ask("a3", "ann", left.signal)];
    answers.push(ask("b1", "bob"));
    left.abort();
    started[0]?.ready();
    for (let done = 0; done < 3; done += 1) started[0]?.done();
    expect(await answers[2]).toEqual(fault("cancelled"));
    expect(started[0]?.posted).toEqual(["a1", "b1", "a2"].map(messageOf));
  });

  it("gives its memory back when nobody asked for a while", async () => {
    const { host, ask, started } = rigOf();
    const first = ask("SELECT 1");
    started[0]?.ready();
    started[0]?.done();
    await first;
    expect(started[0]?.held).toBe(false);
    await host.advance(idleMsMax);
    expect(started[0]?.ended).toBe(true);
    const second = ask("SELECT 2");
    started[1]?.ready();
    started[1]?.done();
    expect(await second).toEqual({ ok: true, value: parsed });
  });
});

function fault(error: SqlWorkFault) {
  return { ok: false, error } as const;
}

function messageOf(sql: string) {
  return { task: "parse", input: { sql, dialect: "duckdb" } };
}

interface FakeThread extends Thread {
  readonly posted: unknown[];
  readonly ended: boolean;
  readonly held: boolean;
  ready(): void;
  done(): void;
  exit(error: Error): void;
}

function rigOf() {
  const started: FakeThread[] = [];
  const start = (): Thread => {
    const thread = fakeThread();
    started.push(thread);
    return thread;
  };
  const host = virtualHost(1, { start });
  const threads = new SqlThreads(host);
  const ask = (sql: string, user = "ann", signal = new AbortController().signal) =>
    threads.ask({
      task: "parse",
      input: { sql, dialect: "duckdb" },
      length: sql.length,
      user,
      signal,
    });
  return { host, threads, ask, started, bugs: () => host.log.bugs.length };
}

function fakeThread(): FakeThread {
  let tell: (reply: SqlReply) => void = () => {};
  let exit: (error: unknown) => void = () => {};
  const state = { ended: false, held: true };
  const posted: unknown[] = [];
  return {
    posted,
    get ended() {
      return state.ended;
    },
    get held() {
      return state.held;
    },
    ready: () => tell({ kind: "ready" }),
    done: () => tell({ kind: "done", output: parsed }),
    exit: (error) => exit(error),
    post: (message) => void posted.push(message),
    onMessage: (handle) => {
      tell = handle;
    },
    onExit: (handle) => {
      exit = handle;
    },
    ref: (on) => {
      state.held = on;
    },
    terminate: async () => {
      state.ended = true;
    },
  };
}
