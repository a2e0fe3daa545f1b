/**
 * Reads the secret that a request presents, and compares secrets in constant time, whatever their
 * lengths: over the SHA-256 of both.
 *
 * It is for secrets with enough entropy (tokens, shared secrets), not for passwords.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { Secret } from "@gateway/core/secret.ts";

/** The bearer token of a request (RFC 6750 §2.1); undefined when there is none. Nothing else in `Authorization` counts. */
export function bearerOf(request: Request): string | undefined {
  // A shared secret is whatever the operator wrote, so more than the token68 alphabet is taken.
  return /^bearer +(\S.*)$/i.exec(request.headers.get("authorization")?.trim() ?? "")?.[1];
}

/** SHA-256 of the text's UTF-8, as lower-case hex: what is kept of a token. */
export function tokenHashOf(token: string): string {
  return hash("sha256", token, "hex");
}

/** True when both texts are the same. */
export function sameSecret(presented: string, expected: string): boolean {
  return timingSafeEqual(digestOf(presented), digestOf(expected));
}

/**
 * Finds a presented secret in a list: its index, or undefined. Every entry is compared each time, so
 * that the time does not tell which one fitted.
 */
export function secretFinder(
  secrets: readonly Secret[],
): (presented: string) => number | undefined {
  const digests = secrets.map((secret) => digestOf(secret.reveal()));
  return (presented) => {
    const digest = digestOf(presented);
    const fits = digests.map((expected) => timingSafeEqual(digest, expected));
    const index = fits.indexOf(true);
    return index === -1 ? undefined : index;
  };
}

function digestOf(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
