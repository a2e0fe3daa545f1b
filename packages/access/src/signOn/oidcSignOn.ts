/**
 * Signs administrators on at an identity provider: authorization code (RFC 6749 §4.1) with PKCE (RFC 7636), and an
 * ID token that is verified as OpenID Connect Core §3.1.3.7 says.
 *
 * Nothing is kept here between the two requests: state, nonce and verifier lie in the browser that asked, so that
 * any replica can take the answer.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { SignOnRefusal } from "@gateway/contract/studioApi.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { jwtVerify } from "jose";
import { z } from "zod";
import { claimAt, listAt, skewSecs, type Claims } from "../client/oidc/claims.ts";
import { ProviderKeys } from "../client/oidc/keys.ts";
import { readHead } from "../client/token.ts";
import { HttpClient } from "../connect/http.ts";
import type { SignOnConfig } from "./config.ts";

export type SignOnRole = keyof SignOnConfig["roles"];

export interface SignedOn {
  readonly name: string;
  readonly role: SignOnRole;
  /** Issuer and `sub`, which a provider never gives to another. */
  readonly subject: string;
}

export interface OidcSignOn extends AsyncDisposable {
  begin(): Promise<Result<{ readonly url: string; readonly kept: string }, "unavailable">>;
  finish(kept: string, answer: URLSearchParams): Promise<Result<SignedOn, SignOnRefusal>>;
}

/** How long a browser may be away. */
const awayMsMax = 10 * 60_000;
const discoveryFreshMs = 10 * 60_000;
const connectionsMax = 2;
/** Strongest first. */
const rolesInOrder = ["admin", "operator", "viewer"] as const satisfies readonly SignOnRole[];

const keptSchema = z.tuple([z.string(), z.string(), z.string(), z.number()]);
const url = z.url({ protocol: /^https?$/ }).max(2_048);
const discoverySchema = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: url,
  token_endpoint: url,
  jwks_uri: url,
});
type Discovery = z.output<typeof discoverySchema>;
const tokenSchema = z.looseObject({ id_token: z.string().max(32_768) });

export interface OidcSignOnOptions {
  readonly config: SignOnConfig;
  readonly clientSecret: Secret | undefined;
  /** Path of the callback below `publicUrl`. */
  readonly callbackPath: string;
}

/** Asks the provider for nothing before somebody signs on. */
export function oidcSignOn(options: OidcSignOnOptions, host: Host): OidcSignOn {
  return new SignOn(options, host);
}

class SignOn implements OidcSignOn {
  readonly #config: SignOnConfig;
  readonly #secret: Secret | undefined;
  readonly #redirectUri: string;
  readonly #host: Host;
  readonly #http: HttpClient;
  #discovered: { readonly value: Discovery; readonly keys: ProviderKeys } | undefined;
  #discoveredMs = Number.NEGATIVE_INFINITY;

  constructor({ config, clientSecret, callbackPath }: OidcSignOnOptions, host: Host) {
    const { timeoutMs, caFile, publicUrl } = config;
    this.#config = config;
    this.#secret = clientSecret;
    this.#redirectUri = publicUrl.replace(/\/$/, "") + callbackPath;
    this.#host = host;
    this.#http = new HttpClient({ timeoutMs, caFile, connectionsMax }, host);
  }

