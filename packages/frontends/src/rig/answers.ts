/** What the shared suite's statements are answered with. */
import { gatewayError } from "@gateway/core/error.ts";
import type { DoneEvent, ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Script } from "./scriptedDoor.ts";
import { sampleColumns, sampleRows } from "./samples.ts";

const done: DoneEvent = {
  kind: "done",
  stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 },
};
const oneColumn = [columnOf("n", { kind: "integer", bits: 32, signed: true })];
const columns: ResultEvent = { kind: "columns", columns: oneColumn };
const oneRow: ResultEvent = { kind: "batch", batch: batchOf(oneColumn, [[1n]]) };
const syntaxError = gatewayError("query.syntax", {
  message: 'syntax error at "FORM"',
  position: 10,
});

/** Answers of every test but those that wait. */
export const answers: Script["answers"] = {
  "SELECT 1": [columns, oneRow, done],
  "SELECT samples": [
    { kind: "columns", columns: sampleColumns },
    { kind: "batch", batch: batchOf(sampleColumns, sampleRows) },
    done,
  ],
  "SELECT nothing": [columns, done],
  "SELECT batches": [columns, ...Array.from({ length: 20 }, (_, part) => batchFrom(part)), done],
  "INSERT INTO t VALUES (1)": [{ ...done, updateType: "INSERT", updateCount: 3 }],
  "SELECT * FORM t": [{ kind: "failed", error: syntaxError }],
  "SELECT broken": [columns, oneRow, { kind: "failed", error: gatewayError("engine.broken") }],
};

/** Five hundred rows that go on where the part before ended. */
function batchFrom(part: number): ResultEvent {
  const rows = Array.from({ length: 500 }, (_, row) => [BigInt(part * 500 + row)]);
  return { kind: "batch", batch: batchOf(oneColumn, rows) };
}

/** Runs until it is cancelled. */
export async function* waitForAbort(_query: Query, signal: AbortSignal): ResultStream {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  yield { kind: "failed", error: gatewayError("query.cancelled") };
}

/** Rows without an end, as fast as the client takes them. */
export async function* endless(_query: Query, signal: AbortSignal): ResultStream {
  yield columns;
  for (let part = 0; !signal.aborted; part += 1) {
    yield batchFrom(part);
    // A turn of the event loop, as every engine takes one between two batches.
    await new Promise((resolve) => setImmediate(resolve));
  }
  yield { kind: "failed", error: gatewayError("query.cancelled") };
}

/** An answer that comes when the test says so. */
export function gateOf() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const answer = async function* (): ResultStream {
    await opened;
    yield columns;
    yield oneRow;
    yield done;
  };
  return { answer, open };
}
