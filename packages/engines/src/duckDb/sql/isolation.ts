/**
 * DuckDB's transactions have one isolation, a snapshot of their own: no less than any level but SERIALIZABLE, which
 * is refused, because two of them may each change what the other read.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";

const refused = gatewayError("query.unsupported", {
  message:
    "transactions of DuckDB can not be isolated as SERIALIZABLE; REPEATABLE READ is the strictest",
});

/** Why a transaction can not begin as it is asked for, by its own modes or by what its session set before. */
export function beginRefusal({
  session,
  statement: { modes },
}: Pick<Identified, "session" | "statement">): GatewayError | undefined {
  const asked =
    modes.isolation === undefined ? isSerializable(session) : modes.isolation === "serializable";
  return asked ? refused : undefined;
}

/** Why a change can not run: its session asked for more, behind the BEGIN or for all that it does. */
export function changeRefusal(session: Session): GatewayError | undefined {
  return isSerializable(session) ? refused : undefined;
}

/** The one of the transaction, and what stands in its place outside of one. */
const nextOnes = ["transaction_isolation", "default_transaction_isolation"];

/** Only PostgreSQL's clients set it so; frontends of others refuse what they can not pass on. */
function isSerializable({ dialect, settings }: Session): boolean {
  if (dialect !== "postgres") return false;
  const set = nextOnes.map((name) => settings.get(name)).find((value) => value !== undefined);
  return set?.toUpperCase() === "SERIALIZABLE";
}
