/** What a client asked of its transaction, as statements for the engine; refused where the engine has less. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Isolation } from "@gateway/core/sql/session/statement.ts";
import type { Profile } from "../profile.ts";

/** How a transaction begins. */
export interface Opening {
  /** Where no option of the driver begins it. */
  readonly begin: string;
  /** What follows at once. */
  readonly first: readonly string[];
  /** As the client was promised; undefined: whatever the engine does by itself. */
  readonly isolation: Isolation | undefined;
}

/** The beginning that a client's BEGIN asks for: by its own modes, then by what its session set before. */
export function openingOf(
  profile: Profile,
  { session, statement: { modes } }: Pick<Identified, "session" | "statement">,
): Result<Opening, GatewayError> {
  const { readOnly } = profile;
  if (modes.readOnly === true && readOnly === undefined) {
    return unsupported(`${profile.label} has no read-only transactions`);
  }
  // A snapshot that is to be there from the start needs an engine that is told so.
  if (modes.consistentSnapshot && profile.isolation !== "settable") {
    return unsupported(`${profile.label} takes no snapshot when a transaction begins`);
  }
  const snapshot = modes.consistentSnapshot ? "repeatableRead" : undefined;
  const isolation = modes.isolation ?? settingOf(session) ?? snapshot;
  const set = isolationStatement(profile, isolation);
  if (!set.ok) return set;
  const asked = modes.readOnly === true ? readOnly : undefined;
  const first = [
    ...set.value,
    ...(asked !== undefined && "first" in asked ? [asked.first] : []),
    ...(modes.deferrable === true && set.value.length > 0 ? ["SET TRANSACTION DEFERRABLE"] : []),
    ...(modes.consistentSnapshot ? ["SELECT 1"] : []),
  ];
  const begin = asked !== undefined && "begin" in asked ? asked.begin : "BEGIN";
  return ok({ begin, first, isolation });
}

/** What `SET TRANSACTION` behind the BEGIN still asks for, given what the transaction has. */
export function changedIsolation(
  profile: Profile,
  session: Session,
  has: Isolation | undefined,
): Result<
  { readonly isolation: Isolation; readonly statements: readonly string[] } | undefined,
  GatewayError
> {
  const isolation = levelOf(session, "transaction_isolation");
  if (isolation === undefined || isolation === has) return ok(undefined);
  const set = isolationStatement(profile, isolation);
  return set.ok ? ok({ isolation, statements: set.value }) : set;
}

function isolationStatement(
  { isolation: has, label }: Profile,
  asked: Isolation | undefined,
): Result<readonly string[], GatewayError> {
  if (asked === undefined) return ok([]);
  if (has === "settable") return ok([`SET TRANSACTION ISOLATION LEVEL ${names[asked]}`]);
  if (strictness.indexOf(asked) <= strictness.indexOf(has)) return ok([]);
  return unsupported(`transactions of ${label} can not be isolated as ${names[asked]}`);
}

/** What the session shows its client as the isolation of the next transaction. Only PostgreSQL's clients set it so. */
function settingOf(session: Session): Isolation | undefined {
  return (
    levelOf(session, "transaction_isolation") ?? levelOf(session, "default_transaction_isolation")
  );
}

function levelOf({ dialect, settings }: Session, setting: string): Isolation | undefined {
  const value = dialect === "postgres" ? settings.get(setting)?.toUpperCase() : undefined;
  return strictness.find((level) => names[level] === value);
}

const strictness = ["readUncommitted", "readCommitted", "repeatableRead", "serializable"] as const;

const names = {
  readUncommitted: "READ UNCOMMITTED",
  readCommitted: "READ COMMITTED",
  repeatableRead: "REPEATABLE READ",
  serializable: "SERIALIZABLE",
} as const satisfies Record<Isolation, string>;

function unsupported(message: string): Result<never, GatewayError> {
  return err(gatewayError("query.unsupported", { message }));
}
