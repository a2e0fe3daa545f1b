/**
 * Decides as whom a query reaches its engine; nothing else does.
 *
 * Every mode but `serviceAccount` fails closed. A client without a proven name, without a credential to pass
 * on, or whose token could not be exchanged is refused. No other mode ever falls back to the service account,
 * and an adapter uses the identity that it is handed, or refuses.
 */
import type { QueryAuth } from "@gateway/contract/config/queryAuth.ts";
import type { GatewayError } from "../error.ts";
import type { TokenExchange } from "../port/tokenExchange.ts";
import {
  noBackendIdentity,
  type AuthContext,
  type BackendIdentity,
  type ForwardableCredential,
  type ForwardableKind,
} from "../query/identity.ts";
import type { Translated } from "../query/query.ts";
import { err, ok, unreachable, type Result } from "../result.ts";
import type { Secret } from "../secret.ts";

/** How a cluster wants its queries identified. Made once, when a generation is compiled. */
export interface IdentityRule {
  readonly queryAuth: QueryAuth;
  /** Kinds of credentials that the engine takes from a client. */
  readonly forwards: readonly ForwardableKind[];
  /** The account whose logins the cluster verifies itself. */
  readonly realm?: string | undefined;
  /** Under `tokenExchange` only. */
  readonly exchange: TokenExchange | undefined;
}

/** Decides, or refuses with `auth.noBackendIdentity`. Only `tokenExchange` asks another server. */
export function backendIdentityOf(
  query: Pick<Translated, "session" | "group">,
  rule: IdentityRule,
  signal: AbortSignal,
): Result<BackendIdentity, GatewayError> | Promise<Result<BackendIdentity, GatewayError>> {
  const { queryAuth } = rule;
  const { identity, credential } = query.session;
  const refused = (detail: string): Result<never, GatewayError> =>
    err(noBackendIdentity(queryAuth.type, query.group, { detail }));
  // Whom an engine let in is somebody there, with that login, and nobody to any other.
  if (identity.method === "engine" && !isOfRealm(identity, rule)) {
    return refused("an engine of another account verified the client");
  }
  if (queryAuth.type === "serviceAccount") return ok({ mode: "serviceAccount" });
  if (!isSomebody(identity)) return refused("the client is not a verified user");
  const principal = identity.user;
  switch (queryAuth.type) {
    case "impersonate":
      return ok({ mode: "impersonate", principal });
    case "passthrough":
      if (credential.kind === "none") return refused("the login left no credential");
      return rule.forwards.includes(credential.kind)
        ? ok({ mode: "passthrough", principal: principalOf(credential, principal), credential })
        : refused(`the engine takes no ${credential.kind} from clients`);
    case "tokenExchange":
      if (credential.kind !== "bearer") return refused("the login left no token");
      if (rule.exchange === undefined) return refused("there is no exchange");
      return exchanged(query, { exchange: rule.exchange, subject: credential.token }, signal);
    default:
      return unreachable(queryAuth);
  }
}

async function exchanged(
  { session, group }: Pick<Translated, "session" | "group">,
  { exchange, subject }: { readonly exchange: TokenExchange; readonly subject: Secret },
  signal: AbortSignal,
): Promise<Result<BackendIdentity, GatewayError>> {
  const { identity } = session;
  const token = await exchange.exchange(subject, identity, signal);
  if (token.ok) return ok({ mode: "tokenExchange", principal: identity.user, token: token.value });
  // The exchange does not know the group, and its message may hold a secret.
  const { code, detail } = token.error;
  return code === "auth.noBackendIdentity"
    ? err(noBackendIdentity("tokenExchange", group, detail === undefined ? {} : { detail }))
    : token;
}

function isOfRealm({ realm }: AuthContext, rule: IdentityRule): boolean {
  return realm !== undefined && rule.realm === realm && rule.queryAuth.type === "passthrough";
}

/** True when the name was proved. A name that was only claimed never reaches an engine. */
function isSomebody({ method, user }: AuthContext): boolean {
  return method !== "none" && method !== "anonymous" && user !== "" && user !== "anonymous";
}

/** A password belongs to the name it was sent with, which a directory may spell in another way. */
function principalOf(credential: ForwardableCredential, user: string): string {
  return credential.kind === "password" ? credential.user : user;
}
