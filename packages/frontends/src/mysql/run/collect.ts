/** Reads a short result whole, as rows of text, for an answer that the frontend makes of it. The client's own rows never come here. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import type { Responder } from "./responder.ts";
import type { Row } from "../commands/filter.ts";
import type { EngineStatement } from "./statement.ts";

/** A listing of a table's columns or keys is never longer. */
const rowsMax = 10_000;

/** All rows, or the error; `query.tooManyRows` beyond the limit. `otherwise` is asked where the engine does not know a name. */
export async function collect(
  responder: Responder,
  { sql, parameters, attributes }: Pick<EngineStatement, "sql" | "parameters" | "attributes">,
  otherwise?: string,
): Promise<Result<readonly Row[], GatewayError>> {
  const collected = await collectFrom(responder, { sql, parameters, attributes });
  if (collected.ok || otherwise === undefined || collected.error.code !== "query.unknownObject")
    return collected;
  return await collectFrom(responder, { sql: otherwise, parameters, attributes });
}

async function collectFrom(
  responder: Responder,
  { sql, parameters, attributes }: Pick<EngineStatement, "sql" | "parameters" | "attributes">,
): Promise<Result<readonly Row[], GatewayError>> {
  const rows: Row[] = [];
  for await (const event of responder.events(responder.open({ sql, parameters, attributes }))) {
    responder.remember(event);
    if (event.kind === "failed") return err(event.error);
    if (event.kind !== "batch") continue;
    if (rows.length + event.batch.rows > rowsMax) return err(gatewayError("query.tooManyRows"));
    rows.push(...textsOf(event.batch));
  }
  return ok(rows);
}

function textsOf(batch: Batch): readonly Row[] {
  const { rows, columns } = columnarOf(batch);
  return Array.from({ length: rows }, (_, row) =>
    columns.map((vector) => {
      const value = valueAt(vector, row);
      return value === null || typeof value === "object" ? null : String(value);
    }),
  );
}
