/** `KILL QUERY WHERE query_id = '…'`: ends a statement of the same user, by the id that its client gave or got. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { decodeString } from "@gateway/core/sql/lex/literal.ts";
import { textColumn, type LocalAnswer } from "./answer.ts";

export interface Kill {
  readonly queryId: string;
  /** `sync` waits for the end, `test` only looks. */
  readonly mode: "sync" | "async" | "test";
}

const form =
  /^\s*KILL\s+QUERY\s+WHERE\s+query_id\s*=\s*('(?:[^'\\]|\\.|'')*')\s*(SYNC|ASYNC|TEST)?\s*;?\s*$/i;

/** Reads it; `query.unsupported` for every other `KILL`: conditions would have to see what others run. */
export function killOf(sql: string): Result<Kill, GatewayError> {
  const found = form.exec(sql);
  const queryId = decodeString(found?.[1] ?? "", "clickhouse");
  if (queryId === undefined) {
    const message = "only KILL QUERY WHERE query_id = '…' is known here, for a query of one's own";
    return err(gatewayError("query.unsupported", { message }));
  }
  const mode = (found?.[2] ?? "ASYNC").toLowerCase();
  return ok({ queryId, mode: mode === "sync" || mode === "test" ? mode : "async" });
}

/** What it answers: one row, or none where there is no such query. */
export function killAnswer(
  { queryId, mode }: Kill,
  user: string,
  killed: { readonly sql: string } | undefined,
): LocalAnswer {
  const status = mode === "sync" ? "finished" : "waiting";
  return {
    columns: ["kill_status", "query_id", "user", "query"].map(textColumn),
    rows: killed === undefined ? [] : [[status, queryId, user, killed.sql]],
  };
}
