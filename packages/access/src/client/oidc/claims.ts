/**
 * Turns verified claims into an identity. One malformed claim refuses the whole token: half an identity would
 * be another identity.
 */
import type { AuthContext, UserAttributes } from "@gateway/core/query/identity.ts";
import { attributeOf, isUserName, namesOf } from "../provider.ts";
import type { OidcConfig } from "./config.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** How far the clocks of the provider and of this process may be apart. */
export const skewSecs = 60;

/** Beyond it a date is nonsense; JavaScript's own end of time. */
const expiryMaxSecs = 8.64e12;

/**
 * The identity in the claims. Issuer, audience, expiry and signature were verified before. Undefined for a
 * token that is no access token, that is bound to a key of its holder (which nobody here checks), or whose
 * names are not valid.
 */
export function identityOf(
  claims: Claims,
  { usernameClaim, groupsClaim, rolesClaim, attributeClaims }: OidcConfig,
  { realm, unixMs }: { readonly realm: string; readonly unixMs: number },
): AuthContext | undefined {
  if (!isAccessToken(claims) || !isDated(claims, unixMs)) return undefined;
  const user = claimAt(claims, usernameClaim);
  if (typeof user !== "string" || !isUserName(user)) return undefined;
  // Otherwise somebody could register with another user's address and become them.
  if (usernameClaim === "email" && claims["email_verified"] === false) return undefined;
  const groups = listAt(claims, groupsClaim);
  const roles = listAt(claims, rolesClaim);
  const attributes = attributesIn(claims, attributeClaims);
  if (groups === undefined || roles === undefined || attributes === undefined) return undefined;
  return Object.freeze({
    user,
    groups: Object.freeze(groups),
    roles: Object.freeze(roles),
    ...(attributeClaims !== undefined && { attributes: Object.freeze(attributes) }),
    method: "oidc",
    realm,
    expiresAtMs: (Number(claims["exp"]) + skewSecs) * 1_000,
  });
}

/** Claims of ID tokens (OpenID Connect Core §2, §3.1.3.6), of logout tokens, and of tokens whose holder must prove a key (RFC 7800). */
const foreignClaims = ["nonce", "at_hash", "c_hash", "s_hash", "events", "cnf"];

function isAccessToken(claims: Claims): boolean {
  if (foreignClaims.some((name) => name in claims)) return false;
  const { typ } = claims;
  if (typ === undefined) return true;
  return typeof typ === "string" && /^(bearer|access|jwt|at\+jwt)$/i.test(typ);
}

function isDated({ exp, iat }: Claims, unixMs: number): boolean {
  if (typeof exp !== "number" || !Number.isFinite(exp) || exp > expiryMaxSecs) return false;
  if (iat === undefined) return true;
  return typeof iat === "number" && iat <= unixMs / 1_000 + skewSecs;
}

/** A claim of exactly this name (names may hold dots: `https://a.example/groups`), else the one the dots lead to. */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let at: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || Array.isArray(at)) return undefined;
    if (!Object.hasOwn(at, name)) return undefined;
    at = (at as Claims)[name];
  }
  return at;
}

/** Empty for an absent claim; undefined for one that is no list of names. */
export function listAt(claims: Claims, path: string | undefined): readonly string[] | undefined {
  const value = path === undefined ? undefined : claimAt(claims, path);
  if (value === undefined || value === null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((one) => typeof one === "string");
  return texts.length === list.length ? namesOf(texts) : undefined;
}

/** An absent claim is no attribute; undefined where one is neither text, number, truth value nor a list of such. */
function attributesIn(
  claims: Claims,
  attributeClaims: OidcConfig["attributeClaims"],
): UserAttributes | undefined {
  const attributes: Record<string, string | readonly string[]> = {};
  for (const [name, path] of Object.entries(attributeClaims ?? {})) {
    const claim = claimAt(claims, path);
    if (claim === undefined || claim === null) continue;
    const attribute = attributeOf(claim);
    if (attribute === undefined) return undefined;
    attributes[name] = attribute;
  }
  return attributes;
}
