/** Authenticated encryption of handles and tokens that clients bring back, for listeners that give some out. */
import { createCipheriv, createDecipheriv, createHash, createSecretKey } from "node:crypto";
import { userMarkBytes, type Sealer } from "@gateway/core/handle/seal.ts";

const cipherName = "aes-256-gcm";
/** Bytes of a key. */
export const sealKeyBytes = 32;
const nonceBytes = 12;
const countBytes = 6;
const tagBytes = 16;

/** AES-GCM under a key that nobody else has. The nonce is a counter, so no two texts under one key share it. */
export function sealerOf(keyMaterial: Uint8Array): Sealer {
  const key = createSecretKey(keyMaterial);
  let count = 0;
  return {
    seal: (plain, bound) => {
      count += 1;
      const sealed = Buffer.alloc(nonceBytes + plain.length + tagBytes);
      sealed.writeUIntBE(count, nonceBytes - countBytes, countBytes);
      const cipher = createCipheriv(cipherName, key, sealed.subarray(0, nonceBytes));
      cipher.setAAD(Buffer.from(bound));
      sealed.set(cipher.update(plain), nonceBytes);
      cipher.final();
      sealed.set(cipher.getAuthTag(), nonceBytes + plain.length);
      return sealed.toString("base64url");
    },
    open: (sealed, bound) => {
      const bytes = Buffer.from(sealed, "base64url");
      // One handle has one text: a lenient reader would take several for it.
      if (bytes.length < nonceBytes + tagBytes || bytes.toString("base64url") !== sealed) {
        return undefined;
      }
      const tagAt = bytes.length - tagBytes;
      const nonce = bytes.subarray(0, nonceBytes);
      const decipher = createDecipheriv(cipherName, key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(bound));
      decipher.setAuthTag(bytes.subarray(tagAt));
      const plain = decipher.update(bytes.subarray(nonceBytes, tagAt));
      try {
        decipher.final();
        return plain;
      } catch {
        return undefined;
      }
    },
  };
}

/** A digest of a user's name, by which a handle is bound to it. */
export function userMarkOf(user: string): Uint8Array {
  return createHash("sha256").update(user).digest().subarray(0, userMarkBytes);
}
