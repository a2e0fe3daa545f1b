import { sessionOf } from "../../rig/session.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { abortError, gatewayError } from "../../error.ts";
import type { AuthContext } from "../../query/identity.ts";
import { virtualHost, type VirtualHost } from "../../rig/virtual.ts";
import type { ResultEvent } from "../../query/event.ts";
import { neverAborted } from "../../tool/canceller.ts";
import { PolledQueries, polledLimits, type RunQuery } from "./polled.ts";
import type { PolledQuery } from "../../port/door.ts";
import { Secret } from "../../secret.ts";
import { readStatement } from "../../sql/statement.ts";
import type { Query, QueryId } from "../../query/query.ts";

const never = new AbortController().signal;

describe("PolledQuery.next", () => {
  it("hands every event out once and in order, whatever the waits between events and between polls", async () => {
    const pauses = fc.array(fc.nat(40), { maxLength: 12 });
    const eachOnce = fc.asyncProperty(pauses, pauses, async (enginePauses, clientPauses) => {
      const { host, queries } = queriesOf();
      const run: RunQuery = async function* paced() {
        for (const [position, pause] of enginePauses.entries()) {
          await elapsed(host, pause);
          yield { kind: "queued", position };
        }
        yield done;
      };
      const seen = collected(queries.start(queryOf("q"), run), host, clientPauses);
      await host.runUntil(() => seen.ended);
      expect(seen.events).toEqual([
        ...enginePauses.map((_, position) => ({ kind: "queued", position })),
        done,
      ]);
    });
    await fc.assert(eachOnce, { numRuns: 50 });
  });

  it("keeps no credential of its client after its end", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), finished);
    await Promise.all([query.next(20, never), host.advance(1)]);
    expect(query.query.session.credential).toEqual({ kind: "none" });
  });

  it("answers nothing after the wait, and the late event to the next call", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), async function* late() {
      await elapsed(host, 50);
      yield done;
    });
    const first = query.next(20, never);
    await host.advance(20);
    expect(await first).toBeUndefined();
    await host.advance(100);
    expect(await query.next(20, never)).toEqual(done);
  });

  it("does not read ahead of its client", async () => {
    const { host, queries } = queriesOf();
    let produced = 0;
    const query = queries.start(queryOf("q"), async function* endless() {
      for (;;) {
        produced += 1;
        yield { kind: "queued", position: produced };
      }
    });
    await query.next(10, never);
    await host.settle();
    expect(produced).toBe(1);
  });

  it("refuses a second call while one waits", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), silent());
    const first = query.next(10, never);
    await expect(query.next(10, never)).rejects.toThrow("twice");
    await host.advance(10);
    expect(await first).toBeUndefined();
  });

  it("cancels when the client hangs up during the wait, and the stream gives back what it held", async () => {
    const { host, queries } = queriesOf();
    const given: string[] = [];
    const query = queries.start(
      queryOf("q"),
      silent(() => given.push("slot")),
    );
    const client = new AbortController();
    const held = query.next(1000, client.signal);
    await host.settle();
    client.abort();
    expect(await held).toBeUndefined();
    await host.settle();
    expect(given).toEqual(["slot"]);
    expect(await query.next(0, never)).toEqual(failedWith("query.cancelled"));
    expect(host.timerCount).toBe(1);
  });

  it("cancels when the client is gone before the call", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), silent());
    expect(await query.next(1000, AbortSignal.abort())).toBeUndefined();
    await host.settle();
    expect(await query.next(0, never)).toEqual(failedWith("query.cancelled"));
  });

  it("turns a stream that stops without a last event into a failure", async () => {
    const { queries } = queriesOf();
    const query = queries.start(queryOf("q"), async function* broken() {});
    expect(await query.next(10, never)).toEqual(failedWith("engine.broken"));
  });

  it("turns a stream that throws into a failure and reports the bug", async () => {
    const { host, queries } = queriesOf();
    // oxlint-disable-next-line require-yield
    const query = queries.start(queryOf("q"), async function* throwing() {
      throw new Error("bug");
    });
    expect(await query.next(10, never)).toEqual(failedWith("internal.bug"));
    expect(host.log.bugs).toHaveLength(1);
  });
});

