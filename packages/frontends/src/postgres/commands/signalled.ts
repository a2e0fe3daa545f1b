/** The answer to `pg_cancel_backend` and `pg_terminate_backend` where the connection is one of the gateway's. */
import type { ResultStream } from "@gateway/core/query/event.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";

/** How the one column is called. */
interface Labelled {
  readonly label: string;
}

/** The server's row of a signal that was sent. */
export async function* signalled({ label }: Labelled): ResultStream {
  const columns = [columnOf(label, { kind: "boolean" })];
  yield { kind: "columns", columns };
  yield { kind: "batch", batch: batchOf(columns, [[true]]) };
  yield { kind: "done", stats: noStats };
}

/** The same once another process has sent it; the server's own answer where that knows no such connection. */
export async function* answeredIf(
  sent: Promise<boolean>,
  signal: Labelled,
  otherwise: () => ResultStream,
): ResultStream {
  yield* (await sent) ? signalled(signal) : otherwise();
}

const noStats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };
