/** `SET name = value, …`: settings that a session keeps for its later statements. Without one they end with the request, as in ClickHouse. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Statement } from "@gateway/core/sql/statement.ts";
import { isSetting } from "../read/fields.ts";

/** The settings of a `SET`. Refuses roles, expressions, and whatever is not understood to its end. */
export function settingsIn({
  session,
}: Pick<Statement, "session">): Result<readonly (readonly [string, string])[], GatewayError> {
  if (session?.kind !== "set") return refused();
  const found: (readonly [string, string])[] = [];
  for (const change of session.changes) {
    const value = change.kind === "variable" ? change.values[0] : undefined;
    if (change.kind !== "variable" || change.values.length !== 1 || value === undefined) {
      return refused();
    }
    if (value.kind !== "text" && value.kind !== "number" && value.kind !== "word") return refused();
    if (!isSetting(change.name, value.text)) return refused();
    found.push([change.name, value.text]);
  }
  return ok(found);
}

function refused(): Result<never, GatewayError> {
  const message = "SET takes settings of a session with plain values, nothing else";
  return err(gatewayError("query.unsupported", { message }));
}
