/**
 * Provider `oidc`: the client shows an access token that a provider of identities signed. As a bearer
 * token where the protocol has one, and as the password where it has only those.
 *
 * jose verifies signature, issuer, audience and dates; jwks.ts decides which key may verify what. Nothing in a
 * token can lead to another key: `jku`, `x5u`, `jwk` and `x5c` are not read.
 */
import { createHash } from "node:crypto";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { jwtVerify } from "jose";
import { HttpClient } from "../../connect/http.ts";
import { verifying, type ClosableAuthenticator, type Provider, type Shown } from "../provider.ts";
import { VerifiedLogins } from "../verified.ts";
import { identityOf, skewSecs, type Claims } from "./claims.ts";
import type { OidcConfig } from "./config.ts";
import type { SigningKey } from "./jwks.ts";
import { ProviderKeys } from "./keys.ts";
import { looksLikeToken, readHead } from "../token.ts";

export interface OidcProviderConfig {
  readonly required: boolean;
  readonly oidc: OidcConfig;
}

/** Connections to the provider at once: discovery and keys, one after the other. */
const connectionsMax = 2;

/** Asks the provider for nothing before the first token comes. */
export function oidcAuthenticator(
  { required, oidc }: OidcProviderConfig,
  host: Host,
): ClosableAuthenticator {
  return verifying(new OidcProvider(oidc, host), required, host);
}

/** A token and the name that the client sent beside it, which is compared and never believed. */
interface ShownToken {
  readonly text: string;
  readonly token: Secret;
  readonly claimedUser: string | undefined;
}

interface Verified {
  readonly identity: AuthContext;
  readonly key: SigningKey;
}

class OidcProvider implements Provider {
  readonly takesTokens = true;
  readonly tokenIssuer: string;
  readonly #config: OidcConfig;
  readonly #host: Host;
  readonly #http: HttpClient;
  readonly #keys: ProviderKeys;
  readonly #verified: VerifiedLogins<Verified>;
  readonly #realm: string;

  constructor(config: OidcConfig, host: Host) {
    const { timeoutMs, caFile } = config;
    this.tokenIssuer = config.issuer;
    this.#config = config;
    this.#host = host;
    this.#http = new HttpClient({ timeoutMs, caFile, connectionsMax }, host);
    this.#keys = new ProviderKeys({ config, http: this.#http, clock: host.clock, log: host.log });
    this.#verified = new VerifiedLogins(host);
    this.#realm = realmOf(config);
  }

  recall(shown: Shown): Login | undefined {
    const token = tokenOf(shown);
    if (token === undefined) return undefined;
    const memory = this.#memoryKey(token);
    const verified = this.#verified.get(memory);
    if (verified === undefined) return undefined;
    const { identity, key } = verified;
    const expired = this.#host.clock.unixMs() >= (identity.expiresAtMs ?? 0);
    if (expired || !this.#keys.holds(key)) {
      this.#verified.forget(memory);
      return undefined;
    }
    this.#keys.freshen();
    return claimsAnother(token, identity) ? undefined : loginOf(identity, token);
  }

  async verify(shown: Shown): Promise<Result<Login, GatewayError>> {
    const token = tokenOf(shown);
    const head = token === undefined ? undefined : readHead(token.text);
    if (token === undefined || head === undefined) return err(gatewayError("auth.refused"));
    const key = await this.#keys.find(head);
    if (key === "unavailable") return err(gatewayError("auth.unavailable"));
    if (key === "unknown") return err(gatewayError("auth.refused"));
    const claims = await this.#claims(token.text, key);
    if (claims === undefined) return err(gatewayError("auth.refused"));
    const at = { realm: this.#realm, unixMs: this.#host.clock.unixMs() };
    const identity = identityOf(claims, this.#config, at);
    if (identity === undefined || claimsAnother(token, identity)) {
      return err(gatewayError("auth.refused"));
    }
    this.#verified.add(this.#memoryKey(token), { identity, key });
    return ok(loginOf(identity, token));
  }

  renew(identity: AuthContext): AuthContext | undefined {
    return identity.method === "oidc" && identity.realm === this.#realm ? identity : undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }

  async #claims(text: string, { key, algorithms }: SigningKey): Promise<Claims | undefined> {
    try {
      const { payload } = await jwtVerify(text, key, {
        algorithms: [...algorithms],
        issuer: this.#config.issuer,
        audience: this.#config.audience,
        requiredClaims: ["iss", "aud", "exp"],
        clockTolerance: skewSecs,
        currentDate: new Date(this.#host.clock.unixMs()),
      });
      return payload;
    } catch {
      // jose throws for every invalid token, and its messages quote claims.
      return undefined;
    }
  }

  /** Over the whole token in the one spelling that is accepted, with its signature. */
  #memoryKey({ token }: ShownToken): string {
    return this.#verified.keyOf(token, [this.#realm]);
  }
}

function tokenOf(shown: Shown): ShownToken | undefined {
  if (shown.kind === "bearer") {
    const { token, claimedUser } = shown;
    return { text: token.reveal(), token, claimedUser };
  }
  if (shown.kind !== "password") return undefined;
  const text = shown.password.reveal();
  if (!looksLikeToken(text)) return undefined;
  return { text, token: shown.password, claimedUser: shown.user === "" ? undefined : shown.user };
}

function claimsAnother({ claimedUser }: ShownToken, { user }: AuthContext): boolean {
  return claimedUser !== undefined && claimedUser !== user;
}

function loginOf(identity: AuthContext, { token }: ShownToken): Login {
  return { identity, credential: { kind: "bearer", token } };
}

/** The settings that decide who is believed: changing one ends the sessions that began under it. Settings for fetching keys do not. */
function realmOf(config: OidcConfig): string {
  const { issuer, audience, usernameClaim, groupsClaim, rolesClaim, attributeClaims } = config;
  const claims = [usernameClaim, groupsClaim ?? "", rolesClaim ?? "", attributeClaims];
  const settings = ["oidc", issuer, audience, ...claims];
  return createHash("sha256").update(JSON.stringify(settings)).digest("base64url");
}
