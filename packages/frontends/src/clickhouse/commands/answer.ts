/** Small answers that the gateway gives by itself. */
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { ResultStream } from "@gateway/core/query/event.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";

export interface LocalAnswer {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Value[])[];
}

/** A column of text without NULLs. */
export function textColumn(name: string): Column {
  return columnOf(name, { kind: "text" }, false);
}

/** The events of such an answer. */
export async function* eventsOf({ columns, rows }: LocalAnswer): ResultStream {
  yield { kind: "columns", columns };
  if (rows.length > 0) yield { kind: "batch", batch: batchOf(columns, rows) };
  yield { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: rows.length, bytes: 0 } };
}

/** The events of a statement without a result. */
export async function* eventsOfNothing(updateType: string): ResultStream {
  yield {
    kind: "done",
    stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 },
    updateType,
  };
}