describe("PolledQuery.cancel", () => {
  it("drops a parked event and ends with query.cancelled", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), async function* two(_query, signal) {
      yield { kind: "queued", position: 1 };
      await elapsed(host, 10);
      yield { kind: "queued", position: 2 };
      yield { kind: "failed", error: abortError(signal) };
    });
    await query.next(1, never);
    const waited = query.next(1, never);
    await host.advance(20);
    expect(await waited).toBeUndefined();
    query.cancel();
    await host.settle();
    expect(await query.next(1, never)).toEqual(failedWith("query.cancelled"));
  });

  it("leaves a query that is over as it ended", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), finished);
    const waited = query.next(1, never);
    await host.settle();
    query.cancel();
    expect(await waited).toEqual(done);
  });

  it("cuts off an engine that does not stop", async () => {
    const { host, queries } = queriesOf();
    let cut = false;
    const query = queries.start(queryOf("q"), async function* deaf() {
      try {
        for (let position = 1; ; position += 1) yield { kind: "queued", position };
      } finally {
        cut = true;
      }
    });
    await query.next(1, never);
    query.cancel();
    await host.settle();
    expect(await query.next(1, never)).toEqual(failedWith("query.cancelled"));
    expect(cut).toBe(true);
  });
});

describe("PolledQueries.resume", () => {
  it("finds a query for its owner and for nobody else", () => {
    const { queries } = queriesOf();
    const query = queries.start(queryOf("q"), silent());
    expect(queries.resume(query.query.id, identityOf("alice"))).toEqual({ ok: true, value: query });
    const refused = { ok: false, error: gatewayError("query.unknown") };
    expect(queries.resume(query.query.id, identityOf("bob"))).toEqual(refused);
    expect(queries.resume("other" as QueryId, identityOf("alice"))).toEqual(refused);
    expect(queries.cancel(query.query.id, identityOf("bob"))).toEqual(refused);
  });

  it("finds a query for a minute after its client saw the end, and not longer", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), finished);
    await query.next(1, never);
    expect(await query.next(0, never)).toBeUndefined();
    await host.advance(polledLimits.keepMs - 1);
    expect(queries.resume(query.query.id, identityOf("alice")).ok).toBe(true);
    await host.advance(1);
    expect(queries.resume(query.query.id, identityOf("alice")).ok).toBe(false);
    expect(queries.count).toBe(0);
  });

  it("keeps a bounded number of ended queries, the youngest", async () => {
    const { queries } = queriesOf({ ...polledLimits, seenMax: 2 });
    for (const id of ["a", "b", "c", "d"]) {
      const query = queries.start(queryOf(id), finished);
      await query.next(1, never);
      await query.next(1, never);
    }
    const found = ["a", "b", "c", "d"].filter(
      (id) => queries.resume(id as QueryId, identityOf("alice")).ok,
    );
    expect(found).toEqual(["c", "d"]);
  });

  it("keeps a query whose end was read ahead but not seen until it counts as abandoned", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), finished);
    await query.next(1, never);
    await host.advance(polledLimits.abandonAfterMs - 1);
    expect(queries.resume(query.query.id, identityOf("alice")).ok).toBe(true);
    await host.advance(polledLimits.abandonAfterMs + polledLimits.sweepEveryMs);
    expect(queries.resume(query.query.id, identityOf("alice")).ok).toBe(false);
  });
});

describe("PolledQuery.forget", () => {
  it("keeps nothing of a query that has ended, and of a running one nothing behind its end", async () => {
    const { host, queries } = queriesOf();
    const over = queries.start(queryOf("over"), finished);
    await over.next(1, never);
    over.forget?.();
    expect(queries.count).toBe(0);
    const running = queries.start(queryOf("running"), silent());
    const waited = running.next(1000, neverAborted);
    running.forget?.();
    expect(queries.count).toBe(1);
    running.cancel();
    expect(await waited).toEqual(failedWith("query.cancelled"));
    expect(queries.count).toBe(0);
    await host.advance(polledLimits.sweepEveryMs);
    expect(host.timerCount).toBe(0);
  });
});

