/**
 * Marks: what stands in a link for the gateway that made it. An instance, which nobody has to keep secret, and
 * the address at which the fleet reaches it, sealed under the fleet's key. So no client can have a request
 * sent anywhere, and no list of gateways is kept: a link says by itself where it leads.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { markLengthMax } from "@gateway/frontends/listener/elsewhere.ts";
import { markKey } from "./keys.ts";

const cipherName = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
/** Between the two parts; an instance has letters and digits only. */
const separator = "-";
/** Marks whose address is known; each is an instance that lives or lived. */
const knownMax = 4_096;

/** Longest `host:port` that a mark has room for. */
export const addressLengthMax = 100;

export interface Marks {
  /** The mark of an instance at `address`, `host:port`. */
  make(instance: string, address: string): string;
  /** The address in a mark; undefined for one that the fleet did not make. */
  addressIn(mark: string): string | undefined;
}

/** Seals under the first secret, and opens what was sealed under any. */
export function marksOf(
  secrets: readonly [Secret, ...Secret[]],
  { randomBytes }: Pick<Host, "randomBytes">,
): Marks {
  const [key, ...older] = secrets.map(markKey) as [Buffer, ...Buffer[]];
  const known = new Map<string, string>();
  return {
    make: (instance, address) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(cipherName, key, nonce);
      cipher.setAAD(Buffer.from(instance));
      const text = [nonce, cipher.update(address, "utf8"), cipher.final(), cipher.getAuthTag()];
      return `${instance}${separator}${Buffer.concat(text).toString("base64url")}`;
    },
    addressIn: (mark) => {
      const found = known.get(mark);
      if (found !== undefined) return found;
      const address = opened(mark, [key, ...older]);
      if (address === undefined) return undefined;
      if (known.size >= knownMax) known.clear();
      known.set(mark, address);
      return address;
    },
  };
}

function opened(mark: string, keys: readonly Buffer[]): string | undefined {
  const at = mark.indexOf(separator);
  if (at < 0 || mark.length > markLengthMax) return undefined;
  const sealed = Buffer.from(mark.slice(at + 1), "base64url");
  if (sealed.length <= nonceBytes + tagBytes) return undefined;
  for (const key of keys) {
    const address = openedWith(sealed, key, mark.slice(0, at));
    if (address !== undefined) return address;
  }
  return undefined;
}

function openedWith(sealed: Buffer, key: Buffer, instance: string): string | undefined {
  const tagAt = sealed.length - tagBytes;
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv(cipherName, key, sealed.subarray(0, nonceBytes), options);
  decipher.setAAD(Buffer.from(instance));
  decipher.setAuthTag(sealed.subarray(tagAt));
  const text = decipher.update(sealed.subarray(nonceBytes, tagAt));
  try {
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    // The tag does not fit: node:crypto only says so by throwing.
    return undefined;
  }
}
