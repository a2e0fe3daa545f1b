/** Who the client is. The only maker of `AuthContext` is an implementation of this port. */
import type { GatewayError } from "../error.ts";
import type { Result } from "../result.ts";
import type { Secret } from "../secret.ts";

/** The verified identity every later stage sees. Immutable; holds no credential. */
export interface AuthContext {
  readonly user: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly method: "none" | "anonymous" | "static";
  /** Unix milliseconds after which the login must be checked again; undefined means never. */
  readonly expiresAtMs?: number;
}

/** What a client showed, before it is believed. */
export type Presented =
  /** No credential at all; `user` is the name it claims. */
  | { readonly kind: "nothing"; readonly user: string | undefined }
  | { readonly kind: "password"; readonly user: string; readonly password: Secret }
  /** `claimedUser` is a name sent beside the token, to be compared and never believed. */
  | { readonly kind: "bearer"; readonly token: Secret; readonly claimedUser: string | undefined };

/** Where it was shown. */
export interface PresentedAt {
  readonly frontend: string;
  /** Address of the client without its port. */
  readonly address: string;
  /**
   * How long a request may be held while there is no configuration yet: many HTTP clients do not try
   * again after a 503. Absent where a client is told at once.
   */
  readonly patienceMs?: number;
}

/** What the client could be identified with again at an engine. Kept apart from `AuthContext` and from everything a client can set. */
export type ClientCredential =
  | { readonly kind: "none" }
  | { readonly kind: "password"; readonly user: string; readonly password: Secret };

export interface Login {
  readonly identity: AuthContext;
  readonly credential: ClientCredential;
}

export interface Authenticator {
  /**
   * The identity as this configuration knows it: the same value when nothing changed, one with the
   * groups and roles of now, or undefined when the user is gone or would have to log in anew. Asked
   * for every statement, so it only looks things up.
   */
  renew(identity: AuthContext): AuthContext | undefined;
  /** True when PostgreSQL and MySQL must ask for a password. False only under provider `none`. */
  readonly asksPassword: boolean;
  /**
   * Verifies. Refuses with `auth.required` (nothing shown but needed), `auth.refused` (wrong, or
   * the user is unknown: both cost the same time) or `auth.unavailable`.
   */
  authenticate(presented: Presented, at: PresentedAt): Promise<Result<Login, GatewayError>>;
}
