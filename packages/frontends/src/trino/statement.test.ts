import { gatewayError } from "@gateway/core/error.ts";
import { polledLimits, type RunQuery } from "@gateway/core/query/polled.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { holds, type Statement } from "./statement.ts";
import {
  batchOfNumbers,
  done,
  elapsed,
  numbers,
  resultsOf,
  statementOf,
  stats,
} from "./trino.suite.ts";
import type { Page } from "./page.ts";
import type { VirtualHost } from "@gateway/core/port/virtual.ts";

describe("Statement", () => {
  it("gives every row once and in order, and equal answers for equal numbers, whatever is polled when", async () => {
    const batches = fc.array(
      fc.record({
        rows: fc.nat(3),
        wide: fc.boolean(),
        pauseMs: fc.constantFrom(0, 0, 3, 50, 1500),
      }),
      { maxLength: 8 },
    );
    const polls = fc.array(
      fc.record({ back: fc.nat(2), pauseMs: fc.constantFrom(0, 0, 10, 700) }),
      {
        minLength: 1,
        maxLength: 12,
      },
    );
    const whole = fc.asyncProperty(batches, polls, fc.boolean(), async (made, asked, readsRows) => {
      const { run, rows } = engineOf(made);
      const { host, statement } = statementOf(async function* engine() {
        yield* run(host);
      });
      const pages = await conversation(statement, host, asked, readsRows);
      expect(pages.flatMap((page) => resultsOf(page).data ?? [])).toEqual(rows);
      const last = resultsOf(pages.at(-1));
      expect([last.stats.state, last.nextUri]).toEqual(["FINISHED", undefined]);
    });
    await fc.assert(whole, { numRuns: 20 });
  });

  it("answers a whole short result with the POST when the client reads it there", async () => {
    const { statement } = statementOf(shortResult);
    expect(resultsOf(await statement.first(true))).toMatchObject({
      columns: [{ name: "n", type: "bigint" }],
      data: [[1], [2]],
      stats: { state: "FINISHED", processedRows: 3, progressPercentage: 100 },
    });
    expect(statement.over).toBe(true);
  });

  it("answers the state with the POST and everything with the first poll otherwise", async () => {
    const { statement } = statementOf(shortResult);
    const first = resultsOf(await statement.first(false));
    expect(first).not.toHaveProperty("data");
    expect(first.nextUri).toBe("http://localhost:8080/v1/statement/queued/q1/secret/1");
    expect(resultsOf(await statement.answer(1))).toMatchObject({ data: [[1], [2]] });
  });

  it("holds a poll until there are rows, and answers the state when none come in time", async () => {
    const { host, statement } = statementOf(async function* slow() {
      yield { kind: "progress", state: "running", stats };
      await elapsed(host, 2000);
      yield { kind: "columns", columns: numbers };
      yield batchOfNumbers([7]);
      yield done;
    });
    const first = statement.first(true);
    await host.advance(holds.firstMs);
    expect(resultsOf(await first)).toMatchObject({ stats: { state: "RUNNING" } });
    const second = statement.answer(1);
    await host.advance(holds.pollMs);
    expect(resultsOf(await second).data).toBeUndefined();
    const third = statement.answer(2);
    await host.advance(1500);
    expect(resultsOf(await third)).toMatchObject({ data: [[7]] });
    expect(resultsOf(await third).nextUri).toBeUndefined();
  });

  it("answers rows that are there soon when no more follow at once", async () => {
    const { host, statement } = statementOf(async function* trickle() {
      yield { kind: "columns", columns: numbers };
      yield batchOfNumbers([1]);
      await elapsed(host, 60_000);
      yield done;
    });
    const first = statement.first(true);
    await host.advance(holds.lingerMs);
    expect(resultsOf(await first)).toMatchObject({ data: [[1]] });
  });

  it("asks the engine for no batch before the one before is written out and asked for, but one answer ahead", async () => {
    const { host, statement, produced } = endless();
    await statement.first(true);
    expect(produced()).toBe(1);
    await host.settle();
    expect(produced()).toBe(1);
    await statement.ahead();
    const ahead = produced();
    await statement.ahead();
    await statement.answer(1);
    await host.settle();
    expect(produced()).toBe(ahead);
  });

  it("splits one batch over as many answers as its size needs", async () => {
    const { statement } = statementOf(async function* big() {
      yield { kind: "columns", columns: numbers };
      yield batchOfNumbers(Array.from({ length: 60_000 }, (_, index) => index));
      yield done;
    });
    const sizes: number[] = [];
    let page: Page | undefined = await statement.first(true);
    while (page !== undefined) {
      sizes.push(page.rows?.length ?? 0);
      page = page.more ? await statement.answer(page.token + 1) : undefined;
    }
    expect(sizes.slice(0, 3).map((size) => Math.round(size / 1024))).toEqual([64, 128, 256]);
    expect(sizes).toHaveLength(4);
  });

  it("shows the number of changed rows the way Trino does", async () => {
    const { statement } = statementOf(async function* insert() {
      yield { kind: "done", stats, updateType: "INSERT", updateCount: 5 };
    });
    expect(resultsOf(await statement.first(true))).toMatchObject({
      columns: [{ name: "rows", type: "bigint" }],
      data: [[5]],
      updateType: "INSERT",
      updateCount: 5,
    });
  });

  it("shows the rows of a statement that changes something and returns rows", async () => {
    const { statement } = statementOf(async function* returning() {
      yield { kind: "columns", columns: numbers };
      yield batchOfNumbers([1]);
      yield { kind: "done", stats, updateType: "INSERT", updateCount: 1 };
    });
    const results = resultsOf(await statement.first(true));
    expect(results.data).toEqual([[1]]);
    expect(results.updateType).toBeUndefined();
  });

  it("gives a statement without a result a type and no columns", async () => {
    const { statement } = statementOf(async function* nothing() {
      yield done;
    });
    const results = resultsOf(await statement.first(true));
    expect(results).toMatchObject({ columns: [], updateType: "STATEMENT" });
    expect(results.data).toBeUndefined();
  });

  it("answers the failure behind the rows that came before it", async () => {
    const { statement } = statementOf(async function* half() {
      yield { kind: "columns", columns: numbers };
      yield batchOfNumbers([1]);
      yield { kind: "failed", error: gatewayError("query.data", { message: "no", position: 3 }) };
    });
    expect(resultsOf(await statement.first(true))).toMatchObject({
      data: [[1]],
      stats: { state: "FAILED" },
      error: { message: "line 1:3: no", errorName: "INVALID_FUNCTION_ARGUMENT" },
    });
  });

  it("carries notices as warnings and changes of the session as headers, once", async () => {
    const run: RunQuery = async function* noisy() {
      yield { kind: "session", change: { kind: "setting", name: "a", value: "1" } };
      yield { kind: "notice", code: "deprecated", text: "old" };
      yield { kind: "columns", columns: numbers };
      yield batchOfNumbers([1]);
      await elapsed(host, 10);
      yield done;
    };
    const { host, statement } = statementOf(run, {
      headersOf: (change) => [["X-Change", change.kind]],
      endHeaders: [["X-End", "yes"]],
    });
    const first = statement.first(true);
    await host.advance(holds.lingerMs);
    const page = await first;
    expect(page.headers).toEqual([["X-Change", "setting"]]);
    expect(resultsOf(page).warnings).toEqual([
      { warningCode: { code: 0, name: "deprecated" }, message: "old" },
    ]);
    const second = statement.answer(1);
    await host.advance(100);
    expect((await second)?.headers).toEqual([["X-End", "yes"]]);
    expect(resultsOf(await second).warnings).toEqual([]);
  });

  it("fails, reports and ends the query when a batch does not fit its columns", async () => {
    const two = [...numbers, columnOf("b", { kind: "text" })];
    const { host, statement, bugs } = statementOf(async function* wrong(_query, signal) {
      yield { kind: "columns", columns: two };
      yield batchOfNumbers([1]);
      await aborted(signal);
      yield { kind: "failed", error: gatewayError("query.cancelled") };
    });
    const results = resultsOf(await statement.first(true));
    expect(results.error?.errorName).toBe("GENERIC_INTERNAL_ERROR");
    expect(bugs).toHaveLength(1);
    await host.settle();
    expect(host.timerCount).toBe(1);
  });
});

