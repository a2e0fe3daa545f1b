/**
 * A provider's published keys (RFC 7517), each bound to the algorithms it may be used with: those of
 * its own family, and the one it names when it names one. What can not be used is left out, so that a
 * provider may publish kinds of keys we do not know.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { TokenAlgorithm, TokenHead } from "../token.ts";

export interface SigningKey {
  readonly keyId: string | undefined;
  readonly algorithms: readonly TokenAlgorithm[];
  readonly key: KeyObject;
}

const keysMax = 200;
const rsaBitsMin = 2_048;

/** PSS only where the key says so: a key is for one scheme (RFC 8725 §3.1). */
const rsaDefault: readonly TokenAlgorithm[] = ["RS256", "RS384", "RS512"];
const rsaKnown: readonly TokenAlgorithm[] = [...rsaDefault, "PS256", "PS384", "PS512"];

const curves: Readonly<Record<string, readonly TokenAlgorithm[]>> = {
  "EC P-256": ["ES256"],
  "EC P-384": ["ES384"],
  "EC P-521": ["ES512"],
  "OKP Ed25519": ["EdDSA", "Ed25519"],
};

/** The usable keys of a JWK set, or undefined when it is none. */
export function readKeys(json: unknown): readonly SigningKey[] | undefined {
  if (!isRecord(json) || !Array.isArray(json["keys"])) return undefined;
  return json["keys"].slice(0, keysMax).flatMap((jwk: unknown) => {
    const key = isRecord(jwk) ? readKey(jwk) : undefined;
    return key === undefined ? [] : [key];
  });
}

/** The one key that a token's head names; undefined when several could be meant. */
export function keyFor(
  keys: readonly SigningKey[],
  { algorithm, keyId }: TokenHead,
): SigningKey | undefined {
  const fitting = keys.filter(
    (key) => key.algorithms.includes(algorithm) && (keyId === undefined || key.keyId === keyId),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

function readKey(jwk: Readonly<Record<string, unknown>>): SigningKey | undefined {
  const { kid, use, key_ops: operations, d } = jwk;
  // With a published private key anybody could sign.
  if (d !== undefined || (use !== undefined && use !== "sig")) return undefined;
  if (Array.isArray(operations) && !operations.includes("verify")) return undefined;
  if (kid !== undefined && typeof kid !== "string") return undefined;
  const algorithms = algorithmsOf(jwk);
  if (algorithms.length === 0) return undefined;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
    const bits = key.asymmetricKeyDetails?.modulusLength;
    if (jwk["kty"] === "RSA" && (bits === undefined || bits < rsaBitsMin)) return undefined;
    return { keyId: kid, algorithms, key };
  } catch {
    return undefined;
  }
}

function algorithmsOf({
  kty,
  crv,
  alg,
}: Readonly<Record<string, unknown>>): readonly TokenAlgorithm[] {
  const known = kty === "RSA" ? rsaKnown : (curves[`${String(kty)} ${String(crv)}`] ?? []);
  if (alg !== undefined) return known.filter((one) => one === alg);
  return kty === "RSA" ? rsaDefault : known;
}

/** True for an object of JSON that is no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
