/** Types of parameters and columns without running: the statement travels as a prepared one and is described by name. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement } from "@gateway/core/sql/classify/classify.ts";
import type { StatementKind } from "@gateway/core/sql/classify/statementKind.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import { formEncode, requestHeader } from "@gateway/wire/trino/headers.ts";
import { askOwn, textOf } from "./client/own.ts";
import type { RunContext } from "./client/run.ts";
import { withHeader, type RequestHead } from "./client/session.ts";
import { placedStatement, type Placed, type Sent } from "./sql/statement.ts";
import { typeOfName } from "./types.ts";

const name = "described";
/** Rows of a description: columns of a table, or places of a statement. */
const rowsMax = 100_000;
/** A statement travels in a header, and servers limit those. */
const encodedMax = 48 * 1024;

/** Statements that answer with rows, or may. */
const answering: ReadonlySet<StatementKind> = new Set([
  "select",
  "show",
  "explain",
  "describe",
  "call",
  "execute",
  "unknown",
]);
/** Statements about the session have neither parameters nor columns. */
const aboutSession: ReadonlySet<StatementKind> = new Set([
  "use",
  "set",
  "reset",
  "begin",
  "commit",
  "rollback",
]);

/** Describes it under the headers of its query and as its user. */
export async function describeStatement(
  context: RunContext,
  text: string,
  { headers, tags, caller }: RequestHead,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  const { kind } = classifyStatement(text, "trino");
  if (aboutSession.has(kind)) return ok({ parameters: [], columns: [] });
  const placed = placedStatement(text);
  if (!placed.ok) return placed;
  const encoded = formEncode(placed.value.sql);
  if (encoded.length > encodedMax) {
    const message = "a statement of this length can not be described before it runs";
    return err(gatewayError("query.unsupported", { message }));
  }
  const prepared = withHeader(headers, requestHeader.preparedStatement, `${name}=${encoded}`);
  const ask = (sql: string) =>
    askOwn(context, { sql, headers: prepared, tags, caller, rowsMax }, signal);
  const input = await ask(`DESCRIBE INPUT ${name}`);
  if (!input.ok)
    return err(
      await refusal(context, { placed: placed.value, headers, tags, caller }, input.error, signal),
    );
  const parameters = parametersOf(input.value.rows, placed.value);
  if (!answering.has(kind)) return ok({ parameters, columns: [] });
  const output = await ask(`DESCRIBE OUTPUT ${name}`);
  if (!output.ok) return err(placedError(output.error, placed.value));
  return ok({ parameters, columns: output.value.rows.map(columnOf) });
}

/** Rows of `Position` and `Type`; Trino writes one of NULLs for a statement without places. */
function parametersOf(
  rows: readonly (readonly Value[])[],
  { order, count }: Placed,
): readonly DataType[] {
  const types = Array.from({ length: count }, (): DataType => ({ kind: "null" }));
  for (const [position, type] of rows) {
    const index = order[Number(position ?? -1)];
    const found = typeOfName(textOf(type));
    if (index !== undefined && types[index - 1]?.kind === "null") types[index - 1] = found;
  }
  return types;
}

/** `Column Name`, `Catalog`, `Schema`, `Table`, `Type`. */
function columnOf(row: readonly Value[]): Column {
  const engineType = textOf(row[4]);
  return { name: textOf(row[0]), type: typeOfName(engineType), nullable: true, engineType };
}

/** Before the statement, so that its columns count from 1 in every line. */
const prepare = `PREPARE ${name} FROM\n`;

/** Trino refuses a header with a broken statement as a whole, so the statement itself is asked for its error. */
async function refusal(
  context: RunContext,
  { placed, headers, tags, caller }: RequestHead & { readonly placed: Placed & Sent },
  error: GatewayError,
  signal: AbortSignal,
): Promise<GatewayError> {
  if (error.code !== "query.invalid") return placedError(error, placed);
  const sql = prepare + placed.sql;
  const answer = await askOwn(context, { sql, headers, tags, caller, rowsMax }, signal);
  if (answer.ok) return placedError(error, placed);
  const { position } = answer.error;
  if (position === undefined || position <= prepare.length) return answer.error;
  return placedError({ ...answer.error, position: position - prepare.length }, placed);
}

/** Positions count in the statement that was prepared, which is the client's only without places. */
function placedError({ position, ...error }: GatewayError, placed: Placed & Sent): GatewayError {
  if (position === undefined || placed.count > 0 || placed.offset === undefined) return error;
  return { ...error, position: position + placed.offset };
}