describe("Statement.cancel", () => {
  it("throws the rows at hand away and answers USER_CANCELED", async () => {
    const { statement } = endless();
    await statement.first(true);
    await statement.ahead();
    statement.cancel();
    expect(statement.progress.error?.code).toBe("query.cancelled");
    const results = resultsOf(await statement.answer(1));
    expect(results.data).toBeUndefined();
    expect(results).toMatchObject({
      stats: { state: "FAILED" },
      error: { errorName: "USER_CANCELED", errorCode: 3 },
    });
  });

  it("leaves a statement that has ended as it is, with the rows its client did not take yet", async () => {
    const { statement } = statementOf(shortResult);
    await statement.first(false);
    await statement.ahead();
    statement.cancel();
    expect(resultsOf(await statement.answer(1))).toMatchObject({ data: [[1], [2]] });
  });
});

describe("Statement.hold", () => {
  it("cancels when the only client hangs up, and not when another one still waits", async () => {
    const { host, statement } = statementOf(untilAborted);
    const [first, second] = [statement.hold(), statement.hold()];
    first.hungUp();
    expect(statement.progress.state).toBe("QUEUED");
    second.hungUp();
    second.hungUp();
    expect(statement.progress.state).toBe("FAILED");
    const answer = statement.answer(0);
    await host.settle();
    expect(resultsOf(await answer).error?.errorName).toBe("USER_CANCELED");
  });

  it("does not cancel when the client leaves with its answer", () => {
    const { statement } = statementOf(untilAborted);
    const held = statement.hold();
    held.answered();
    held.hungUp();
    expect(statement.progress.state).toBe("QUEUED");
  });
});

