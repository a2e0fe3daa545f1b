/** The main side of a thread against a thread that is scripted, so that every order of messages can be had. */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Thread, Threads } from "@gateway/core/port/threads.ts";
import { err, ok } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import { DriverControl } from "../memory/control.ts";
import { failureOf } from "../driver.ts";
import { DriverThread } from "./driverThread.ts";
import { draftBatch, schemaMessage } from "../arrow/ipc.ts";
import type { Request, StatementRequest, ThreadData, ThreadMessage } from "../message.ts";
import { ThreadPool } from "./pool.ts";
import { threadReach } from "./reach.ts";

describe("DriverThread", () => {
  it("gives a message back for each that was read, and no more", async () => {
    const { thread, script } = threadOf();
    const stream = thread.execute(statement, never);
    const first = stream.next();
    const [side] = script;
    side?.send(schema());
    expect((await first).value).toMatchObject({ kind: "columns" });
    let sent = 0;
    while (sent < 4 && side?.control.takeCredit() === true) {
      side.send(batch());
      sent += 1;
    }
    await stream.next();
    await stream.next();
    // Two were asked for, and the one in hand counts as unread.
    expect(side?.control.takeCredit()).toBe(true);
    side?.send({ kind: "reply", reply: ok({ kind: "executed", executed }) });
    const end = await last(stream);
    expect(end).toEqual(ok(executed));
  });

  it("answers cancelled when the signal was aborted, whatever the driver says", async () => {
    const { thread, script } = threadOf();
    const controller = new AbortController();
    const stream = thread.execute(statement, controller.signal);
    const step = stream.next();
    controller.abort();
    const [side] = script;
    expect(side?.control.cancelled).toBe(true);
    side?.send(schema());
    side?.send({ kind: "reply", reply: ok({ kind: "executed", executed }) });
    expect(await step).toMatchObject({ done: true, value: { error: { code: "cancelled" } } });
  });

  it("waits, when its reader leaves, until the driver has answered", async () => {
    const { thread, script } = threadOf();
    const stream = thread.execute(statement, never);
    const first = stream.next();
    const [side] = script;
    side?.send(schema());
    await first;
    let left = false;
    const leaving = (async () => {
      await stream.return(err(failureOf("cancelled", "")));
      left = true;
    })();
    await Promise.resolve();
    expect([left, side?.control.cancelled]).toEqual([false, true]);
    side?.send({ kind: "reply", reply: err(failureOf("driver", "interrupted")) });
    await leaving;
    expect(left).toBe(true);
  });

  it("fails what is under way and everything after it when the thread ends", async () => {
    const { thread, script } = threadOf();
    const asked = thread.ask({ kind: "disconnect" });
    script[0]?.exit(new Error("out of memory"));
    expect(await asked).toMatchObject({ ok: false, error: { code: "broken" } });
    expect(thread.alive).toBe(false);
    expect(await thread.ask({ kind: "disconnect" })).toMatchObject({ error: { code: "broken" } });
    expect(await last(thread.execute(statement, never))).toMatchObject({
      error: { code: "broken" },
    });
  });

  it("is settled without anybody reading, and can then be asked again", async () => {
    const { thread, script } = threadOf();
    const stream = thread.execute(statement, never);
    const first = stream.next();
    const [side] = script;
    side?.send(schema());
    await first;
    const settled = thread.settle();
    expect(side?.control.cancelled).toBe(true);
    side?.send({ kind: "reply", reply: err(failureOf("driver", "interrupted")) });
    await settled;
    const asked = thread.ask({ kind: "disconnect" });
    side?.send({ kind: "reply", reply: ok({ kind: "done" }) });
    expect(await asked).toEqual(ok({ kind: "done" }));
    expect((await stream.next()).done).toBe(true);
  });
});

