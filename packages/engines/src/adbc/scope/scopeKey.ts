/**
 * Keys of scopes: what tells connections apart that may never be mixed up.
 *
 * Each part has its kind and its length in front, so that no two lists of parts make one text. A secret
 * is in a key as a keyed hash only: a key can be looked at, compared and logged, and says nothing.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Secret } from "@gateway/core/secret.ts";

/** A part of a key. Absent is another thing than empty. */
export type KeyPart = string | Secret | undefined;

/** Of this process only, so that a hash can not be compared with one from anywhere else. */
const processKey = randomBytes(32);

/** The key of a list of parts. */
export function scopeKey(parts: readonly KeyPart[]): string {
  let key = "";
  for (const part of parts) {
    if (part === undefined) key += "-";
    else if (typeof part === "string") key += `t${part.length}:${part}`;
    else key += `s${createHmac("sha256", processKey).update(part.reveal()).digest("base64")}`;
  }
  return key;
}
