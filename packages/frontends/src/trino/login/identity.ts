/**
 * Who a request says it is. Nothing here is believed: the door verifies, and what a header claims
 * beside a credential is only compared.
 *
 * Two readers of one request must not see two names, so every spelling that a proxy or a server may
 * read differently is refused: identity headers that come twice, names with underscores, the older
 * `X-Presto-` names, and a `Connection` header that asks a proxy to drop one of them.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Presented } from "@gateway/core/port/authenticator.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { requestHeader } from "@gateway/wire/trino/headers.ts";

/** Headers as the HTTP parser hands them over: lower-case names, repeated ones joined or dropped. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** These decide who is asking or where links point, so each comes once or not at all. */
const once: ReadonlySet<string> = new Set([
  "authorization",
  "host",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  requestHeader.user,
  requestHeader.originalUser,
  requestHeader.catalog,
  requestHeader.schema,
  requestHeader.transactionId,
]);

/** Refuses a request whose headers can be read in two ways. `rawHeaders` is names and values in turn, as sent. */
export function checkHeaders(rawHeaders: readonly string[]): Result<void, GatewayError> {
  let seen = "";
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    const reason = complaint(name, rawHeaders[index + 1] ?? "", seen);
    if (reason !== undefined) return err(violation(reason));
    if (once.has(name)) seen += `${name}\n`;
  }
  return ok(undefined);
}

function complaint(name: string, value: string, seen: string): string | undefined {
  if (once.has(name)) {
    return seen.includes(`${name}\n`) ? `the header ${name} came twice` : undefined;
  }
  if (name.startsWith("x-presto-")) return "X-Presto- headers are not supported; use X-Trino-";
  if (name.includes("_") && /^x[_-]trino[_-]/.test(name)) {
    return "header names are written with hyphens";
  }
  if (name === "connection" && value.toLowerCase().includes("x-trino-")) {
    return "the Connection header names an X-Trino- header";
  }
  return undefined;
}

/**
 * What the request shows: its `Authorization`, otherwise the names of its connection's certificate. A
 * malformed `Authorization` is refused as a wrong one, also beside a certificate.
 */
export function presentedBy(
  headers: RequestHeaders,
  certificateNames: readonly string[] = [],
): Result<Presented, GatewayError> {
  const claimed = claimedUser(headers);
  const authorization = single(headers["authorization"]);
  if (authorization === undefined) {
    return certificateNames.length === 0
      ? ok({ kind: "nothing", user: claimed, asked: false })
      : ok({ kind: "certificate", user: claimed, names: certificateNames });
  }
  const space = authorization.indexOf(" ");
  const scheme = authorization.slice(0, space).toLowerCase();
  const shown = authorization.slice(space + 1).trim();
  if (space < 0 || shown === "") return err(gatewayError("auth.refused"));
  if (scheme === "bearer") {
    return ok({ kind: "bearer", token: new Secret(shown), claimedUser: claimed });
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

/** The name in `X-Trino-User`; empty counts as absent, as it does for Trino. */
export function claimedUser(headers: RequestHeaders): string | undefined {
  const value = single(headers[requestHeader.user])?.trim();
  return value === "" ? undefined : value;
}

/** True when a verified name and the one in `X-Trino-User` contradict each other. Only a credential verifies: without one the header is the name, or nothing. */
export function claimsAnother(
  headers: RequestHeaders,
  presented: Presented,
  identity: AuthContext,
): boolean {
  if (presented.kind === "nothing") return false;
  const claimed = claimedUser(headers);
  return claimed !== undefined && claimed !== identity.user;
}

/** A header that comes once; several values joined are still one text. */
export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

function violation(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}
