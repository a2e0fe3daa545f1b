/**
 * Authenticated encryption for handles and session tokens (`core/handle/seal.ts` says what is sealed in a handle).
 *
 * Each nonce is random, because several processes may seal under one key: with a counter two of them would use
 * the same one.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
} from "node:crypto";
import { userMarkBytes, type Sealer } from "@gateway/core/handle/seal.ts";
import type { Host } from "@gateway/core/port/host.ts";

const cipherName = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Bytes of a key. */
export const sealKeyBytes = 32;

/** A longer text is refused unread: nothing that is sealed here has a kilobyte. */
const sealedLengthMax = 2_048;

/** AES-256-GCM under `keyMaterial`, which has `sealKeyBytes`. `bound` is authenticated and not part of the text. */
export function randomSealer(keyMaterial: Uint8Array, host: Pick<Host, "randomBytes">): Sealer {
  const key = createSecretKey(keyMaterial);
  return {
    seal: (plain, bound) => {
      const nonce = host.randomBytes(nonceBytes);
      const cipher = createCipheriv(cipherName, key, nonce);
      cipher.setAAD(Buffer.from(bound));
      const text = [nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(text).toString("base64url");
    },
    open: (sealed, bound) => {
      if (sealed.length > sealedLengthMax) return undefined;
      const bytes = Buffer.from(sealed, "base64url");
      // One handle has one text: a lenient reader would take several for it.
      if (bytes.length < nonceBytes + tagBytes || bytes.toString("base64url") !== sealed) {
        return undefined;
      }
      return opened(bytes, key, bound);
    },
  };
}

function opened(bytes: Buffer, key: KeyObject, bound: string): Uint8Array | undefined {
  const tagAt = bytes.length - tagBytes;
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv(cipherName, key, bytes.subarray(0, nonceBytes), options);
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(bytes.subarray(tagAt));
  const plain = decipher.update(bytes.subarray(nonceBytes, tagAt));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

/** A digest of the user's name, `userMarkBytes` long: it tells nobody who that is, and a long name makes no long handle. */
export function userMark(user: string): Buffer {
  return createHash("sha256").update(user).digest().subarray(0, userMarkBytes);
}