  async begin(): ReturnType<OidcSignOn["begin"]> {
    const provider = await this.#discover();
    if (provider === undefined) return err("unavailable");
    const [state, nonce, verifier] = [this.#random(), this.#random(), this.#random()];
    const to = new URL(provider.value.authorization_endpoint);
    const parameters = {
      response_type: "code",
      client_id: this.#config.clientId,
      redirect_uri: this.#redirectUri,
      scope: ["openid", ...this.#config.scopes].join(" "),
      state,
      nonce,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value);
    const kept = JSON.stringify([state, nonce, verifier, this.#host.clock.unixMs() + awayMsMax]);
    return ok({ url: to.href, kept });
  }

  async finish(kept: string, answer: URLSearchParams): ReturnType<OidcSignOn["finish"]> {
    const there = keptSchema.safeParse(jsonOf(kept));
    if (!there.success) return err("expired");
    const [state, nonce, verifier, untilMs] = there.data;
    if (this.#host.clock.unixMs() > untilMs) return err("expired");
    if (!isSame(answer.get("state") ?? "", state)) return err("expired");
    // RFC 9207: an answer that another provider of the browser's gave is none.
    const from = answer.get("iss");
    if (from !== null && from !== this.#config.issuer) return err("refused");
    if (answer.has("error")) {
      return err(answer.get("error") === "access_denied" ? "cancelled" : "refused");
    }
    const code = answer.get("code");
    if (code === null || code.length > 4_096) return err("refused");
    const provider = await this.#discover();
    if (provider === undefined) return err("unavailable");
    const token = await this.#redeem(provider.value, code, verifier);
    if (!token.ok) return token;
    const claims = await this.#claims(token.value, provider.keys, nonce);
    return claims.ok ? this.#signedOn(claims.value) : claims;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }

  #random(): string {
    return Buffer.from(this.#host.randomBytes(32)).toString("base64url");
  }

  /** What is old is used on while the provider does not answer. */
  async #discover() {
    const now = this.#host.clock.nowMs();
    if (now - this.#discoveredMs < discoveryFreshMs) return this.#discovered;
    const { issuer } = this.#config;
    const document = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const answer = await this.#http.ask({ url: document });
    const read = answer.ok ? discoverySchema.safeParse(answer.value.json) : undefined;
    const value = read?.data;
    if (value === undefined || value.issuer !== issuer || !areTrusted(issuer, value)) {
      this.#host.log.write("warn", "signOn.unavailable", { issuer });
      return this.#discovered;
    }
    this.#discoveredMs = now;
    // Keys that are known stay known.
    if (this.#discovered?.value.jwks_uri === value.jwks_uri) {
      this.#discovered = { value, keys: this.#discovered.keys };
    } else {
      const { clock, log } = this.#host;
      const config = { issuer, jwksUri: value.jwks_uri };
      this.#discovered = {
        value,
        keys: new ProviderKeys({ config, http: this.#http, clock, log }),
      };
    }
    return this.#discovered;
  }

  async #redeem(
    { token_endpoint: endpoint }: Discovery,
    code: string,
    verifier: string,
  ): Promise<Result<string, SignOnRefusal>> {
    const { clientId } = this.#config;
    const form = new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: this.#redirectUri,
      code_verifier: verifier,
      ...(this.#secret === undefined ? { client_id: clientId } : {}),
    });
    const basic = this.#secret && basicOf(clientId, this.#secret.reveal());
    const answer = await this.#http.ask({ url: endpoint, form, ...(basic && { basic }) });
    if (!answer.ok || answer.value.status >= 500) return err("unavailable");
    const token = tokenSchema.safeParse(answer.value.json);
    return answer.value.status === 200 && token.success ? ok(token.data.id_token) : err("refused");
  }

  async #claims(
    token: string,
    keys: ProviderKeys,
    nonce: string,
  ): Promise<Result<Claims, SignOnRefusal>> {
    const head = readHead(token);
    const key = head === undefined ? "unknown" : await keys.find(head);
    if (key === "unavailable") return err("unavailable");
    if (key === "unknown") return err("refused");
    const { issuer, clientId } = this.#config;
    try {
      const { payload } = await jwtVerify(token, key.key, {
        algorithms: [...key.algorithms],
        issuer,
        audience: clientId,
        requiredClaims: ["iss", "sub", "aud", "exp", "iat"],
        clockTolerance: skewSecs,
        currentDate: new Date(this.#host.clock.unixMs()),
      });
      const told = payload["nonce"];
      if (typeof told !== "string" || !isSame(told, nonce)) return err("refused");
      // A token for several parties has to say that it was given to us (§3.1.3.7, 4 and 5).
      const several = Array.isArray(payload.aud) && payload.aud.length > 1;
      const party = payload["azp"];
      if ((several || party !== undefined) && party !== clientId) return err("refused");
      return ok(payload);
    } catch {
      // jose throws for every invalid token, and its messages quote claims.
      return err("refused");
    }
  }

  #signedOn(claims: Claims): Result<SignedOn, SignOnRefusal> {
    const { issuer, usernameClaim, groupsClaim, roles } = this.#config;
    const name = claimAt(claims, usernameClaim);
    const groups = listAt(claims, groupsClaim);
    if (typeof name !== "string" || groups === undefined) return err("refused");
    // Otherwise somebody could register with another's address and become them.
    if (usernameClaim === "email" && claims["email_verified"] === false) return err("refused");
    const role = rolesInOrder.find((one) => roles[one].some((group) => groups.includes(group)));
    if (role === undefined) return err("noRole");
    return ok({ name, role, subject: JSON.stringify([issuer, claims["sub"]]) });
  }
}

/** RFC 6749 §2.3.1: both are form-encoded before. */
function basicOf(id: string, secret: string): string {
  const encoded = [id, secret].map((part) => new URLSearchParams({ "": part }).toString().slice(1));
  return Buffer.from(encoded.join(":"), "utf8").toString("base64");
}

/** Over http only to the issuer's own host, where the issuer itself has no https. */
function areTrusted(issuer: string, discovery: Discovery): boolean {
  const from = new URL(issuer);
  const { authorization_endpoint, token_endpoint, jwks_uri } = discovery;
  return [authorization_endpoint, token_endpoint, jwks_uri].every((text) => {
    const to = new URL(text);
    if (to.protocol === "https:") return true;
    return from.protocol === "http:" && from.hostname === to.hostname;
  });
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length > 0 && a.length === b.length && timingSafeEqual(a, b);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
