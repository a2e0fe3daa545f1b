/**
 * The session cookie: 32 random bytes, of which the store has only the hash.
 *
 * `__Host-` where the request came over TLS: no other host and no page in clear text can then set it
 * (RFC 6265bis §4.1.3.2).
 */
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";

/** Not seen for this long, a session ends. */
export const sessionIdleMs = 30 * 60_000;
/** However busy, it ends after this. */
export const sessionAgeMsMax = 12 * 3_600_000;

const pattern = /^[A-Za-z0-9_-]{43}$/;

/** The cookie's value; undefined when there is none of ours. */
export function sessionCookie(c: Context, secure: boolean): string | undefined {
  const value = getCookie(c, nameFor(secure));
  return value !== undefined && pattern.test(value) ? value : undefined;
}

export function setSessionCookie(c: Context, value: string, secure: boolean): void {
  setCookie(c, nameFor(secure), value, {
    path: "/",
    httpOnly: true,
    sameSite: "Strict",
    secure,
    maxAge: sessionAgeMsMax / 1_000,
  });
}

export function clearSessionCookie(c: Context, secure: boolean): void {
  setCookie(c, nameFor(secure), "", {
    path: "/",
    httpOnly: true,
    sameSite: "Strict",
    secure,
    maxAge: 0,
  });
}

function nameFor(secure: boolean): string {
  return secure ? "__Host-gateway-session" : "gateway-session";
}
