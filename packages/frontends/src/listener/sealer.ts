/**
 * Authenticated encryption of handles and tokens that clients bring back (`core/handle/seal.ts` says what is sealed in a
 * handle), for listeners that give some out.
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
/** Bytes of a key. */
export const sealKeyBytes = 32;
const nonceBytes = 12;
const countBytes = 6;
const tagBytes = 16;

/** A longer text is refused unread: nothing that is sealed here has a kilobyte. */
const sealedLengthMax = 2_048;

/** AES-256-GCM under a key that nobody else has. The nonce is a counter, so no two texts under one key share it. */
export function sealerOf(keyMaterial: Uint8Array): Sealer {
  let count = 0;
  return sealerWith(keyMaterial, () => {
    count += 1;
    const nonce = Buffer.alloc(nonceBytes);
    nonce.writeUIntBE(count, nonceBytes - countBytes, countBytes);
    return nonce;
  });
}

/** The same under a key that several processes have. Each nonce is random: with counters two of them would use the same one. */
export function randomSealer(
  keyMaterial: Uint8Array,
  { randomBytes }: Pick<Host, "randomBytes">,
): Sealer {
  return sealerWith(keyMaterial, () => randomBytes(nonceBytes));
}

/**
 * For what any process of a fleet opens: it seals under the fleet's key for `purpose`, and opens what was sealed under
 * one before as well. A process that is alone has a key of its own.
 */
export function fleetSealer(
  host: Pick<Host, "randomBytes" | "fleetKeys">,
  purpose: string,
): Sealer {
  const [current = host.randomBytes(sealKeyBytes), ...older] = host.fleetKeys?.(purpose) ?? [];
  const all = [current, ...older].map((key) => randomSealer(key, host));
  return {
    seal: (plain, bound) => (all[0] as Sealer).seal(plain, bound),
    open: (sealed, bound) => {
      for (const sealer of all) {
        const plain = sealer.open(sealed, bound);
        if (plain !== undefined) return plain;
      }
      return undefined;
    },
  };
}

/** `bound` is authenticated and not part of the text. */
function sealerWith(keyMaterial: Uint8Array, newNonce: () => Uint8Array): Sealer {
  const key = createSecretKey(keyMaterial);
  return {
    seal: (plain, bound) => {
      const nonce = newNonce();
      const cipher = createCipheriv(cipherName, key, nonce);
      cipher.setAAD(Buffer.from(bound));
      const sealed = Buffer.alloc(nonceBytes + plain.length + tagBytes);
      sealed.set(nonce);
      sealed.set(cipher.update(plain), nonceBytes);
      cipher.final();
      sealed.set(cipher.getAuthTag(), nonceBytes + plain.length);
      return sealed.toString("base64url");
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

/** A digest of a user's name, `userMarkBytes` long: it tells nobody who that is, and a long name makes no long handle. */
export function userMarkOf(user: string): Buffer {
  return createHash("sha256").update(user).digest().subarray(0, userMarkBytes);
}
