/** What a client's statement may not do with the service account's rights, and what it is. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement, type StatementClass } from "@gateway/core/sql/classify.ts";

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
 * session, which a request over HTTP does not have.
 */
export function judge(sql: string): Result<Judged, GatewayError> {
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
    default:
      return ok({ reads: readingKinds.has(kind), describable: kind === "select", tag });
  }
}
