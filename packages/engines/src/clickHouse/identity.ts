/**
 * Decides as whom a statement runs in ClickHouse. Nothing else does.
 *
 * Every request is the service account's. Under `impersonate` a user's statement stands behind `EXECUTE AS`,
 * whose grammar (chdb 26.7: `ExecuteAsQuery` of a user and one whole query) leaves nothing of the text
 * outside. What can not stand there is refused, and never run without it.
 */
import type { QueryAuthMode } from "@gateway/contract/config/queryAuth.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { noBackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { openSql } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import type { ClickHouseConfig } from "./config.ts";
import { quoteIdentifier } from "./sql/quote.ts";

/** As whom a statement runs. */
export type Caller =
  | { readonly kind: "account" }
  | { readonly kind: "user"; readonly name: string; readonly group: string };

/** The gateway itself. */
export const account: Caller = { kind: "account" };

/** The caller of a query; `auth.noBackendIdentity` for a name that ClickHouse would read in another way. */
export function callerOf(
  { backendIdentity, group }: Pick<Identified, "backendIdentity" | "group">,
  config: Pick<ClickHouseConfig, "auth" | "queryAuth">,
): Result<Caller, GatewayError> {
  const configured: QueryAuthMode = config.queryAuth?.type ?? "serviceAccount";
  const refused = (detail: string): Result<never, GatewayError> =>
    err(noBackendIdentity(configured, group, { detail }));
  if (backendIdentity.mode !== configured) return refused("an identity of another mode");
  if (backendIdentity.mode === "serviceAccount") return ok(account);
  if (backendIdentity.mode !== "impersonate") return refused("a mode that ClickHouse has not");
  const name = backendIdentity.principal;
  if (!isCarried(name)) return refused("a user name that ClickHouse would read in another way");
  // Where it may impersonate everybody it may impersonate itself, with all its rights.
  if (name === accountNameOf(config)) return refused("a user with the name of the service account");
  return ok({ kind: "user", name, group });
}

/** The error when the server does not let the account act as the caller. */
export function refusalOf(caller: Caller, detail: string): GatewayError {
  return caller.kind === "account"
    ? gatewayError("cluster.connectFailed", { detail })
    : noBackendIdentity("impersonate", caller.group, { detail });
}

/** A text as it is sent. */
export interface SentText {
  readonly sql: string;
  /** How many bytes further on a position is in this text than in the given one. */
  readonly shiftBytes: number;
}

/**
 * The text that runs as the caller. Behind the name stands the first word of the statement itself:
 * an `@` there would be read as the host of another user.
 */
export function textFor(caller: Caller, sql: string): Result<SentText, GatewayError> {
  if (caller.kind === "account") return ok({ sql, shiftBytes: 0 });
  const cursor = openSql(sql, "clickhouse");
  if (!nextSignificant(cursor) || !/[a-z(]/i.test(sql.charAt(cursor.start))) {
    const message = "a statement begins with a word";
    return err(gatewayError("query.unsupported", { message }));
  }
  const prefix = `EXECUTE AS ${quoteIdentifier(caller.name)} `;
  const left = sql.slice(0, cursor.start);
  return ok({
    sql: prefix + sql.slice(cursor.start),
    shiftBytes: Buffer.byteLength(prefix) - Buffer.byteLength(left),
  });
}

function accountNameOf({ auth }: Pick<ClickHouseConfig, "auth">): string | undefined {
  if (auth === undefined) return "default";
  return auth.type === "basic" ? auth.username : undefined;
}

/** Longest name that is sent. */
const nameUnitsMax = 1_024;

/** Blanks around a name may be trimmed, and half of a pair is no text. */
function isCarried(name: string): boolean {
  const plain = name !== "" && name.length <= nameUnitsMax && name.trim() === name;
  return plain && !/\p{Surrogate}/u.test(name);
}