describe("ThreadPool", () => {
  it("starts no more threads than allowed, and serves in the order of coming", async () => {
    const { threads, script } = scripted();
    const pool = new ThreadPool(starting(threads), clock, { sizeMax: 2 });
    const first = await pool.take(never);
    const second = await pool.take(never);
    const order: string[] = [];
    const third = pool.take(never).then((taken) => (order.push("third"), taken));
    const fourth = pool.take(never).then((taken) => (order.push("fourth"), taken));
    expect(pool.free).toBe(false);
    first?.[Symbol.dispose]();
    first?.[Symbol.dispose]();
    await third;
    second?.[Symbol.dispose]();
    await fourth;
    expect(order).toEqual(["third", "fourth"]);
    expect(script).toHaveLength(2);
  });

  it("replaces a thread that has ended", async () => {
    const { threads, script } = scripted();
    const pool = new ThreadPool(starting(threads), clock, { sizeMax: 1 });
    const first = await pool.take(never);
    const waiting = pool.take(never);
    script[0]?.exit(undefined);
    first?.[Symbol.dispose]();
    expect((await waiting)?.thread.alive).toBe(true);
    expect(script).toHaveLength(2);
  });

  it("gives up a place in the line when the signal says so, and lets everybody go when it closes", async () => {
    const { threads, script } = scripted();
    const pool = new ThreadPool(starting(threads), clock, { sizeMax: 1 });
    const first = await pool.take(never);
    const controller = new AbortController();
    const left = pool.take(controller.signal);
    const stayed = pool.take(never);
    controller.abort();
    expect(await left).toBeUndefined();
    const closing = pool.close(() => Promise.resolve());
    expect(await stayed).toBeUndefined();
    await Promise.resolve();
    script[0]?.send({ kind: "reply", reply: ok({ kind: "done" }) });
    await closing;
    expect(script[0]?.ended).toBe(true);
    expect(await pool.take(never)).toBeUndefined();
    first?.[Symbol.dispose]();
  });
});

const never = new AbortController().signal;
const choice = { library: "none", entrypoint: "none", inspect: "none" } as const;
const executed = { rowsAffected: undefined, statementType: undefined };
const statement: StatementRequest = {
  sql: "s",
  parameters: [],
  database: 1,
  before: [],
  expected: undefined,
};

/** A clock whose timers never fire: a cancel is sent once. */
const clock: Clock = {
  nowMs: () => 0,
  unixMs: () => 0,
  timer: () => ({ [Symbol.dispose]: () => {} }),
};

interface ScriptedSide {
  readonly control: DriverControl;
  readonly requests: Request[];
  ended: boolean;
  send(message: ThreadMessage): void;
  exit(error: unknown): void;
}

function scripted(): { readonly threads: Threads; readonly script: ScriptedSide[] } {
  const script: ScriptedSide[] = [];
  const threads: Threads = {
    start: (_name, data) => {
      let onMessage = (_message: unknown): void => {};
      let onExit = (_error: unknown): void => {};
      const side: ScriptedSide = {
        control: new DriverControl((data as ThreadData).control),
        requests: [],
        ended: false,
        send: (message) => onMessage([message]),
        exit: (error) => onExit(error),
      };
      script.push(side);
      const thread: Thread = {
        post: (message) => void side.requests.push(message as Request),
        onMessage: (handle) => {
          onMessage = handle;
        },
        onExit: (handle) => {
          onExit = handle;
        },
        ref: () => {},
        terminate: () => {
          side.ended = true;
          return Promise.resolve();
        },
      };
      return thread;
    },
  };
  return { threads, script };
}

function starting(threads: Threads): () => DriverThread {
  return () => new DriverThread(threadReach(threads, choice), clock);
}

function threadOf() {
  const { threads, script } = scripted();
  return { thread: starting(threads)(), script };
}

async function last(stream: ReturnType<DriverThread["execute"]>) {
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return step.value;
  }
}

function schema(): ThreadMessage {
  const message = schemaMessage([{ name: "a", type: { kind: "null" }, nullable: true }], []);
  return { kind: "schema", message, statementType: undefined };
}

function batch(): ThreadMessage {
  const { message } = draftBatch({
    rows: 1,
    nodes: [{ length: 1, nullCount: 1 }],
    bufferLengths: [],
  });
  return { kind: "batch", message };
}
