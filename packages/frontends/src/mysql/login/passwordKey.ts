/**
 * The RSA key that clients without TLS encrypt their password with (`caching_sha2_password`).
 *
 * Each listener makes one key in the background when it opens, and never stores it. The client masks the
 * password by the challenge before it encrypts it, so a recorded answer is useless on another connection.
 * Making a key and opening a password run on the runtime's thread pool.
 */
import { webcrypto } from "node:crypto";

const modulusBits = 2048;
/** Length of an encrypted password. */
export const ciphertextBytes = modulusBits / 8;
const algorithm = {
  name: "RSA-OAEP",
  hash: "SHA-1",
  modulusLength: modulusBits,
  publicExponent: Uint8Array.of(1, 0, 1),
};

export interface PasswordKey {
  /** PEM text, as clients expect it. */
  readonly publicPem: string;
  /** The password of an answer, or undefined when it was not made with this key and challenge. */
  open(ciphertext: Uint8Array, nonce: Uint8Array): Promise<string | undefined>;
}

/** Makes a key; some hundred milliseconds on another thread. */
export async function makePasswordKey(): Promise<PasswordKey> {
  const { subtle } = webcrypto;
  const pair = await subtle.generateKey(algorithm, false, ["encrypt", "decrypt"]);
  const spki = Buffer.from(await subtle.exportKey("spki", pair.publicKey));
  const lines = spki.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    publicPem: `-----BEGIN PUBLIC KEY-----\n${lines.join("\n")}\n-----END PUBLIC KEY-----\n`,
    open: (ciphertext, nonce) => openPassword(pair.privateKey, ciphertext, nonce),
  };
}

async function openPassword(
  key: webcrypto.CryptoKey,
  ciphertext: Uint8Array,
  nonce: Uint8Array,
): Promise<string | undefined> {
  if (ciphertext.length !== ciphertextBytes) return undefined;
  try {
    const masked = new Uint8Array(await webcrypto.subtle.decrypt(algorithm.name, key, ciphertext));
    return passwordText(masked.map((byte, index) => byte ^ (nonce[index % nonce.length] ?? 0)));
  } catch {
    // Encrypted with another key: no better than a wrong password.
    return undefined;
  }
}

/** A password as it arrives in clear: text that ends with one NUL. Undefined when it is no such text. */
export function passwordText(bytes: Uint8Array): string | undefined {
  if (bytes.at(-1) !== 0) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, -1));
  } catch {
    return undefined;
  }
}
