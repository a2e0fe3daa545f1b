/**
 * What gateways of one fleet prove to each other with: keys made from the fleet secret, which itself is never
 * sent. TLS takes one as a pre-shared key, so both ends are proven and every byte is encrypted without a
 * certificate. An ephemeral exchange beside it keeps old traffic closed when the secret gets known.
 */
import { hkdfSync } from "node:crypto";
import type { TlsOptions } from "node:tls";
import type { Secret } from "@gateway/core/secret.ts";

const keyBytes = 32;
const idBytes = 8;

/** For `node:tls` on both sides. TLS 1.3 has no cipher that Node takes a key for. */
export const relayTls = {
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
} as const satisfies TlsOptions;

/** A key and the name it is asked for by, which tells nothing about it. */
export interface RelayKey {
  readonly identity: string;
  readonly psk: Buffer;
}

/** The key of a connection. */
export function relayKey(secret: Secret): RelayKey {
  const id = derived(secret, "connection id", idBytes);
  return { identity: `gateway-relay-1-${id.toString("hex")}`, psk: derived(secret, "connection") };
}

/** The key under which addresses stand in links. */
export function markKey(secret: Secret): Buffer {
  return derived(secret, "mark");
}

function derived(secret: Secret, purpose: string, length = keyBytes): Buffer {
  return Buffer.from(
    hkdfSync("sha256", secret.reveal(), "", `gateway relay ${purpose} v1`, length),
  );
}
