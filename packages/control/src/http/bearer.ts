/** The bearer token of a request (RFC 6750 §2.1). Nothing else in `Authorization` is looked at. */

/** Undefined when there is none. */
export function bearerOf(request: Request): string | undefined {
  // A shared secret is whatever the operator wrote, so more than the token68 alphabet is taken.
  return /^bearer +(\S.*)$/i.exec(request.headers.get("authorization")?.trim() ?? "")?.[1];
}
