/** Who has a mirror, over threads that are scripts and a clock that is the test's. The real ones are in mirror.test.ts. */
import type { Thread, Threads } from "@gateway/core/port/threads.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import { ok } from "@gateway/core/result.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scriptedDoor } from "../../rig/scriptedDoor.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import type { MirrorRequest } from "./message.ts";
import { Mirrors } from "./mirrors.ts";

describe("Mirrors", () => {
  it("answers another user within one statement, whatever one user sends", async () => {
    const bench = benchOf();
    const anns = Array.from({ length: 6 }, () => bench.ask("ann", "one", 60_000));
    await bench.host.settle();
    await bench.host.advance(4_000);
    const bobs = bench.ask("bob", "one", 3);
    await bench.host.advance(1_003);
    expect(bobs.outcome).toBe("rows");
    await bench.host.advance(20_000);
    expect(anns.map(({ outcome }) => outcome)).toEqual([
      "timeout",
      "timeout",
      "timeout",
      "capacity.queueFull",
      "capacity.queueFull",
      "capacity.queueFull",
    ]);
  });

  it("lets a third scope in when two that are always asked have had their turn", async () => {
    const bench = benchOf();
    for (const [user, scope] of [
      ["ann", "one"],
      ["bob", "two"],
    ] as const) {
      bench.keepAsking(user, scope, 700);
      bench.keepAsking(user, scope, 700);
    }
    await bench.host.advance(2_000);
    const third = bench.ask("carl", "three", 10);
    await bench.host.advance(2_000);
    expect(third.outcome).toBeUndefined();
    await bench.host.advance(2_000);
    expect(third.outcome).toBe("rows");
    expect(bench.threadsMost).toBe(2);
  });

  it("never ends a mirror for another before it has answered", async () => {
    const bench = benchOf();
    const users = ["ann", "bob", "carl", "dan"];
    const asked = users.map((user) => bench.ask(user, user, 4_900));
    await bench.host.advance(60_000);
    expect(asked.map(({ outcome }) => outcome)).toEqual(["rows", "rows", "rows", "rows"]);
    expect(bench.started).toBe(4);
  });

  it("takes a mirror that nobody asks at once, and the other one stays", async () => {
    const bench = benchOf();
    bench.keepAsking("ann", "one", 700);
    bench.keepAsking("ann", "one", 700);
    bench.ask("bob", "two", 10);
    await bench.host.advance(100);
    const third = bench.ask("carl", "three", 10);
    await bench.host.advance(20);
    expect(third.outcome).toBe("rows");
    expect(bench.started).toBe(3);
  });

  it("forgets who wanted a mirror and left", async () => {
    const bench = benchOf();
    for (const [user, scope] of [
      ["ann", "one"],
      ["bob", "two"],
    ] as const) {
      bench.keepAsking(user, scope, 700);
      bench.keepAsking(user, scope, 700);
    }
    await bench.host.advance(100);
    const leaver = new Canceller();
    const third = bench.ask("carl", "three", 10, leaver);
    await bench.host.advance(100);
    leaver.abort();
    await bench.host.advance(20_000);
    expect(third.outcome).toBe("query.cancelled");
    expect(bench.started).toBe(2);
  });

  it("lets everybody finish who asks, however many scopes there are and whoever asks on and on", async () => {
    const cases = fc.array(
      fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(5), fc.integer({ min: 300, max: 6_000 })),
      {
        minLength: 3,
        maxLength: 8,
      },
    );
    const served = fc.asyncProperty(cases, async (all) => {
      const bench = benchOf();
      for (const [user, scope, takesMs] of all) bench.keepAsking(user, `${scope}`, takesMs);
      const quiet = bench.ask("quiet", "its own", 100);
      // Two mirrors at a time: each has its turn of 5 s and what runs then, and a user's scopes come one by one.
      await bench.host.advance(60_000);
      expect(quiet.outcome).toBe("rows");
      expect(bench.threadsMost).toBeLessThanOrEqual(2);
      await bench.close();
    });
    await fc.assert(served, { numRuns: 20 });
  });
});

interface Question {
  outcome: string | undefined;
}

/** `ask` sends a statement that takes so long in its mirror; each scope has one of its own. */
function benchOf() {
  let alive = 0;
  const bench = {
    started: 0,
    threadsMost: 0,
  };
  const threads: Threads = {
    start: () => {
      alive += 1;
      bench.started += 1;
      bench.threadsMost = Math.max(bench.threadsMost, alive);
      return scriptedThread(host.clock, () => {
        alive -= 1;
      });
    },
  };
  const host = virtualHost(1, threads);
  const door = {
    ...scriptedDoor({ answers: {}, catalogs: ["memory"] }),
    tables: async (query: { readonly session: { readonly schema: string | undefined } }) =>
      ok({ key: query.session.schema ?? "", list: async () => ok([]) }),
  };
  const mirrors = new Mirrors("mirror", door, host);
  const ask = (user: string, scope: string, takesMs: number, leaver = new Canceller()) => {
    const question: Question = { outcome: undefined };
    const identity = { user, groups: [], roles: [], method: "none" } as const;
    const session = sessionOf({ identity, schema: scope });
    texts += 1;
    const statement = {
      sql: `${takesMs} ${texts}`,
      types: [],
      session: seen,
      values: [],
      formats: [],
    };
    const asked = mirrors.ask(session, () => ({ kind: "run", ...statement }), leaver);
    return Object.assign(question, { done: told(question, asked) });
  };
  let closed = false;
  let texts = 0;
  const keepAsking = (user: string, scope: string, takesMs: number): void => {
    if (closed) return;
    const again = (): void => keepAsking(user, scope, takesMs);
    const asked = ask(user, scope, takesMs);
    // Whoever is refused waits a little; otherwise the clock would never go on.
    const over = (): unknown =>
      asked.outcome === "capacity.queueFull" ? host.clock.timer(100, again) : again();
    void asked.done.then(over);
  };
  const close = async (): Promise<void> => {
    closed = true;
    await mirrors[Symbol.asyncDispose]();
  };
  return Object.assign(bench, { host, ask, keepAsking, close });
}

async function told(question: Question, asked: ReturnType<Mirrors["ask"]>): Promise<void> {
  const answer = await asked;
  if (!answer.ok) question.outcome = answer.error.code;
  else question.outcome = answer.value.kind === "lost" ? answer.value.code : answer.value.kind;
}

const seen = {
  user: "",
  searchPath: "",
  shownPath: "",
  timeZone: "",
  applicationName: "",
  process: 1,
};

/** Fills at once; a statement's text is how long it takes. Ends a while after it is told to. */
function scriptedThread(
  clock: { timer(delayMs: number, fire: () => void): Disposable },
  ended: () => void,
): Thread {
  let tell: (message: unknown) => void = () => {};
  let over = false;
  return {
    post: (message) => {
      const request = message as MirrorRequest;
      if (request.kind === "fill") {
        tell({ id: request.id, kind: "filled", skipped: 0 });
        return;
      }
      clock.timer(Number.parseInt(request.sql, 10), () => {
        const result = { columns: [], rows: 0, vectors: [] };
        if (!over) tell({ id: request.id, kind: "rows", result });
      });
    },
    onMessage: (handle) => {
      tell = handle;
    },
    onExit: () => {},
    ref: () => {},
    terminate: async () => {
      if (!over) ended();
      over = true;
    },
  };
}
