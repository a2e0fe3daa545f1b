/**
 * As whom a statement's connection is opened. A caller's credential takes the place of the cluster's
 * own, whole: no option of one is ever beside an option of the other.
 */
import { noBackendIdentity, type BackendIdentity } from "@gateway/core/query/identity.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { AdbcFailure } from "../native/driver.ts";
import type { AdbcConfig } from "./config.ts";
import { isLogin } from "./errors.ts";
import type { KeyPart } from "./scope/scopeKey.ts";

/** Modes of a cluster that logs in as its callers. */
export type CallerMode = "passthrough" | "tokenExchange";
export type CallerIdentity = Extract<BackendIdentity, { readonly mode: CallerMode }>;

/** Longest name, password or token that is handed to a driver. */
const textLengthMax = 65_536;

/**
 * The caller that a statement runs as; undefined for the cluster's own account. Refuses an identity of
 * another mode than the cluster's, and texts that a driver would not take whole.
 */
export function callerOf(
  { backendIdentity, group }: Pick<Identified, "backendIdentity" | "group">,
  mode: "serviceAccount" | CallerMode,
): Result<CallerIdentity | undefined, GatewayError> {
  const refused = (detail: string): Result<never, GatewayError> =>
    err(noBackendIdentity(mode, group, { detail }));
  if (backendIdentity.mode !== mode) return refused(`an identity of ${backendIdentity.mode}`);
  switch (backendIdentity.mode) {
    case "serviceAccount":
      return ok(undefined);
    case "passthrough": {
      const { credential, principal } = backendIdentity;
      if (credential.kind !== "password") return refused("the engine takes passwords only");
      if (credential.user !== principal) return refused("the login is another's");
      if (!isWhole(principal)) return refused("the name can not be handed over whole");
      return isWhole(credential.password.reveal())
        ? ok(backendIdentity)
        : refused("the password can not be handed over whole");
    }
    case "tokenExchange":
      return isWhole(backendIdentity.token.reveal())
        ? ok(backendIdentity)
        : refused("the token can not be handed over whole");
  }
}

/** Options of drivers are texts of C, which end at a NUL, in UTF-8. */
function isWhole(text: string): boolean {
  const fits = text !== "" && text.length <= textLengthMax;
  return fits && !text.includes("\0") && text.isWellFormed();
}

/** What tells the connections of one caller from those of all others. */
export function identityParts(identity: CallerIdentity): readonly KeyPart[] {
  const secret =
    identity.mode === "tokenExchange"
      ? identity.token
      : identity.credential.kind === "password"
        ? identity.credential.password
        : undefined;
  return [identity.mode, identity.principal, secret];
}

/** The cluster's config with the caller's login in the place of its own. */
export function configAs(config: AdbcConfig, identity: CallerIdentity): AdbcConfig {
  if (identity.mode === "tokenExchange") {
    return { ...config, auth: { type: "bearer", token: identity.token.reveal() } };
  }
  const { credential } = identity;
  if (credential.kind !== "password") throw new TypeError("a login that `callerOf` never lets in");
  const { user: username, password } = credential;
  return { ...config, auth: { type: "basic", username, password: password.reveal() } };
}

/** Why a login that was tried for its own sake was refused: in the engine's own number, and none of its words. */
export function loginError({ code, vendorCode, sqlState }: AdbcFailure): GatewayError {
  const detail = `${code} ${vendorCode ?? sqlState ?? ""}`.trim();
  if (vendorCode !== undefined && isLogin(vendorCode)) {
    return gatewayError("auth.refused", { detail, vendor: { of: "snowflake", code: vendorCode } });
  }
  const isRefused = vendorCode === undefined && sqlState?.startsWith("28") === true;
  return gatewayError(isRefused ? "auth.refused" : "auth.unavailable", { detail });
}

/** The error of a caller's connection that could not be made. A driver's text may hold what it was given, so its number is all that is kept. */
export function callerConnectError(
  failure: AdbcFailure,
  { mode, group }: { readonly mode: CallerMode; readonly group: string },
): GatewayError {
  if (failure.code === "cancelled") return gatewayError("query.cancelled");
  const { vendorCode, sqlState } = failure;
  const detail = `${failure.code} ${vendorCode ?? sqlState ?? ""}`.trim();
  const refused =
    vendorCode === undefined ? sqlState?.startsWith("28") === true : isLogin(vendorCode);
  return refused
    ? noBackendIdentity(mode, group, { detail })
    : gatewayError("cluster.connectFailed", { detail });
}