describe("the parking place behind a statement", () => {
  it("keeps it for a minute when its last answer was given", async () => {
    const { host, queries, statement } = statementOf(shortResult);
    await statement.first(false);
    await statement.answer(1);
    await host.settle();
    const { id, session } = statement.polled.query;
    await host.advance(polledLimits.keepMs - 1);
    expect(queries.resume(id, session.identity).ok).toBe(true);
    await host.advance(1);
    expect(queries.resume(id, session.identity).ok).toBe(false);
  });

  it("keeps nothing of it when the answer to the POST was the last one, which has no link", async () => {
    const { queries, statement } = statementOf(shortResult);
    await statement.first(true);
    expect(queries.count).toBe(0);
  });

  it("keeps it longer when the last answer is built ahead but was not asked for", async () => {
    const { host, queries, statement } = statementOf(shortResult);
    await statement.first(false);
    await statement.ahead();
    await host.advance(polledLimits.keepMs * 2);
    const { id, session } = statement.polled.query;
    expect(queries.resume(id, session.identity).ok).toBe(true);
    expect(resultsOf(await statement.answer(1)).data).toEqual([[1], [2]]);
  });
});

const shortResult: RunQuery = async function* short() {
  yield { kind: "columns", columns: numbers };
  yield batchOfNumbers([1, 2]);
  yield done;
};

const untilAborted: RunQuery = async function* waiting(_query, signal) {
  await aborted(signal);
  yield { kind: "failed", error: gatewayError("query.cancelled") };
};

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Batches of a page's size, counted as they are taken. */
function endless() {
  let produced = 0;
  const made = statementOf(async function* batches(_query, signal) {
    yield { kind: "columns", columns: numbers };
    while (!signal.aborted) {
      produced += 1;
      yield batchOfNumbers(Array.from({ length: 30_000 }, (_, index) => index));
    }
    yield { kind: "failed", error: gatewayError("query.cancelled") };
  });
  return { ...made, produced: () => produced };
}

interface MadeBatch {
  readonly rows: number;
  /** Many rows instead of few: about a first page. */
  readonly wide: boolean;
  readonly pauseMs: number;
}

/** An engine that pauses before each batch, and the rows it gives. */
function engineOf(made: readonly MadeBatch[]) {
  let next = 0;
  const batches = made.map(({ rows, wide, pauseMs }) => {
    const values = Array.from({ length: wide ? 9000 : rows }, (_, index) => next + index);
    next += values.length;
    return { values, pauseMs };
  });
  async function* run(host: VirtualHost): ReturnType<RunQuery> {
    yield { kind: "columns", columns: numbers };
    for (const { values, pauseMs } of batches) {
      if (pauseMs > 0) await elapsed(host, pauseMs);
      yield batchOfNumbers(values);
    }
    yield done;
  }
  return { run, rows: batches.flatMap(({ values }) => values.map((value) => [value])) };
}

interface Poll {
  /** How far back from the next number: 0 asks for it, 1 repeats the last one. */
  readonly back: number;
  readonly pauseMs: number;
}

/** Polls in the given pattern until the end; every answer by its number. */
async function conversation(
  statement: Statement,
  host: VirtualHost,
  polls: readonly Poll[],
  readsRows: boolean,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let over = false;
  const talk = async (): Promise<void> => {
    pages.push(await statement.first(readsRows));
    for (let index = 0; pages.at(-1)?.more === true; index += 1) {
      const { back, pauseMs } = polls[index % polls.length] ?? { back: 0, pauseMs: 0 };
      void statement.ahead();
      if (pauseMs > 0) await elapsed(host, pauseMs);
      const token = pages.length - back;
      // Two polls at once for the same number, as a client does that lost its connection.
      const [page, same] = await Promise.all([statement.answer(token), statement.answer(token)]);
      expect(same).toBe(page);
      if (back === 0 && page !== undefined) pages.push(page);
      expect(page).toBe(back === 2 ? undefined : pages.at(-1));
      const dueNow = back === 0 ? undefined : await statement.answer(pages.length);
      if (dueNow !== undefined) pages.push(dueNow);
    }
    over = true;
  };
  const talking = talk();
  await host.runUntil(() => over);
  await talking;
  return pages;
}
