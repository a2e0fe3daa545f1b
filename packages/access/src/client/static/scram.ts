/**
 * SCRAM-SHA-256 on the server's side (RFC 5802, RFC 7677): verifiers, challenges, and the check of a proof.
 * The frontend sends and reads the messages.
 *
 * A verifier tells its holder neither the password nor enough to log in. It is written as
 * PostgreSQL writes it into `pg_authid`.
 */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { ScramChallenge } from "@gateway/core/port/authenticator.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { saslPrepared } from "./saslPrep.ts";

/** As PostgreSQL 16; RFC 7677 §4 asks for at least 4096. */
const iterationsOfNew = 4096;
/** As in PostgreSQL; nobody may tell fake challenges from real ones. */
const saltBytes = 16;
const keyBytes = 32;

/** A verifier, read. */
export interface ScramVerifier extends ScramChallenge {
  readonly storedKey: Uint8Array;
  readonly serverKey: Uint8Array;
}

/** `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`, the last three in base64. */
const verifierPattern =
  /^SCRAM-SHA-256\$([1-9]\d{0,8}):([A-Za-z0-9+/]{4,}={0,2})\$([A-Za-z0-9+/]{43}=):([A-Za-z0-9+/]{43}=)$/;

/** Reads a verifier that the config's schema let through. */
export function readVerifier(text: string): ScramVerifier | undefined {
  const match = verifierPattern.exec(text);
  if (match === null) return undefined;
  const [, iterations, salt = "", storedKey = "", serverKey = ""] = match;
  return {
    iterations: Number(iterations),
    salt: Buffer.from(salt, "base64"),
    storedKey: Buffer.from(storedKey, "base64"),
    serverKey: Buffer.from(serverKey, "base64"),
  };
}

const derive = promisify(pbkdf2);

/** A verifier of a password with a fresh salt, for the config. */
export async function newVerifier(password: string): Promise<Result<string, "empty">> {
  if (password === "") return err("empty");
  const salt = randomBytes(saltBytes);
  const salted = await derive(saslPrepared(password), salt, iterationsOfNew, keyBytes, "sha256");
  const storedKey = sha256(hmac(salted, "Client Key"));
  const serverKey = hmac(salted, "Server Key");
  const [saltText, stored, server] = [salt, storedKey, serverKey].map((bytes) =>
    bytes.toString("base64"),
  );
  return ok(`SCRAM-SHA-256$${iterationsOfNew}:${saltText}$${stored}:${server}`);
}

/** The server's signature when the proof is right, otherwise undefined. Takes the same time for both. */
export function checkProof(
  { storedKey, serverKey }: ScramVerifier,
  authMessage: string,
  clientProof: Uint8Array,
): Uint8Array | undefined {
  const signature = hmac(storedKey, authMessage);
  const clientKey = signature.map((byte, index) => byte ^ (clientProof[index] ?? 0));
  const right = timingSafeEqual(sha256(clientKey), storedKey);
  const serverSignature = hmac(serverKey, authMessage);
  return right && clientProof.length === keyBytes ? serverSignature : undefined;
}

/**
 * A verifier that no password matches: the same for a name as long as `key` is the same. It looks like
 * one of `real`.
 */
export function fakeVerifier(
  key: Uint8Array,
  user: string,
  real: readonly ScramVerifier[],
): ScramVerifier {
  const part = (what: string): Buffer => hmac(key, `${what}:${user}`);
  const like = real[Math.floor(shareOf(key, `like:${user}`) * real.length)];
  return {
    iterations: like?.iterations ?? iterationsOfNew,
    salt: part("salt").subarray(0, like?.salt.length ?? saltBytes),
    storedKey: part("stored"),
    serverKey: part("server"),
  };
}

/** A number in [0, 1) that belongs to the name. */
export function shareOf(key: Uint8Array, user: string): number {
  return hmac(key, `share:${user}`).readUInt32BE(0) / 2 ** 32;
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text, "utf8").digest();
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
