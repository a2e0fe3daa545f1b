/**
 * What becomes of a statement: an engine runs it, or the frontend answers it. An answer made here is the
 * events that an engine would send, so it takes the same way to the client.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Description, QueryStats, ResultStream } from "@gateway/core/query/event.ts";
import type { RunQuery } from "@gateway/core/run/poll/polled.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Column, Parameter, Value } from "@gateway/core/type/type.ts";

/** Response headers that change the client's session. */
type Headers = readonly (readonly [name: string, value: string])[];

/** What becomes of a statement. `headers` go with its last answer, when it succeeded. */
export type Handling =
  /** The engine runs it. `verbatim`: it is the client's own text, so positions in errors count in it. */
  | {
      readonly kind: "run";
      readonly sql: string;
      readonly parameters: readonly Parameter[];
      readonly verbatim: boolean;
      readonly headers: Headers;
    }
  /** It is answered here. */
  | { readonly kind: "answer"; readonly events: RunQuery; readonly headers: Headers };

const noStats: QueryStats = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 };

/** The engine runs the client's own text. */
export function asItIs(sql: string, headers: Headers = []): Handling {
  return { kind: "run", sql, parameters: [], verbatim: true, headers };
}

/** A statement without a result that changes the client's session by headers. */
export function changed(updateType: string, headers: Headers): Handling {
  const events = async function* done(): ResultStream {
    yield { kind: "done", stats: noStats, updateType };
  };
  return { kind: "answer", events, headers };
}

/** A failure, told like one of an engine. */
export function failure(error: GatewayError): Handling {
  const events = async function* failed(): ResultStream {
    yield { kind: "failed", error };
  };
  return { kind: "answer", events, headers: [] };
}

/** A syntax error: the text begins like a statement about the session and goes on like none. */
export function refused(message: string): Handling {
  return failure(gatewayError("query.syntax", { message }));
}

/** A result made here. */
export function rows(columns: readonly Column[], values: readonly (readonly Value[])[]): Handling {
  return { kind: "answer", events: () => resultOf(columns, values), headers: [] };
}

/** The events of a result made here. */
export async function* resultOf(
  columns: readonly Column[],
  values: readonly (readonly Value[])[],
): ResultStream {
  yield { kind: "columns", columns };
  if (values.length > 0) yield { kind: "batch", batch: batchOf(columns, values) };
  yield { kind: "done", stats: { ...noStats, rows: values.length } };
}

/** How a description is shown. */
export interface DescriptionTable {
  readonly columns: readonly Column[];
  rows(description: Description): readonly (readonly Value[])[];
}

/** The description of a statement as rows. The door describes it when the client asks for the answer. */
export function described(
  sql: string,
  table: DescriptionTable,
  door: Pick<Door, "describe">,
): Handling {
  const events = async function* describing(
    query: Parameters<Door["describe"]>[0],
    signal: AbortSignal,
  ): ResultStream {
    const statement = readStatement(sql, "trino");
    const description = await door.describe({ ...query, sql, statement }, signal);
    if (description.ok) yield* resultOf(table.columns, table.rows(description.value));
    else yield { kind: "failed", error: description.error };
  };
  return { kind: "answer", events, headers: [] };
}

/** A text column. */
export function textColumn(name: string): Column {
  return columnOf(name, { kind: "text" });
}

/** An integer column. */
export function integerColumn(name: string): Column {
  return columnOf(name, { kind: "integer", bits: 32, signed: true });
}
