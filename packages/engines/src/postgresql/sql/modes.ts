/** What a client asked of its transaction, as the BEGIN that PostgreSQL gets. */
import type { Identified, Session } from "@gateway/core/query/query.ts";
import type { Isolation } from "@gateway/core/sql/session/statement.ts";

const names = {
  readUncommitted: "READ UNCOMMITTED",
  readCommitted: "READ COMMITTED",
  repeatableRead: "REPEATABLE READ",
  serializable: "SERIALIZABLE",
} as const satisfies Record<Isolation, string>;

const levels = Object.keys(names) as readonly Isolation[];

/** How a transaction begins. */
export interface Opening {
  readonly sql: string;
  /** As the client was promised; undefined: whatever the server does by itself. */
  readonly isolation: Isolation | undefined;
}

/** The beginning that a client's BEGIN asks for: by its own modes, then by what its session set before. */
export function openingOf({
  session,
  statement: { modes },
}: Pick<Identified, "session" | "statement">): Opening {
  const snapshot = modes.consistentSnapshot ? "repeatableRead" : undefined;
  const isolation = modes.isolation ?? settingOf(session) ?? snapshot;
  const words = [
    ...(isolation === undefined ? [] : [`ISOLATION LEVEL ${names[isolation]}`]),
    ...(modes.readOnly === undefined ? [] : [modes.readOnly ? "READ ONLY" : "READ WRITE"]),
    ...(modes.deferrable === undefined ? [] : [modes.deferrable ? "DEFERRABLE" : "NOT DEFERRABLE"]),
  ];
  const begin = words.length === 0 ? "BEGIN" : `BEGIN ${words.join(", ")}`;
  // A snapshot that is to be there from the start is taken by the first query.
  return { sql: modes.consistentSnapshot ? `${begin}; SELECT 1` : begin, isolation };
}

/** What `SET TRANSACTION` behind the BEGIN still asks for, given what the transaction has. */
export function changedIsolation(
  session: Session,
  has: Isolation | undefined,
): { readonly isolation: Isolation; readonly sql: string } | undefined {
  const isolation = settingOf(session);
  if (isolation === undefined || isolation === has) return undefined;
  return { isolation, sql: `SET TRANSACTION ISOLATION LEVEL ${names[isolation]}` };
}

/** Only PostgreSQL's clients set it so. */
function settingOf({ dialect, settings }: Session): Isolation | undefined {
  const value =
    dialect === "postgres" ? settings.get("transaction_isolation")?.toUpperCase() : undefined;
  return levels.find((level) => names[level] === value);
}