describe("PolledQueries sweep", () => {
  it("ends a query nobody asked for with query.abandoned and then forgets it", async () => {
    const { host, queries } = queriesOf();
    const given: string[] = [];
    const query = queries.start(
      queryOf("q"),
      silent(() => given.push("slot")),
    );
    const waited = query.next(1000, never);
    await host.advance(1000);
    await waited;
    await host.advance(polledLimits.abandonAfterMs - 1001);
    expect(given).toEqual([]);
    await host.advance(polledLimits.sweepEveryMs);
    expect(given).toEqual(["slot"]);
    expect(await query.next(0, never)).toEqual(failedWith("query.abandoned"));
    await host.advance(polledLimits.abandonAfterMs + polledLimits.sweepEveryMs);
    expect(queries.count).toBe(0);
  });

  it("leaves a query that is polled alone, however long it runs", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), silent());
    for (let poll = 0; poll < 40; poll += 1) {
      const waited = query.next(30_000, never);
      await host.advance(30_000);
      expect(await waited).toBeUndefined();
    }
    expect(queries.resume(query.query.id, identityOf("alice")).ok).toBe(true);
  });

  it("keeps no timer when no query is left", async () => {
    const { host, queries } = queriesOf();
    const query = queries.start(queryOf("q"), finished);
    await query.next(1, never);
    await query.next(1, never);
    await host.advance(polledLimits.sweepEveryMs);
    expect(host.timerCount).toBe(0);
  });
});

describe("PolledQueries.start", () => {
  it("makes room by ended queries first and fails above its count", async () => {
    const { queries } = queriesOf({ ...polledLimits, countMax: 2 });
    const over = queries.start(queryOf("over"), finished);
    await over.next(1, never);
    await over.next(1, never);
    queries.start(queryOf("b"), silent());
    queries.start(queryOf("c"), silent());
    expect(queries.count).toBe(2);
    const refused = queries.start(queryOf("d"), finished);
    const first = await refused.next(1, never);
    expect(first).toMatchObject({ kind: "failed", error: { code: "capacity.queueFull" } });
    expect(queries.count).toBe(2);
  });
});

describe("PolledQueries.close", () => {
  it("ends every query with gateway.draining, waits for their streams, and refuses new ones", async () => {
    const { host, queries } = queriesOf();
    const given: string[] = [];
    const query = queries.start(
      queryOf("a"),
      silent(() => given.push("a")),
    );
    const waited = query.next(1000, never);
    queries.start(
      queryOf("never polled"),
      silent(() => given.push("b")),
    );
    await queries.close();
    expect(given).toEqual(["a", "b"]);
    expect(await waited).toEqual(failedWith("gateway.draining"));
    const late = await queries.start(queryOf("c"), finished).next(1, never);
    expect(late).toEqual(failedWith("gateway.draining"));
    expect(host.timerCount).toBe(0);
  });
});

const done: ResultEvent = {
  kind: "done",
  stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 },
};

const finished: RunQuery = async function* finishing() {
  yield done;
};

/** A stream that says nothing until it is aborted. */
function silent(onEnd: () => void = () => {}): RunQuery {
  return async function* waiting(_query, signal) {
    try {
      await aborted(signal);
      yield { kind: "failed", error: abortError(signal) };
    } finally {
      onEnd();
    }
  };
}

function failedWith(code: Parameters<typeof gatewayError>[0]): ResultEvent {
  return { kind: "failed", error: gatewayError(code) };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function elapsed(host: VirtualHost, ms: number): Promise<void> {
  return new Promise((resolve) => {
    host.clock.timer(ms, resolve);
  });
}

/** Polls a query to its end with pauses between the polls, on the host's clock. */
function collected(query: PolledQuery, host: VirtualHost, pauses: readonly number[]) {
  const seen: { readonly events: ResultEvent[]; ended: boolean } = { events: [], ended: false };
  const poll = async (): Promise<void> => {
    for (let index = 0; !seen.ended; index += 1) {
      await elapsed(host, pauses[index % pauses.length] ?? 0);
      const event = await query.next(5, never);
      if (event !== undefined) seen.events.push(event);
      seen.ended = event?.kind === "done" || event?.kind === "failed";
    }
  };
  void poll();
  return seen;
}

function queriesOf(limits = polledLimits) {
  const host = virtualHost(1);
  return { host, queries: new PolledQueries(host, limits) };
}

function identityOf(user: string): AuthContext {
  return { user, groups: [], roles: [], method: "none" };
}

function queryOf(id: string): Query {
  return {
    id: id as QueryId,
    sql: "SELECT 1",
    statement: readStatement("SELECT 1", "trino"),
    parameters: [],
    takes: [],
    receivedAtMs: 0,
    session: sessionOf({
      frontend: "trinoHttp",
      identity: identityOf("alice"),
      credential: { kind: "password", user: "alice", password: new Secret("p") },
      dialect: "trino",
    }),
  };
}
