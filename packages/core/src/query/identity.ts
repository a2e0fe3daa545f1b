/** Who a client is, and as whom an engine sees its query. Data only: `snapshot/backendIdentity.ts` decides. */
import type { QueryAuthMode } from "@gateway/contract/config/queryAuth.ts";
import { gatewayError, type GatewayError } from "../error.ts";
import type { Secret } from "../secret.ts";

/** A text, or a list of texts. Names match `[A-Za-z][A-Za-z0-9_]*`. */
export type UserAttributes = Readonly<Record<string, string | readonly string[]>>;

/** The verified identity every later stage sees. Immutable; holds no credential. */
export interface AuthContext {
  readonly user: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  /** What the provider says of the user beside them, for policies: by the names of the configuration. Absent where it says nothing. */
  readonly attributes?: UserAttributes | undefined;
  /** `admin`: a user of the admin API, who signed in there and asks by its console. */
  readonly method: "none" | "anonymous" | "static" | "oidc" | "ldap" | "engine" | "admin";
  /**
   * Fingerprint of the settings of the provider outside this process that verified the login, so that a
   * session does not outlive a change of them. Absent where the configuration itself knows the users.
   * Under `engine` the account that let the user in, which nobody knows anywhere else.
   */
  readonly realm?: string;
  /** Unix milliseconds after which the login must be checked again; undefined means never. */
  readonly expiresAtMs?: number;
}

/** The credential that can identify the client again at an engine. Kept apart from `AuthContext` and from everything a client can set. */
export type ClientCredential =
  | { readonly kind: "none" }
  | { readonly kind: "password"; readonly user: string; readonly password: Secret }
  /** A token that was verified as the client's own. */
  | { readonly kind: "bearer"; readonly token: Secret };

/** The kinds of credentials that can identify a client again. */
export type ForwardableCredential = Exclude<ClientCredential, { kind: "none" }>;
export type ForwardableKind = ForwardableCredential["kind"];

/** As whom the engine sees the query. `principal` is the name that is asked for, for records; never a credential. */
export type BackendIdentity =
  | { readonly mode: "serviceAccount" }
  | {
      readonly mode: "passthrough";
      readonly principal: string;
      readonly credential: ForwardableCredential;
    }
  | { readonly mode: "impersonate"; readonly principal: string }
  | { readonly mode: "tokenExchange"; readonly principal: string; readonly token: Secret };

/** The refusal of every mode: it names mode and group, and repeats nothing that anybody sent. */
export function noBackendIdentity(
  mode: QueryAuthMode,
  group: string,
  more: Pick<GatewayError, "detail"> = {},
): GatewayError {
  return gatewayError("auth.noBackendIdentity", {
    message: `No identity for the engine could be made for this user: cluster group ${JSON.stringify(group)} runs queries under ${mode}.`,
    ...more,
  });
}
