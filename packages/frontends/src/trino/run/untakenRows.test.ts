/** What a client that leaves without its rows is told, and what the record of its query says: the same, however they came. */
import { polledLimits, PolledQueries, type RunQuery } from "@gateway/core/run/poll/polled.ts";
import { startQuery } from "@gateway/core/run/answer.ts";
import { Engine, planeAsking } from "@gateway/core/run/rig/engine.ts";
import { runQuery } from "@gateway/core/run/run.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { describe, expect, it } from "vitest";
import { holds } from "./execution.ts";
import { batchOfNumbers, done, numbers, queryOf, resultsOf, statementOf } from "../rig/trino.ts";

describe.each<readonly [string, (events: readonly ResultEvent[]) => Engine]>([
  ["whole", wholeEngine],
  ["piece by piece", (events) => new Engine(undefined, events)],
])("a statement whose rows come %s while nobody asks", (_, engineOf) => {
  it("is finished once its client has taken them", async () => {
    const { engine, statement, plane } = await waiting(engineOf(few));
    engine.says();
    expect(plane.records).toEqual([]);
    const page = resultsOf(await statement.answer(1));
    expect(page).toMatchObject({ data: [[1], [2]], stats: { state: "FINISHED" } });
    expect([plane.slots.size, plane.live.list()]).toEqual([0, []]);
    expect(plane.records).toMatchObject([{ status: "finished", rowsReturned: 2 }]);
  });

  it("is cancelled by a DELETE before they were taken", async () => {
    const { engine, statement, plane } = await waiting(engineOf(few));
    engine.says();
    statement.cancel();
    const page = resultsOf(await statement.answer(1));
    expect(page).toMatchObject({ error: { errorName: "USER_CANCELED" } });
    expect([plane.slots.size, plane.live.list()]).toEqual([0, []]);
    expect(plane.records).toMatchObject([{ status: "cancelled", errorCode: "query.cancelled" }]);
  });

  it("is cancelled by a DELETE while more of them are at hand than an answer takes", async () => {
    const { engine, statement, plane } = await waiting(engineOf(many));
    engine.says();
    await statement.ahead();
    statement.cancel();
    const page = resultsOf(await statement.answer(1));
    expect(page).toMatchObject({ error: { errorName: "USER_CANCELED" } });
    expect(plane.records).toMatchObject([{ status: "cancelled", errorCode: "query.cancelled" }]);
  });

  it("is abandoned where its client never comes back", async () => {
    const { engine, statement, plane, queries } = await waiting(engineOf(few));
    engine.says();
    await plane.host.advance(polledLimits.abandonAfterMs + polledLimits.sweepEveryMs);
    expect([plane.slots.size, plane.live.list()]).toEqual([0, []]);
    expect(plane.records).toMatchObject([{ status: "cancelled", errorCode: "query.abandoned" }]);
    const page = resultsOf(await statement.answer(1));
    expect(page).toMatchObject({ error: { errorName: "ABANDONED_QUERY" } });
    await plane.host.advance(polledLimits.abandonAfterMs + polledLimits.sweepEveryMs);
    expect([queries.count, plane.host.timerCount]).toEqual([0, 0]);
  });

  it("is ended by a gateway that stops", async () => {
    const { engine, plane, queries } = await waiting(engineOf(few));
    engine.says();
    await queries.close();
    expect([plane.slots.size, plane.live.list()]).toEqual([0, []]);
    expect(plane.records).toMatchObject([{ status: "failed", errorCode: "gateway.draining" }]);
  });
});

const columns: ResultEvent = { kind: "columns", columns: numbers };
const few: readonly ResultEvent[] = [columns, batchOfNumbers([1, 2]), done];
const many: readonly ResultEvent[] = [
  columns,
  batchOfNumbers(Array.from({ length: 60_000 }, (_, at) => at)),
  done,
];

function wholeEngine([first, rows]: readonly ResultEvent[]): Engine {
  if (first?.kind !== "columns" || rows?.kind !== "batch") throw new Error("no result");
  return new Engine({ ...done, whole: { columns: first, batch: rows.batch } });
}

/** A statement whose client has its first answer, which tells no rows, and whose engine was asked. */
async function waiting(engine: Engine) {
  const plane = planeAsking(engine);
  const { clock } = plane.host;
  const queries = new PolledQueries(plane.host);
  const run: RunQuery = (query, signal) => runQuery(query, plane, signal);
  const polled = queries.start(queryOf("q1"), run, (query, signal, reader) =>
    startQuery(query, plane, signal, reader),
  );
  const { statement } = statementOf(run, { polled, clock });
  const first = statement.first(true);
  await plane.host.advance(holds.firstMs);
  expect(resultsOf(await first)).toMatchObject({ stats: { state: "RUNNING" } });
  expect(engine.seen).toEqual(["asked"]);
  return { engine, statement, plane, queries };
}
