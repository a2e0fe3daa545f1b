import { abortError, gatewayError } from "@gateway/core/error.ts";
import { polledLimits, type RunQuery } from "@gateway/core/run/poll/polled.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import { holds } from "./execution.ts";
import {
  batchOfNumbers,
  done,
  elapsed,
  numbers,
  resultsOf,
  statementOf,
  stats,
} from "../rig/trino.ts";
import { pageBytes, type Page } from "../page/page.ts";

describe("PolledStatement", () => {
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
    expect(first.nextUri).toBe("http://localhost:8080/v1/statement/queued/a1/1");
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

  it("answers rows that took a while together with an end that comes soon behind them", async () => {
    const { host, statement } = statementOf(async function* short() {
      await elapsed(host, 40);
      yield { kind: "columns", columns: numbers };
      yield batchOfNumbers([1]);
      await elapsed(host, 15);
      yield done;
    });
    const first = statement.first(true);
    await host.advance(55);
    expect(resultsOf(await first)).toMatchObject({ data: [[1]], stats: { state: "FINISHED" } });
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
      sizes.push(pageBytes(page));
      page = page.next !== undefined ? await statement.answer(page.token + 1) : undefined;
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

describe("PolledStatement.cancel", () => {
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

describe("the time limit of a statement", () => {
  it("ends it as the client asked, also between two polls, and tells so", async () => {
    const { host, statement } = statementOf(untilAborted, { timeLimitMs: 5000 });
    const first = statement.first(false);
    await host.advance(1);
    await first;
    await host.advance(4999);
    const results = resultsOf(await statement.answer(1));
    expect(results.error).toMatchObject({
      errorName: "EXCEEDED_TIME_LIMIT",
      message: "Query exceeded the maximum run time limit of 5.00s",
    });
    await host.advance(polledLimits.keepMs * 4);
    expect(host.timerCount).toBe(0);
  });

  it("leaves no timer behind a statement that ended before", async () => {
    const { host, statement } = statementOf(shortResult, { timeLimitMs: 5000 });
    await statement.first(true);
    await host.advance(polledLimits.keepMs * 4);
    expect(host.timerCount).toBe(0);
    const cancelled = statementOf(untilAborted, { timeLimitMs: 5000 });
    cancelled.statement.cancel();
    expect(cancelled.host.timerCount).toBe(1);
  });
});

describe("PolledStatement.hold", () => {
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

describe("the parked query behind a statement", () => {
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

  it("ends it when nobody asks for five minutes, and a late poll says so", async () => {
    const { host, queries, statement } = statementOf(async function* told(_query, signal) {
      await aborted(signal);
      yield { kind: "failed", error: abortError(signal) };
    });
    const first = statement.first(false);
    await host.advance(1);
    await first;
    await host.advance(polledLimits.abandonAfterMs + polledLimits.sweepEveryMs);
    expect(resultsOf(await statement.answer(1)).error).toMatchObject({
      errorName: "ABANDONED_QUERY",
    });
    await host.advance(polledLimits.keepMs + polledLimits.sweepEveryMs);
    expect(queries.count).toBe(0);
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
