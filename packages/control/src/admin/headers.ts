/**
 * Headers about versions: `If-Match` and `If-None-Match` of writes (RFC 9110 §13.1), and how old an answer is.
 *
 * A version is a strong ETag of digits. `If-Match: *` is refused: it says "whatever is there", which is
 * the lost update that the header is for.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Context } from "hono";
import type { Expected } from "../config/configuration.ts";
import type { ControlDeps } from "../deps.ts";
import { badRequest, refuse } from "./refuse.ts";

/** The ETag of a version. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/** What the writer believes is there; a response when it does not say, or not in a way we read. */
export function expectedOf(c: Context, may: "create" | "change"): Result<Expected, Response> {
  const match = c.req.header("if-match");
  const noneMatch = c.req.header("if-none-match");
  if (match !== undefined && noneMatch !== undefined) {
    return err(badRequest("If-Match and If-None-Match exclude each other."));
  }
  if (match !== undefined) return versionOf(match);
  if (noneMatch === undefined || may === "change") return err(required(may));
  return noneMatch.trim() === "*" ? ok("absent") : err(badRequest("If-None-Match must be *."));
}

/** The version alone, where a write can not create. */
export function expectedVersion(c: Context): Result<number, Response> {
  const expected = expectedOf(c, "change");
  if (!expected.ok) return expected;
  return expected.value === "absent" ? err(required("change")) : ok(expected.value.version);
}

/**
 * Says how old the configuration in an answer is. Reads are answered from memory, also when the
 * database is down or a build failed; whoever decides by them must see that. `/admin/status` has the reason.
 */
export function freshnessHeaders({ config, clock }: ControlDeps): Readonly<Record<string, string>> {
  const { confirmedAt, problem } = config.freshness();
  const ageSecs = Math.max(0, Math.floor((clock.unixMs() - confirmedAt) / 1_000));
  const stale = problem === undefined ? {} : { warning: '110 - "Response is Stale"' };
  return { "gateway-config-age": String(ageSecs), ...stale };
}

function versionOf(match: string): Result<Expected, Response> {
  const digits = /^"(\d{1,15})"$/.exec(match.trim())?.[1];
  return digits === undefined
    ? err(badRequest('If-Match must be one ETag as it was answered, like "3".'))
    : ok({ version: Number(digits) });
}

function required(may: "create" | "change"): Response {
  const create = may === "create" ? ", or If-None-Match: * to create it" : "";
  const detail = `Send If-Match with the ETag that you read${create}.`;
  return refuse(428, { code: "preconditionRequired", detail });
}
