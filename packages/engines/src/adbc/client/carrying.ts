/**
 * Asks for a query's columns before it runs, and for those that the driver does not carry in another way
 * (sql/carried.ts). What only shows in the rows is found there.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { isNull, type ColumnarBatch, type Vector } from "@gateway/core/type/vector.ts";
import type { AdbcFailure } from "../../native/driver.ts";
import { readSchemaMessage } from "../../native/arrow/ipc.ts";
import type { StatementRequest } from "../../native/message.ts";
import type { Judged } from "../sql/guard.ts";
import { carriedOf, wrappingOf, type Carried } from "../sql/carried.ts";
import type { Written } from "../sql/written.ts";
import type { Taken } from "./connections.ts";

/** A statement as it runs, and what its columns then are; undefined where nobody asked. */
export interface Carrying {
  readonly written: Written;
  readonly carried: Carried | undefined;
}

/** The query in its wrapping, or as it is where it needs none. The steps before `request` have been taken then. */
export async function carrying(
  { thread }: Pick<Taken, "thread">,
  request: StatementRequest,
  { written, judged }: { readonly written: Written; readonly judged: Judged },
  signal: AbortSignal,
): Promise<Result<Carrying, AdbcFailure>> {
  const described = { kind: "describe", statement: request, columnsOnly: true } as const;
  const answer = await thread.ask(described, signal);
  if (!answer.ok) return answer;
  if (answer.value.kind !== "described") throw new Error("columns answered by something else");
  const { schema } = answer.value.described;
  const carried = schema === undefined ? undefined : carriedOf(readSchemaMessage(schema));
  if (carried === undefined || !isWrapped(carried, judged))
    return ok({ written, carried: undefined });
  const { before, behind } = wrappingOf(carried, judged.writes);
  const { sql, prefix } = written;
  const text = `${sql.slice(0, prefix)}${before}${sql.slice(prefix)}${behind}`;
  return ok({ written: { ...written, sql: text, prefix: prefix + before.length }, carried });
}

/** A query with a change in its WITH can not be wrapped; that is said where it had to be. */
function isWrapped({ wrapping }: Carried, { writes, updateType }: Judged): boolean {
  if (wrapping === "should") return !(writes && updateType === undefined);
  return wrapping === "must";
}

/** The columns of a wrapped query under their own names; an error where a table was changed meanwhile. */
export function unwrapped(
  { columns, askings }: Carried,
  answered: readonly Column[],
): Result<readonly Column[], GatewayError> {
  const now = carriedOf(answered).askings;
  const isOther = now.some((asking, index) => askings[index] === "plain" && asking !== "plain");
  if (isOther || columns.length !== answered.length) {
    const message = "the columns changed before the query ran";
    return err(gatewayError("query.unsupported", { message }));
  }
  return ok(answered.map((column, index) => named(column, columns[index])));
}

function named(column: Column, own: Column | undefined): Column {
  if (own === undefined) return column;
  const { engineType, name } = own;
  return engineType === undefined ? { ...column, name } : { ...column, name, engineType };
}

/**
 * The error of a date or timestamp that is infinite or later than its count can say: the driver lets both
 * run over to before the first day that PostgreSQL knows.
 */
export function unboundedIn(
  { columns, rows }: ColumnarBatch,
  names: readonly string[],
): GatewayError | undefined {
  const at = columns.findIndex((column) => isUnbounded(column, rows));
  if (at < 0) return undefined;
  const message = `a value of "${names[at] ?? ""}" is infinite or too late to be carried; cast it to text`;
  return gatewayError("query.data", { sqlState: "22008", message });
}

function isUnbounded(vector: Vector, rows: number): boolean {
  const { type, offset, values } = vector;
  if (type.kind === "list") {
    const [items] = vector.children;
    return items !== undefined && isUnbounded(items, items.length);
  }
  if (type.kind !== "date" && type.kind !== "timestamp") return false;
  const width = type.kind === "date" ? 4 : 8;
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const least = type.kind === "date" ? firstDay : firstMicroHigh;
  // The upper half of a timestamp says enough, and needs no big number.
  for (let at = (offset + 1) * width - 4, row = 0; row < rows; at += width, row += 1) {
    if (view.getInt32(at, true) < least && !isNull(vector, row)) return true;
  }
  return false;
}

/** 4714-11-24 BC, counted from 1970, less one for rounding. */
const firstDay = -2_440_589;
const firstMicroHigh = Math.floor((firstDay * 86_400_000_000) / 2 ** 32);
