/**
 * Decides as whom a request reaches Trino, with which user and which credential. Nothing else does.
 *
 * http.ts sends no request without a `Caller`, and every request of a statement has the same one: its
 * submission, polls, end, segments, descriptions and transaction. The service account's credential goes with
 * a user's statement under `serviceAccount` and `impersonate` only.
 */
import type { QueryAuthMode } from "@gateway/contract/config/queryAuth.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import {
  noBackendIdentity,
  type BackendIdentity,
  type ForwardableCredential,
} from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, unreachable, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { requestHeader } from "@gateway/wire/trino/headers.ts";
import type { TrinoConfig } from "./config.ts";
import { userBytesMax } from "./limits.ts";

/** Who asks. */
export interface Caller {
  readonly mode: QueryAuthMode;
  /** The cluster group of the query; undefined for what the gateway asks for itself. */
  readonly group: string | undefined;
  /** The header that names the user. */
  readonly headers: Readonly<Record<string, string>>;
  readonly authorization: Secret | undefined;
}

export interface Callers {
  /**
   * The gateway itself. Undefined where users bring their own credentials and the cluster has no service
   * account: the gateway then has no login.
   */
  readonly own: Caller | undefined;
  /**
   * The caller of a query. Refuses with `auth.noBackendIdentity` a name or credential that Trino would read
   * in another way.
   */
  of(query: Pick<Identified, "backendIdentity" | "group">): Result<Caller, GatewayError>;
}

/** Callers of a cluster. */
export function callersOf(config: TrinoConfig): Callers {
  const configured = config.queryAuth?.type ?? "serviceAccount";
  const service = serviceAccountOf(config);
  const alone = config.auth === undefined && bringsCredential[configured];
  return {
    own: alone ? undefined : service,
    of: ({ backendIdentity, group }) => {
      if (backendIdentity.mode !== configured) {
        return err(noBackendIdentity(configured, group, { detail: "an identity of another mode" }));
      }
      if (backendIdentity.mode === "serviceAccount") return ok(service);
      const caller = userOf(backendIdentity, { config, service, group });
      return caller.ok
        ? caller
        : err(noBackendIdentity(configured, group, { detail: caller.error }));
    },
  };
}

/** Whether users log in to Trino themselves. */
const bringsCredential = {
  serviceAccount: false,
  impersonate: false,
  passthrough: true,
  tokenExchange: true,
} as const satisfies Record<QueryAuthMode, boolean>;

/** The error when the server refuses the caller. It repeats nothing that the server said. */
export function refusalOf({ mode, group }: Caller, detail: string): GatewayError {
  return group === undefined || mode === "serviceAccount"
    ? gatewayError("auth.noBackendIdentity", { detail })
    : noBackendIdentity(mode, group, { detail });
}

/** True when both would be the same user to Trino. */
export function isSameUser(a: Caller, b: Caller): boolean {
  return a.mode === b.mode && a.headers[requestHeader.user] === b.headers[requestHeader.user];
}

/** What a user's caller is made of, beside the identity itself. */
interface CallerSources {
  readonly config: TrinoConfig;
  readonly service: Caller;
  readonly group: string;
}

/** The caller of a user's own statement, or why there is none. */
function userOf(
  identity: Exclude<BackendIdentity, { mode: "serviceAccount" }>,
  { config, service, group }: CallerSources,
): Result<Caller, string> {
  const { mode, principal } = identity;
  if (!isCarried(principal)) return err("a user name that Trino would read in another way");
  const credential = credentialOf(identity, { config, service });
  if (!credential.ok) return credential;
  const headers = { [requestHeader.user]: principal };
  return ok({ mode, group, headers, authorization: credential.value });
}

function credentialOf(
  identity: Exclude<BackendIdentity, { mode: "serviceAccount" }>,
  { config, service }: Pick<CallerSources, "config" | "service">,
): Result<Secret | undefined, string> {
  switch (identity.mode) {
    case "impersonate":
      // A user with the account's own name would run with all of its rights.
      return namesOf(config).includes(identity.principal)
        ? err("a user with the name of the service account")
        : ok(service.authorization);
    case "passthrough":
      return forwardedOf(identity.credential);
    case "tokenExchange":
      return bearerOf(identity.token.reveal());
    default:
      return unreachable(identity);
  }
}

function serviceAccountOf(config: TrinoConfig): Caller {
  const { auth } = config;
  const [name] = namesOf(config);
  const named = name !== undefined && isCarried(name);
  return {
    mode: "serviceAccount",
    group: undefined,
    // Without a name the credential alone says who it is.
    headers: named ? { [requestHeader.user]: name } : {},
    authorization: auth === undefined ? undefined : authorizationOf(auth),
  };
}

/** Names of the service account as far as they are known; the first is the one that statements run as. */
function namesOf({ auth, user }: TrinoConfig): readonly string[] {
  const login = auth?.type === "basic" ? [auth.username] : [];
  const nobody = auth === undefined ? ["gateway"] : [];
  return [...(user === undefined ? [] : [user]), ...login, ...nobody];
}

/** The service account's credential; the one place where it becomes a header. */
function authorizationOf(auth: NonNullable<TrinoConfig["auth"]>): Secret {
  switch (auth.type) {
    case "basic":
      return basicOf(auth.username, secretText(auth.password));
    case "bearer":
      return new Secret(`Bearer ${secretText(auth.token)}`);
  }
}

/** A client's credential as a header; refused when Trino would read another one. */
function forwardedOf(credential: ForwardableCredential): Result<Secret, string> {
  if (credential.kind === "bearer") return bearerOf(credential.token.reveal());
  const password = credential.password.reveal();
  // A colon ends the name (RFC 7617 §2).
  const exact = !credential.user.includes(":") && isLatin(credential.user + password);
  return exact
    ? ok(basicOf(credential.user, password))
    : err("a password that Trino would read in another way");
}

/** In Latin-1, as Trino's `BasicAuthCredentials` reads it and its own clients send it. */
function basicOf(user: string, password: string): Secret {
  const pair = `${user}:${password}`;
  const bytes = Buffer.from(pair, isLatin(pair) ? "latin1" : "utf8");
  return new Secret(`Basic ${bytes.toString("base64")}`);
}

/** RFC 6750 §2.1. */
function bearerOf(token: string): Result<Secret, string> {
  return /^[\w\-.~+/]+=*$/.test(token)
    ? ok(new Secret(`Bearer ${token}`))
    : err("a token that a header can not carry");
}

function isLatin(text: string): boolean {
  return !/[^\0-\xff]/.test(text);
}

/**
 * Whether Trino reads exactly this name from the header. It reads Latin-1 and trims blanks. It takes a name
 * of blanks alone for none, and would run the statement as the service account. Control characters are
 * refused, because readers differ in what they make of them.
 */
function isCarried(name: string): boolean {
  return (
    name.length <= userBytesMax && /^[!-~\xa1-\xff]([ -~\xa0-\xff]*[!-~\xa1-\xff])?$/.test(name)
  );
}
