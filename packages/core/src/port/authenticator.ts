/** Who the client is. The only maker of `AuthContext` is an implementation of this port. */
import type { GatewayError } from "../error.ts";
import type { AuthContext, ClientCredential } from "../query/identity.ts";
import type { Result } from "../result.ts";
import type { Secret } from "../secret.ts";

/** A name and a password. */
export interface PresentedPassword {
  readonly kind: "password";
  readonly user: string;
  readonly password: Secret;
  /** The account that they are for, where the client's protocol has such: an engine of that account may be who verifies them. */
  readonly account?: string | undefined;
}

/** What a client showed, before it is believed. */
export type Presented =
  /** No credential at all; `user` is the name it claims. `asked`: the protocol asked for one, so that showing none is a refused login and never `anonymous`. */
  | { readonly kind: "nothing"; readonly user: string | undefined; readonly asked: boolean }
  | PresentedPassword
  /** `claimedUser` is a name sent beside the token, to be compared and never believed. */
  | { readonly kind: "bearer"; readonly token: Secret; readonly claimedUser: string | undefined }
  /**
   * A proof of the password by SCRAM-SHA-256 (RFC 5802 §3, RFC 7677), which never travels itself.
   * `authMessage` is what both sides said, as the RFC has it. It leaves nothing to pass through.
   */
  | {
      readonly kind: "scram";
      readonly user: string;
      readonly authMessage: string;
      readonly clientProof: Uint8Array;
    }
  /**
   * A certificate whose chain and validity the listener verified; `names` are what it says of its
   * owner. `user` is the name the client claims, which must be one of them; undefined where the
   * protocol has none. It leaves nothing to pass through.
   */
  | {
      readonly kind: "certificate";
      readonly user: string | undefined;
      readonly names: readonly string[];
    }
  /**
   * A token that the client signed with its own private key. `user` is the name sent beside it, to be
   * compared and never believed. It leaves nothing to pass through.
   */
  | { readonly kind: "keyPair"; readonly token: Secret; readonly user: string | undefined };

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

export interface Login {
  readonly identity: AuthContext;
  readonly credential: ClientCredential;
  /** The answer to a proof by SCRAM: shows the client that we know its password's verifier. */
  readonly serverSignature?: Uint8Array;
}

/** What a client needs to make its proof by SCRAM. */
export interface ScramChallenge {
  readonly salt: Uint8Array;
  readonly iterations: number;
}

export interface Authenticator {
  /**
   * The identity as this configuration knows it: the same value when nothing changed, a new one with
   * today's groups and roles, or undefined when the user is gone or has to log in again. Called for
   * every statement, so it only looks things up.
   */
  renew(identity: AuthContext): AuthContext | undefined;
  /** True when PostgreSQL and MySQL must ask for a password. False only under provider `none`. */
  readonly asksPassword: boolean;
  /** True where an access token is a credential, so that protocols with several kinds offer that one too. */
  readonly takesTokens?: boolean;
  /** Who issues those tokens, as clients look for it (OpenID Connect Discovery 1.0 §4.1); absent where nobody is named. */
  readonly tokenIssuer?: string | undefined;
  /**
   * The challenge for a login by SCRAM, or undefined where the user is to be asked for the password
   * itself. An unknown name gets a challenge too, and always the same one, so that it tells nobody who exists.
   */
  scram?(user: string): ScramChallenge | undefined;
  /**
   * Verifies. Refuses with `auth.required` (nothing shown but needed), `auth.refused` (wrong, or
   * the user is unknown: both cost the same time) or `auth.unavailable`.
   */
  authenticate(presented: Presented, at: PresentedAt): Promise<Result<Login, GatewayError>>;
  /**
   * A login that was verified a moment ago and still holds, for clients that show their credential with every request.
   * Undefined says nothing about it: it is to be verified.
   */
  recall?(presented: Presented): Login | undefined;
}
