/** Small answers read whole: what the gateway itself asks an engine. */
import { ok, type Result } from "@gateway/core/result.ts";
import type { Parameter, Value } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { AdbcFailure } from "../../native/driver.ts";
import type { ConnectionStep, StatementRequest } from "../../native/message.ts";
import type { Taken } from "./connections.ts";

/** Every row of a small answer as values: the engine's own catalog. */
export async function rowsOf(
  { taken }: { readonly taken: Taken },
  request: Pick<StatementRequest, "sql" | "expected" | "options"> & {
    readonly before?: readonly ConnectionStep[];
    readonly parameters?: readonly Parameter[];
  },
  signal: AbortSignal,
): Promise<Result<readonly (readonly Value[])[], AdbcFailure>> {
  const rows: (readonly Value[])[] = [];
  const { thread, database } = taken;
  const stream = thread.execute({ before: [], parameters: [], ...request, database }, signal);
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return step.value.ok ? ok(rows) : step.value;
    if (step.value.kind !== "batch") continue;
    const { batch } = step.value;
    for (let row = 0; row < batch.rows; row += 1) {
      rows.push(batch.columns.map((column) => valueAt(column, row)));
    }
  }
}
