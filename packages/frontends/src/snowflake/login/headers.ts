/** What the headers of a request say: the session's token, and what routers may look at. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";

/** Headers as the HTTP parser hands them over: lower-case names, repeated ones joined or dropped. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** These decide who is asking or what is meant, so each comes once or not at all. */
const once: ReadonlySet<string> = new Set([
  "authorization",
  "host",
  "origin",
  "content-type",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "x-snowflake-authorization-token-type",
]);

/** Refuses a request whose headers can be read in two ways. `rawHeaders` is names and values in turn, as sent. */
export function checkHeaders(rawHeaders: readonly string[]): Result<void, GatewayError> {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    const value = (rawHeaders[index + 1] ?? "").toLowerCase();
    if (once.has(name) && seen.has(name)) return err(violation(`the header ${name} came twice`));
    if (name === "connection" && value.includes("authorization")) {
      return err(violation("the Connection header names a header that must arrive"));
    }
    seen.add(name);
  }
  return ok(undefined);
}

/** The token of `Authorization: Snowflake Token="…"`; undefined where there is none of that form. */
export function sessionToken({ authorization }: RequestHeaders): string | undefined {
  if (typeof authorization !== "string") return undefined;
  return /^Snowflake\s+Token="([\w.~-]{1,512})"$/i.exec(authorization)?.[1];
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
