/**
 * Keys that every process with the same fleet secret derives alike, so that what one sealed another opens.
 *
 * They are for what travels through clients, such as session tokens. What lies on disk or goes to peers has keys of
 * its own (worker/state/sealing.ts).
 */
import { hkdfSync } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";
import type { Secret } from "@gateway/core/secret.ts";

const keyBytes = 32;

/** `secrets`: the current one first, then the one before while it is changed. Undefined where there is no fleet. */
export function fleetKeysOf(secrets: readonly Secret[]): Host["fleetKeys"] {
  if (secrets.length === 0) return undefined;
  return (purpose) => secrets.map((secret) => keyOf(secret, purpose));
}

function keyOf(secret: Secret, purpose: string): Uint8Array {
  const info = `gateway fleet ${purpose} v1`;
  return new Uint8Array(hkdfSync("sha256", secret.reveal(), "", info, keyBytes));
}
