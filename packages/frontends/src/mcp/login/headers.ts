/**
 * Who a request says it is. Nothing here is believed: the door verifies.
 *
 * Two readers of one request must not see two names, so identity headers that come twice are refused, and so is
 * a `Connection` header that asks a proxy to drop one of ours.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Presented } from "@gateway/core/port/authenticator.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";

/** Headers as the HTTP parser hands them over: lower-case names, repeated ones joined or dropped. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export const sessionHeader = "mcp-session-id";
export const versionHeader = "mcp-protocol-version";

/** These decide who is asking or what is meant, so each comes once or not at all. */
const once: ReadonlySet<string> = new Set([
  "authorization",
  "host",
  "origin",
  "content-type",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  sessionHeader,
  versionHeader,
]);

/** Refuses a request whose headers can be read in two ways. `rawHeaders` is names and values in turn, as sent. */
export function checkHeaders(rawHeaders: readonly string[]): Result<void, GatewayError> {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    const value = (rawHeaders[index + 1] ?? "").toLowerCase();
    if (once.has(name) && seen.has(name)) return err(violation(`the header ${name} came twice`));
    if (name === "connection" && (value.includes("mcp-") || value.includes("authorization"))) {
      return err(violation("the Connection header names a header that must arrive"));
    }
    seen.add(name);
  }
  return ok(undefined);
}

/**
 * What the request shows: its `Authorization`, otherwise the names of its connection's certificate. A malformed
 * `Authorization` is refused as a wrong one, also beside a certificate.
 */
export function presentedBy(
  headers: RequestHeaders,
  certificateNames: readonly string[] = [],
): Result<Presented, GatewayError> {
  const authorization = single(headers["authorization"]);
  if (authorization === undefined) {
    return certificateNames.length === 0
      ? ok({ kind: "nothing", user: undefined, asked: false })
      : ok({ kind: "certificate", user: undefined, names: certificateNames });
  }
  const space = authorization.indexOf(" ");
  const scheme = authorization.slice(0, space).toLowerCase();
  const shown = authorization.slice(space + 1).trim();
  if (space < 0 || shown === "") return err(gatewayError("auth.refused"));
  if (scheme === "bearer") {
    return ok({ kind: "bearer", token: new Secret(shown), claimedUser: undefined });
  }
  return scheme === "basic" ? basic(shown) : err(gatewayError("auth.refused"));
}

function basic(shown: string): Result<Presented, GatewayError> {
  if (!/^[A-Za-z0-9+/]+=*$/.test(shown)) return err(gatewayError("auth.refused"));
  const text = Buffer.from(shown, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon <= 0) return err(gatewayError("auth.refused"));
  const password = new Secret(text.slice(colon + 1));
  return ok({ kind: "password", user: text.slice(0, colon), password });
}

/** A header that comes once; several values joined are still one text. */
export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Credentials and cookies are for the authenticator, not for routers. */
const hiddenHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  sessionHeader,
]);

/** What routers may look at. */
export function visibleHeaders(headers: RequestHeaders): ReadonlyMap<string, string> {
  const visible = new Map<string, string>();
  for (const name in headers) {
    const value = single(headers[name]);
    if (value !== undefined && !hiddenHeaders.has(name)) visible.set(name, value);
  }
  return visible;
}

function violation(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}
