/**
 * Seals bytes under a key derived from the fleet secret: AES-256-GCM, the key by HKDF with a random
 * salt. It is for what leaves the process and only holders of the secret may read: files of the
 * state folder, and answers to peers.
 *
 * Layout: `GWS1`, key id (8), salt (32), nonce (12), ciphertext, tag (16). All that stands before
 * the ciphertext is authenticated, and so is `context`, which is not in the bytes.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";

/** What is sealed; each purpose has keys of its own. */
export type SealPurpose = "last good" | "history spool" | "instance" | "peer answer";

export type SealFault =
  /** Not written by `seal`, or cut short. */
  | "malformed"
  /** Sealed under a secret that we do not have. */
  | "keyUnknown"
  /** Changed, or sealed for another context. */
  | "notAuthentic";

export interface Opened {
  readonly bytes: Uint8Array;
  /** Place of the secret in the list that it was opened with. */
  readonly secretIndex: number;
}

const magic = Buffer.from("GWS1", "latin1");
const [keyIdBytes, saltBytes, nonceBytes, tagBytes] = [8, 32, 12, 16];
const saltAt = magic.length + keyIdBytes;
const nonceAt = saltAt + saltBytes;
const headBytes = nonceAt + nonceBytes;

/** Bytes that sealing adds. */
export const sealOverhead = headBytes + tagBytes;

export function seal(
  bytes: Uint8Array,
  secret: Secret,
  { purpose, context }: { readonly purpose: SealPurpose; readonly context: string },
  host: Pick<Host, "randomBytes">,
): Uint8Array {
  const salt = host.randomBytes(saltBytes);
  const nonce = host.randomBytes(nonceBytes);
  const head = Buffer.concat([magic, keyIdOf(secret, purpose), salt, nonce]);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret, purpose, salt), nonce);
  cipher.setAAD(boundTo(head, context));
  const text = [cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([head, ...text]);
}

/** Opens with whichever of `secrets` it was sealed under. Never throws. */
export function unseal(
  sealed: Uint8Array,
  secrets: readonly Secret[],
  { purpose, context }: { readonly purpose: SealPurpose; readonly context: string },
): Result<Opened, SealFault> {
  if (sealed.length < sealOverhead) return err("malformed");
  if (Buffer.compare(sealed.subarray(0, magic.length), magic) !== 0) return err("malformed");
  const keyId = sealed.subarray(magic.length, saltAt);
  const secretIndex = secrets.findIndex(
    (secret) => Buffer.compare(keyIdOf(secret, purpose), keyId) === 0,
  );
  const secret = secrets[secretIndex];
  if (secret === undefined) return err("keyUnknown");
  const key = keyOf(secret, purpose, sealed.subarray(saltAt, nonceAt));
  const nonce = sealed.subarray(nonceAt, headBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(boundTo(sealed.subarray(0, headBytes), context));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  try {
    const text = decipher.update(sealed.subarray(headBytes, sealed.length - tagBytes));
    return ok({ bytes: Buffer.concat([text, decipher.final()]), secretIndex });
  } catch {
    // The tag does not fit: node:crypto only says so by throwing.
    return err("notAuthentic");
  }
}

function keyOf(secret: Secret, purpose: SealPurpose, salt: Uint8Array): Uint8Array {
  const info = `gateway worker ${purpose} v1`;
  return new Uint8Array(hkdfSync("sha256", secret.reveal(), salt, info, 32));
}

/** Derived separately from the key, so it tells nothing about it. */
function keyIdOf(secret: Secret, purpose: SealPurpose): Uint8Array {
  const info = `gateway worker ${purpose} key id v1`;
  return new Uint8Array(hkdfSync("sha256", secret.reveal(), "", info, keyIdBytes));
}

function boundTo(head: Uint8Array, context: string): Uint8Array {
  return Buffer.concat([head, Buffer.from(context, "utf8")]);
}
