/** What a client asked of its transaction, as the BEGIN that PostgreSQL gets. */
import type { Identified, Session } from "@gateway/core/query/query.ts";
import type { Isolation, TransactionModes } from "@gateway/core/sql/session/statement.ts";

const names = {
  readUncommitted: "READ UNCOMMITTED",
  readCommitted: "READ COMMITTED",
  repeatableRead: "REPEATABLE READ",
  serializable: "SERIALIZABLE",
} as const satisfies Record<Isolation, string>;

const levels = Object.keys(names) as readonly Isolation[];

/** What the server was told of a transaction; undefined where it decides. */
export type Told = Pick<TransactionModes, "isolation" | "readOnly" | "deferrable">;

/** How a transaction begins. */
export interface Opening {
  readonly sql: string;
  readonly told: Told;
}

/** The beginning that a client's BEGIN asks for: by its own modes, then by what its session set before. */
export function openingOf({
  session,
  statement: { modes },
}: Pick<Identified, "session" | "statement">): Opening {
  const snapshot = modes.consistentSnapshot ? "repeatableRead" : undefined;
  const { readOnly, deferrable } = modes;
  const told = {
    isolation: modes.isolation ?? isolationOf(session) ?? snapshot,
    readOnly,
    deferrable,
  };
  const words = wordsOf(told);
  const begin = words.length === 0 ? "BEGIN" : `BEGIN ${words.join(", ")}`;
  // A snapshot that is to be there from the start is taken by the first query.
  return { sql: modes.consistentSnapshot ? `${begin}; SELECT 1` : begin, told };
}

/** What `SET TRANSACTION` behind the BEGIN still asks for, given what the server was told. */
export function changedModes(
  session: Session,
  { isolation, readOnly, deferrable }: Told,
): Opening | undefined {
  const wanted: Told = {
    isolation: isolationOf(session) ?? isolation,
    readOnly: switchOf(session, "transaction_read_only") ?? readOnly,
    deferrable: switchOf(session, "transaction_deferrable") ?? deferrable,
  };
  const words = wordsOf({
    isolation: wanted.isolation === isolation ? undefined : wanted.isolation,
    readOnly: wanted.readOnly === readOnly ? undefined : wanted.readOnly,
    deferrable: wanted.deferrable === deferrable ? undefined : wanted.deferrable,
  });
  if (words.length === 0) return undefined;
  return { sql: `SET TRANSACTION ${words.join(", ")}`, told: wanted };
}

function wordsOf({ isolation, readOnly, deferrable }: Told): readonly string[] {
  return [
    ...(isolation === undefined ? [] : [`ISOLATION LEVEL ${names[isolation]}`]),
    ...(readOnly === undefined ? [] : [readOnly ? "READ ONLY" : "READ WRITE"]),
    ...(deferrable === undefined ? [] : [deferrable ? "DEFERRABLE" : "NOT DEFERRABLE"]),
  ];
}

/** `on` or `off`, as PostgreSQL's clients set it. */
function switchOf({ dialect, settings }: Session, name: string): boolean | undefined {
  const value = dialect === "postgres" ? settings.get(name) : undefined;
  return value === undefined ? undefined : value === "on";
}

/** Only PostgreSQL's clients set it so. */
function isolationOf({ dialect, settings }: Session): Isolation | undefined {
  const value =
    dialect === "postgres" ? settings.get("transaction_isolation")?.toUpperCase() : undefined;
  return levels.find((level) => names[level] === value);
}
