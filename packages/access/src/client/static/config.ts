/** What the config says of public keys: how they are read, and which names are one in a token. */
import { createPublicKey, type KeyObject } from "node:crypto";

const modulusBitsMin = 2_048;
const modulusBitsMax = 8_192;

/** A public key as the config has it: PEM, or its base64 alone as `ALTER USER … SET RSA_PUBLIC_KEY` takes it. */
export function readPublicKey(text: string): KeyObject | undefined {
  const body = text
    .trim()
    .replace(/^-----BEGIN PUBLIC KEY-----/, "")
    .replace(/-----END PUBLIC KEY-----$/, "")
    .replaceAll(/\s/g, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(body)) return undefined;
  try {
    const der = Buffer.from(body, "base64");
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    const fits = bits >= modulusBitsMin && bits <= modulusBitsMax;
    return key.asymmetricKeyType === "rsa" && fits ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Drivers write names of accounts and users in capitals. */
export function foldedName(name: string): string {
  return name.toUpperCase();
}
