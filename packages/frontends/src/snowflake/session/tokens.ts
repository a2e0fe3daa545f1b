/** Tokens of sessions: what they look like, and how they lead to the gateway that made them. */
import { createHash } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";

const secretBytes = 32;
const separator = ".";

/** A new token: the mark of this gateway, so that others of the fleet find it, and a secret. */
export function newToken(mark: string, { randomBytes }: Pick<Host, "randomBytes">): string {
  return `${mark}${separator}${Buffer.from(randomBytes(secretBytes)).toString("base64url")}`;
}

/** Whose token it is: the mark in front; undefined for a text that is no token. */
export function markIn(token: string): string | undefined {
  const at = token.indexOf(separator);
  return at <= 0 ? undefined : token.slice(0, at);
}

/** What is kept in the place of a token: who reads memory or compares times learns none. */
export function tokenDigest(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
