/** Array binds: one INSERT with many rows of values in the place of one that is run for each. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { placeholdersMax } from "@gateway/core/sql/rewrite/placeholders.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { Executions } from "../value/bindings.ts";

/** One text with its parameters, written as `$1`, `$2`, …. */
export interface Bulk {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** `INSERT … VALUES (…)` with one row of placeholders and no text or name in quotes among them. */
const insertForm =
  /^(\s*insert\s+(?:overwrite\s+)?into\s[\s\S]*?\bvalues\s*)\(((?:[^'"()]|\([^'"()]*\))*)\)\s*;?\s*$/i;
/** Rows of one statement, so that no engine gets a text without measure. */
const rowsMax = 1_000;

/** The statements that insert all bound rows. Refuses what is no plain INSERT of one row. */
export function bulkOf(sql: string, executions: Executions): Result<readonly Bulk[], GatewayError> {
  const found = insertForm.exec(sql);
  const [, head = "", row = ""] = found ?? [];
  const width = row.split("?").length - 1;
  const bound = executions[0]?.length ?? 0;
  if (found === null || width === 0 || width !== bound || head.includes("?"))
    return err(onlyInsert);
  const perStatement = Math.max(1, Math.min(rowsMax, Math.floor(placeholdersMax / width)));
  const bulks: Bulk[] = [];
  for (let from = 0; from < executions.length; from += perStatement) {
    const rows = executions.slice(from, from + perStatement);
    let number = 0;
    const tuple = (): string => `(${row.replaceAll("?", () => `$${(number += 1)}`)})`;
    bulks.push({ sql: head + rows.map(tuple).join(", "), parameters: rows.flat() });
  }
  return ok(bulks);
}

const onlyInsert = gatewayError("query.unsupported", {
  message: "Arrays can be bound to INSERT INTO … VALUES with one row of placeholders only.",
});
