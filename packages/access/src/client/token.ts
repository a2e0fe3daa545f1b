/**
 * The form of a token, before any key is looked for: JWS compact serialisation (RFC 7515 §7.1) in its one
 * canonical spelling, with a header that asks for nothing unsupported. It verifies nothing.
 *
 * Most libraries read base64url leniently, so one token would have many spellings; all but the canonical one
 * are refused.
 */

/** A signature algorithm that is believed: asymmetric ones only (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864). */
export type TokenAlgorithm = (typeof tokenAlgorithms)[number];
const tokenAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

export interface TokenHead {
  readonly algorithm: TokenAlgorithm;
  readonly keyId: string | undefined;
}

/** More than an HTTP header may hold; only passwords could carry more. */
const tokenLengthMax = 32_768;
const keyIdLengthMax = 256;
const shape = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

/** True for a password that is a token and not a word somebody chose. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith("ey") && text.length <= tokenLengthMax && shape.test(text);
}

/** The head of a token. Undefined for a token that is refused whatever its signature says. */
export function readHead(token: string): TokenHead | undefined {
  if (token.length > tokenLengthMax) return undefined;
  const parts = shape.exec(token)?.slice(1);
  if (parts === undefined || !parts.every(isCanonical)) return undefined;
  const header = jsonObject(parts[0] ?? "");
  if (header === undefined || jsonObject(parts[1] ?? "") === undefined) return undefined;
  const { alg, kid, typ } = header;
  // Extensions that must be understood (RFC 7515 §4.1.11), or that change what is signed (RFC 7797 §3).
  if ("crit" in header || "b64" in header || "enc" in header || "zip" in header) return undefined;
  if (!isAlgorithm(alg) || !isAccessType(typ)) return undefined;
  if (kid === undefined) return { algorithm: alg, keyId: undefined };
  if (typeof kid !== "string" || kid.length > keyIdLengthMax) return undefined;
  return { algorithm: alg, keyId: kid };
}

/** No bits behind the last byte, and only lengths that whole bytes have (RFC 4648 §3.5). */
function isCanonical(part: string): boolean {
  const rest = part.length % 4;
  if (rest === 0) return true;
  if (rest === 1) return false;
  const last = alphabet.indexOf(part.charAt(part.length - 1));
  return (last & (rest === 2 ? 0b1111 : 0b11)) === 0;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function isAlgorithm(alg: unknown): alg is TokenAlgorithm {
  return tokenAlgorithms.some((known) => known === alg);
}

/** Tokens of other kinds say so: `logout+jwt`, `dpop+jwt` (RFC 9068 §2.1, RFC 8725 §3.11). */
function isAccessType(typ: unknown): boolean {
  if (typ === undefined) return true;
  if (typeof typ !== "string") return false;
  return /^(application\/)?(jwt|at\+jwt)$/i.test(typ);
}

function jsonObject(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = utf8.decode(Buffer.from(part, "base64url"));
    const value = JSON.parse(text) as unknown;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** `ignoreBOM` keeps a byte order mark, so that the text is no JSON. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
