/** What a client's statement may not do with the service account's rights, and what it leaves behind. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement, type StatementClass } from "@gateway/core/sql/classify/classify.ts";
import { keptBy } from "./kept.ts";

export interface Judged {
  readonly tag: string;
  /** Its columns can be asked for by putting it behind FROM. */
  readonly query: boolean;
  /** Something may be left on the connection, as a user variable: it is not used again. */
  readonly leaves: boolean;
}

/** Kinds of which nothing stays on a connection. */
const cleanKinds: ReadonlySet<StatementClass["kind"]> = new Set([
  "select",
  "show",
  "explain",
  "describe",
  "insert",
  "update",
  "delete",
  "ddl",
]);

/** Words of statements that leave something: read widely, because the price is a new connection. */
const leaving = /@|\btemporary\b|\b(?:get_lock|last_insert_id|sql_calc_found_rows)\b/i;

/**
 * Refuses several statements in one text, `KILL` (the service account owns everybody's queries), whatever
 * changes the user or role behind the gateway's back, and what only a connection of one's own could keep.
 */
export function judge(sql: string): Result<Judged, GatewayError> {
  const { kind, tag, doubt } = classifyStatement(sql, "mysql");
  if (doubt === "severalStatements") {
    const message = "one statement at a time; the text holds several";
    return err(gatewayError("query.unsupported", { message }));
  }
  switch (kind) {
    case "empty":
      return err(gatewayError("query.syntax", { message: "the text holds no statement" }));
    case "execute":
    case "prepare":
    case "deallocate":
    case "kill":
    case "set":
      return err(gatewayError("query.permission", { message: `${tag} may not run here` }));
    default: {
      const kept = keptBy(sql);
      if (kept !== undefined) {
        const message = `${kept} would be gone with the next statement: sessions share connections here`;
        return err(gatewayError("query.unsupported", { message }));
      }
      const leaves = !cleanKinds.has(kind) || leaving.test(sql);
      return ok({ tag, query: kind === "select", leaves });
    }
  }
}
