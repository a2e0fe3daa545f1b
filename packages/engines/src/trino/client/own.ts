/** Statements of the gateway's own, for catalogs, descriptions and health: small answers, read to their end. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Value } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { StatementClient } from "./statementClient.ts";
import { errorOf, readFailure } from "../errors.ts";
import type { HeaderList, HttpHeaders } from "./http.ts";
import type { Caller } from "../identity.ts";
import { RowReader } from "../page/rows.ts";
import { columnsOf } from "../page/columns.ts";
import type { RunContext } from "./run.ts";
import { valueOfSpan } from "@gateway/wire/trino/clientPage.ts";

/** What a statement of ours came to. */
export interface OwnResult {
  readonly id: string;
  readonly rows: readonly (readonly Value[])[];
  /** Headers of all answers, the later ones over the earlier. */
  readonly headers: HttpHeaders;
}

/** A statement of ours; `rowsMax` rows at most, more are an error. */
export interface OwnStatement {
  readonly sql: string;
  readonly headers: HeaderList;
  readonly tags: string | undefined;
  readonly caller: Caller;
  readonly rowsMax: number;
}

/** Runs it to its end. Never rejects. */
export async function askOwn(
  context: RunContext,
  statement: OwnStatement,
  signal: AbortSignal,
): Promise<Result<OwnResult, GatewayError>> {
  if (signal.aborted) return err(gatewayError("query.cancelled"));
  const statementClient = new StatementClient(context.http, context.host, statement, signal);
  try {
    return await readAll(statementClient, statement);
  } finally {
    await statementClient.end();
  }
}

async function readAll(
  statementClient: StatementClient,
  { sql, caller, rowsMax }: OwnStatement,
): Promise<Result<OwnResult, GatewayError>> {
  const rows: (readonly Value[])[] = [];
  let headers: HttpHeaders = {};
  let reader: RowReader | undefined;
  for (;;) {
    await statementClient.heard();
    const answer = statementClient.take();
    if (answer === undefined) return ok({ id: statementClient.id ?? "", rows, headers });
    if (!answer.ok) return answer;
    const { page, bytes } = answer.value;
    headers = { ...headers, ...answer.value.headers };
    if (page.error !== undefined) {
      return err(errorOf(readFailure(valueOfSpan(bytes, page.error)), sql, caller));
    }
    reader ??= new RowReader(columnsOf(page, bytes) ?? [], false);
    if (page.columns !== undefined && rows.length === 0) {
      reader = new RowReader(columnsOf(page, bytes) ?? [], false);
    }
    if (page.data === undefined) continue;
    const batch = reader.read(bytes, page.data);
    if (!batch.ok) return batch;
    const { columns, rows: count } = columnarOf(batch.value);
    if (rows.length + count > rowsMax) return err(gatewayError("engine.resources"));
    for (let row = 0; row < count; row += 1) {
      rows.push(columns.map((column) => valueAt(column, row)));
    }
  }
}

/** A cell of text; NULL is empty. */
export function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}
