/** As whom a statement runs: the cluster's own account, or exactly its caller's. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { noBackendIdentity, type BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { isSendable } from "@gateway/wire/postgres/client.ts";
import type { PostgresqlMode } from "./config.ts";
import { failureText, isRefusal } from "./client/connect.ts";
import type { Account, LoginFailure } from "./client/login/login.ts";

/** Bytes that a name may have: a server cuts longer ones, to what may be another's. */
const nameBytesMax = 63;
/** Characters of a password that are sent. More is no login of a person. */
const passwordLengthMax = 1_024;

/** The account that a query runs as. */
export type As =
  | { readonly kind: "service" }
  | { readonly kind: "caller"; readonly account: Account };

/**
 * Whom a query's identity stands for. Refuses an identity of another mode than the cluster's, and texts
 * that a login could not carry whole.
 */
export function asOf(
  { backendIdentity, group }: Pick<Identified, "backendIdentity" | "group">,
  mode: PostgresqlMode,
): Result<As, GatewayError> {
  const refused = (detail: string): Result<never, GatewayError> =>
    err(noBackendIdentity(mode, group, { detail }));
  if (backendIdentity.mode !== mode) return refused(`an identity of ${backendIdentity.mode}`);
  if (backendIdentity.mode !== "passthrough") return ok({ kind: "service" });
  const { credential, principal } = backendIdentity;
  if (credential.kind !== "password") return refused("the engine takes passwords only");
  const { user, password } = credential;
  if (user !== principal) return refused("the login is another's");
  if (!isWhole(user) || Buffer.byteLength(user) > nameBytesMax)
    return refused("the name can not be sent whole");
  const secret = password.reveal();
  if (!isWhole(secret) || secret.length > passwordLengthMax)
    return refused("the password can not be sent whole");
  return ok({ kind: "caller", account: { user, password } });
}

function isWhole(text: string): boolean {
  return text !== "" && isSendable(text);
}

/**
 * The error of a caller's login. Whether it was the password is told; the server's own words stay behind, because they
 * may name the gateway's address or, of a server that lies, what it was sent.
 */
export function errorOfLogin(failure: LoginFailure, group: string): GatewayError {
  const detail = failureText(failure);
  if (isRefusal(failure))
    return refusedLogin(failure, noBackendIdentity("passthrough", group, { detail }));
  // The login was right; the database is not for this user, or not there.
  if (failure.sqlState === "42501") return gatewayError("query.permission", { detail });
  if (failure.sqlState === "3D000") return gatewayError("query.unknownObject", { detail });
  return gatewayError("cluster.connectFailed", { detail });
}

const verdicts: ReadonlyMap<string, string> = new Map([
  ["28P01", "The server refuses this user's password."],
  ["28000", "The server refuses this user's login, whatever the password."],
]);

function refusedLogin({ sqlState = "" }: LoginFailure, error: GatewayError): GatewayError {
  const verdict = verdicts.get(sqlState);
  return verdict === undefined
    ? error
    : { ...error, sqlState, message: `${error.message} ${verdict}` };
}

/** Whose a transaction is; undefined for the cluster's account. */
export function nameOf(identity: BackendIdentity): string | undefined {
  return identity.mode === "passthrough" ? identity.principal : undefined;
}
