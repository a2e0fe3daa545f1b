/** Tokens of sessions: what they look like, and how they lead to the gateway that made them. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Host } from "@gateway/core/port/host.ts";

const secretBytes = 32;
const separator = ".";

/** A new token: the mark of this gateway, so that others of the fleet find it, and a secret. */
export function newToken(mark: string, { randomBytes }: Pick<Host, "randomBytes">): string {
  return `${mark}${separator}${Buffer.from(randomBytes(secretBytes)).toString("base64url")}`;
}

/** Whose token a request shows: the mark in front of it; undefined where it shows none. */
export function markIn({ authorization }: IncomingHttpHeaders): string | undefined {
  return /^Snowflake\s+Token="([\w-]{1,200})\./i.exec(authorization ?? "")?.[1];
}

/** What is kept in the place of a token: who reads memory or compares times learns none. */
export function tokenDigest(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
