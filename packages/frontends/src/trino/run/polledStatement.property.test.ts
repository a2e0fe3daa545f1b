import type { VirtualHost } from "@gateway/core/rig/virtual.ts";
import type { RunQuery } from "@gateway/core/run/poll/polled.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Page } from "../page/page.ts";
import type { PolledStatement } from "./polledStatement.ts";
import { batchOfNumbers, done, elapsed, numbers, resultsOf, statementOf } from "../rig/trino.ts";
import { casesOf } from "../../../../../test/cases.ts";

describe("PolledStatement.answer", () => {
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
      const pages = await polledToEnd(statement, host, asked, readsRows);
      expect(pages.flatMap((page) => resultsOf(page).data ?? [])).toEqual(rows);
      const last = resultsOf(pages.at(-1));
      expect([last.stats.state, last.nextUri]).toEqual(["FINISHED", undefined]);
    });
    await fc.assert(whole, { numRuns: casesOf(10, 100) });
  });
});

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
async function polledToEnd(
  statement: PolledStatement,
  host: VirtualHost,
  polls: readonly Poll[],
  readsRows: boolean,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let over = false;
  const poll = async (): Promise<void> => {
    pages.push(await statement.first(readsRows));
    for (let index = 0; pages.at(-1)?.next !== undefined; index += 1) {
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
  const polling = poll();
  await host.runUntil(() => over);
  await polling;
  return pages;
}
