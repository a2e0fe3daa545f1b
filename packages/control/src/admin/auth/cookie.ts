/**
 * The session cookie: 32 random bytes, of which the store has only the hash.
 *
 * `__Host-` where the request came over TLS: no other host and no page in clear text can then set it
 * (RFC 6265bis §4.1.3.2).
 */
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { z } from "zod";

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

/** What a browser brings back from an identity provider, beside the provider's answer. */
export interface KeptSignOn {
  /** Of the provider's making. */
  readonly kept: string;
  /** The page of the console to go on with. */
  readonly returnTo: string;
}

const signOnSecs = 600;
const keptSchema = z.strictObject({ kept: z.string().max(1_024), returnTo: z.string().max(1_024) });

/** Lax: the provider's answer is a navigation from its site. */
export function keepSignOn(c: Context, kept: KeptSignOn, secure: boolean): void {
  const value = Buffer.from(JSON.stringify(kept), "utf8").toString("base64url");
  const options = { path: "/", httpOnly: true, sameSite: "Lax", secure } as const;
  setCookie(c, signOnNameFor(secure), value, { ...options, maxAge: signOnSecs });
}

/** Takes it away: an answer of the provider counts once. */
export function keptSignOn(c: Context, secure: boolean): KeptSignOn | undefined {
  const value = getCookie(c, signOnNameFor(secure));
  const options = { path: "/", httpOnly: true, sameSite: "Lax", secure } as const;
  setCookie(c, signOnNameFor(secure), "", { ...options, maxAge: 0 });
  if (value === undefined) return undefined;
  try {
    const text = Buffer.from(value, "base64url").toString("utf8");
    return keptSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function nameFor(secure: boolean): string {
  return secure ? "__Host-gateway-session" : "gateway-session";
}

function signOnNameFor(secure: boolean): string {
  return secure ? "__Host-gateway-sign-on" : "gateway-sign-on";
}
