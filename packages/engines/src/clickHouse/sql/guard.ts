/** What a client's statement may not do with the service account's rights, and what it is. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement, type StatementClass } from "@gateway/core/sql/classify/classify.ts";
import { asciiUpper, openSql, tokenText } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import type { Caller } from "../identity.ts";

/** Kinds that answer rows. Everything else is run to its end before it is answered. */
const readingKinds: ReadonlySet<StatementClass["kind"]> = new Set([
  "select",
  "show",
  "explain",
  "describe",
]);

export interface Judged {
  readonly reads: boolean;
  /** Whether `DESCRIBE (…)` can tell its columns. */
  readonly describable: boolean;
  readonly tag: string;
}

/**
 * Refuses several statements in one text, `EXECUTE AS` and `SET ROLE` (they would change the user behind
 * the gateway's back), `KILL` (the service account owns everybody's queries), and statements of a
 * session, which a request over HTTP does not have. As a user also what `EXECUTE AS` does not take.
 */
export function judge(sql: string, caller: Caller): Result<Judged, GatewayError> {
  const { kind, tag, doubt } = classifyStatement(sql, "clickhouse");
  if (doubt === "severalStatements") {
    const message = "one statement at a time; the text holds several";
    return err(gatewayError("query.unsupported", { message }));
  }
  switch (kind) {
    case "empty":
      return err(gatewayError("query.syntax", { message: "the text holds no statement" }));
    case "execute":
    case "kill":
      return err(gatewayError("query.permission", { message: `${tag} may not run here` }));
    case "set":
      return err(
        gatewayError("query.unsupported", {
          message: "settings stand in the query itself: SELECT … SETTINGS name = value",
        }),
      );
    case "insert":
      if (caller.kind === "user" && holdsRows(sql)) {
        const message =
          "rows in the text can not be inserted as a user: ClickHouse takes INSERT … SELECT behind EXECUTE AS";
        return err(gatewayError("query.unsupported", { message }));
      }
      return ok({ reads: false, describable: false, tag });
    default:
      return ok({ reads: readingKinds.has(kind), describable: kind === "select", tag });
  }
}

/** Whether an `INSERT` brings its rows with it, as text behind `VALUES` or `FORMAT`, or has none at all. */
function holdsRows(sql: string): boolean {
  const cursor = openSql(sql, "clickhouse");
  let depth = 0;
  let before = "";
  while (nextSignificant(cursor)) {
    if (cursor.kind === "open") depth += 1;
    if (cursor.kind === "close") depth -= 1;
    const word = asciiUpper(tokenText(cursor));
    const isName = before === "." || before === "INTO" || before === "TABLE";
    if (cursor.kind === "word" && !isName) {
      if (word === "SELECT") return false;
      if (depth === 0 && (word === "VALUES" || word === "FORMAT")) return true;
    }
    before = word;
  }
  return true;
}
