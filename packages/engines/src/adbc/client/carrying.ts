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
import type { ConnectionStep, StatementRequest } from "../../native/message.ts";
import {
  carriedOf,
  isDoubtful,
  typesSql,
  wrapped,
  type Carried,
  type Wrapping,
} from "../sql/carried.ts";
import type { Written } from "../sql/written.ts";
import { rowsOf } from "./rows.ts";
import type { EngineStatement, RunContext } from "./run.ts";

/** A statement as it runs, and what its columns then are; undefined where the driver describes none. */
export interface Carrying {
  readonly written: Written;
  readonly carried: Carried | undefined;
  /** Steps that the connection still has to take. */
  readonly before: readonly ConnectionStep[];
  /** Nobody asked for the columns: they were like this the last time. */
  readonly remembered: boolean;
}

/** The query in its wrapping, or as it is where it needs none. A change is described each time, because it can not be run again. */
export async function carrying(
  context: RunContext,
  request: StatementRequest,
  { written, judged }: EngineStatement,
  signal: AbortSignal,
): Promise<Result<Carrying, AdbcFailure>> {
  const { known, taken } = context;
  const { sql, prefix, parameters } = written;
  const given = parameters.map(({ type }) => type);
  const key = judged.writes ? "" : JSON.stringify([taken.standsAt(), sql.slice(prefix), given]);
  const before = judged.writes ? undefined : known.carried.get(key);
  if (before !== undefined) {
    const whole = inWrapping(written, before, "remembered");
    return ok({ written: whole, carried: before, before: request.before, remembered: true });
  }
  const { era } = known;
  const described = { kind: "describe", statement: request, columnsOnly: true } as const;
  const answer = await taken.thread.ask(described, signal);
  if (!answer.ok) return answer;
  if (answer.value.kind !== "described") throw new Error("columns answered by something else");
  const { schema } = answer.value.described;
  const taking = { before: [], remembered: false } as const;
  if (schema === undefined) return ok({ ...taking, written, carried: undefined });
  const columns = readSchemaMessage(schema);
  const found = await carriedColumns(context, columns, { written, judged }, signal);
  if (!found.ok) return found;
  if (!judged.writes) known.put(known.carried, key, found.value, era);
  const whole = inWrapping(written, found.value, judged.writes ? "changes" : "asked");
  return ok({ ...taking, written: whole, carried: found.value });
}

function inWrapping(written: Written, carried: Carried, how: Wrapping): Written {
  const { sql, prefix } = written;
  const whole = wrapped(sql.slice(prefix), carried, how);
  if (whole === undefined) return written;
  return { ...written, sql: sql.slice(0, prefix) + whole.sql, prefix: prefix + whole.at };
}

/** Whether PostgreSQL says that the columns of a wrapped query are others than was remembered. */
export function hasChanged(answer: Result<unknown, AdbcFailure>): boolean {
  if (answer.ok) return false;
  const { code, sqlState = "" } = answer.error;
  return code === "driver" && ["42P10", "42601", "42804"].includes(sqlState);
}

/** How each of a query's columns is asked for. Where the driver's word is in doubt, the server is asked for its types. */
export async function carriedColumns(
  context: RunContext,
  columns: readonly Column[],
  { written, judged }: Pick<EngineStatement, "written" | "judged">,
  signal: AbortSignal,
): Promise<Result<Carried, AdbcFailure>> {
  if (judged.writes || !columns.some(isDoubtful)) return ok(carriedOf(columns));
  const { known, taken } = context;
  const { era } = known;
  const { sql, prefix, parameters, original } = written;
  const given = parameters.map(({ type }) => type);
  const key = JSON.stringify([taken.standsAt(), original, given, columns]);
  const remembered = known.columns.get(key);
  if (remembered !== undefined) return ok(carriedOf(columns, remembered));
  const asked = typesSql(sql.slice(prefix), columns.length);
  const rows = await rowsOf(context, { sql: asked, expected: undefined, parameters }, signal);
  if (!rows.ok) return rows;
  const types = rows.value[0]?.map(Number) ?? [];
  const based = await baseTypes(context, types, signal);
  if (!based.ok) return based;
  known.put(known.columns, key, based.value, era);
  return ok(carriedOf(columns, based.value));
}

/** The types with those that somebody made over another one in place of that. */
async function baseTypes(
  context: RunContext,
  types: readonly number[],
  signal: AbortSignal,
): Promise<Result<readonly number[], AdbcFailure>> {
  const made = types.filter((type) => type >= firstMadeType);
  if (made.length === 0) return ok(types);
  const sql = `WITH RECURSIVE b(t, o) AS (SELECT oid, oid FROM pg_catalog.pg_type WHERE oid IN (${made.join(", ")})
UNION ALL SELECT b.t, p.typbasetype FROM b JOIN pg_catalog.pg_type p ON p.oid = b.o WHERE p.typtype = 'd')
SELECT b.t::int8, b.o::int8 FROM b JOIN pg_catalog.pg_type p ON p.oid = b.o WHERE p.typtype <> 'd'`;
  const rows = await rowsOf(context, { sql, expected: undefined }, signal);
  if (!rows.ok) return rows;
  const bases = new Map(rows.value.map(([type, base]) => [Number(type), Number(base)]));
  return ok(types.map((type) => bases.get(type) ?? type));
}

/** The number of the first type that is not PostgreSQL's own. */
const firstMadeType = 10_000;

/** The columns of a wrapped query under their own names; an error where a table was changed meanwhile. */
export function unwrapped(
  { columns, askings }: Carried,
  answered: readonly Column[],
): Result<readonly Column[], GatewayError> {
  const now = carriedOf(answered).askings;
  const isOther = now.some((asking, index) => askings[index] === "plain" && asking !== "plain");
  if (isOther || columns.length !== answered.length) {
    return err(columnsChanged());
  }
  return ok(answered.map((column, index) => named(column, columns[index])));
}

/** As the server itself refuses what was prepared before. */
export function columnsChanged(): GatewayError {
  return gatewayError("query.unsupported", { message: "the columns changed before the query ran" });
}

function named(column: Column, own: Column | undefined): Column {
  if (own === undefined) return column;
  const { engineType, name, numeric } = own;
  return {
    ...column,
    name,
    ...(engineType === undefined ? {} : { engineType }),
    ...(numeric === undefined ? {} : { numeric }),
  };
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
