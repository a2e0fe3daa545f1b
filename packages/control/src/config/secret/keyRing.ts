/**
 * Seals what is secret at rest: AES-256-GCM under keys derived from configured secrets.
 *
 * A ciphertext names its key, so that keys can be changed one after the other, and is bound to the
 * place it was made for: moved to another row or field, it does not open. It hides neither its length
 * nor that it is there.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";

/** Where a ciphertext lives. Source: the caller, from names that the row itself has. */
export interface SealedCell {
  readonly table: string;
  readonly row: string;
  readonly field: string;
}

export type OpenRefusal =
  /** The key is not in the ring: it was taken out before everything was sealed anew. */
  | { readonly code: "keyUnknown"; readonly keyId: string }
  /** Not written by `seal`, or cut. */
  | { readonly code: "malformed" }
  /** Changed, or moved from another place. */
  | { readonly code: "notAuthentic"; readonly keyId: string };

export interface KeyRing {
  /** The key that seals. */
  readonly currentId: string;
  /** Every key that opens, current first, each once. */
  readonly ids: readonly string[];
  seal(bytes: Uint8Array, cell: SealedCell): Uint8Array;
  open(sealed: Uint8Array, cell: SealedCell): Result<Uint8Array, OpenRefusal>;
  /** `v1.<keyId>.<nonce>.<ciphertext>`, the last two in base64url. */
  sealText(text: string, cell: SealedCell): string;
  openText(sealed: string, cell: SealedCell): Result<string, OpenRefusal>;
}

const version = 1;
const keyIdBytes = 8;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + keyIdBytes + nonceBytes;

/**
 * The ring of `secrets`, current first. `randomBytes` makes nonces: from the host, and unpredictable.
 */
export function keyRing(
  secrets: readonly [Secret, ...Secret[]],
  randomBytes: (length: number) => Uint8Array,
): KeyRing {
  const [first, ...others] = secrets;
  const current = keyOf(first);
  const keys = new Map([current, ...others.map(keyOf)].map((key) => [key.id, key]));

  const seal = (bytes: Uint8Array, cell: SealedCell): Uint8Array => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", current.key, nonce);
    cipher.setAAD(boundTo(current.id, cell));
    const text = [cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
    return joined([Uint8Array.of(version), Buffer.from(current.id, "hex"), nonce, ...text]);
  };

  const open = (sealed: Uint8Array, cell: SealedCell): Result<Uint8Array, OpenRefusal> => {
    if (sealed.length < headBytes + tagBytes || sealed[0] !== version) {
      return err({ code: "malformed" });
    }
    const keyId = Buffer.from(sealed.subarray(1, 1 + keyIdBytes)).toString("hex");
    const key = keys.get(keyId);
    if (key === undefined) return err({ code: "keyUnknown", keyId });
    const opened = decrypt(sealed, key, cell);
    return opened === undefined ? err({ code: "notAuthentic", keyId }) : ok(opened);
  };

  return {
    currentId: current.id,
    ids: [...keys.keys()],
    seal,
    open,
    sealText: (text, cell) => textOf(seal(Buffer.from(text, "utf8"), cell)),
    openText: (text, cell) => {
      const sealed = bytesOf(text);
      if (sealed === undefined) return err({ code: "malformed" });
      const opened = open(sealed, cell);
      return opened.ok ? ok(Buffer.from(opened.value).toString("utf8")) : opened;
    },
  };
}

interface Key {
  readonly id: string;
  readonly key: Uint8Array;
}

/** The id is derived beside the key, so it tells nothing about it. */
function keyOf(secret: Secret): Key {
  const derive = (info: string, length: number): Uint8Array =>
    new Uint8Array(hkdfSync("sha256", Buffer.from(secret.reveal(), "utf8"), "", info, length));
  return {
    id: Buffer.from(derive("gateway sealing key id v1", keyIdBytes)).toString("hex"),
    key: derive("gateway sealing key v1", 32),
  };
}

function decrypt(sealed: Uint8Array, key: Key, cell: SealedCell): Uint8Array | undefined {
  const nonce = sealed.subarray(1 + keyIdBytes, headBytes);
  const decipher = createDecipheriv("aes-256-gcm", key.key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(boundTo(key.id, cell));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  try {
    const head = decipher.update(sealed.subarray(headBytes, sealed.length - tagBytes));
    return joined([head, decipher.final()]);
  } catch {
    // The tag does not fit; node:crypto says that by throwing and in no other way.
    return undefined;
  }
}

/** A list in JSON keeps its parts apart whatever is in them. */
function boundTo(keyId: string, { table, row, field }: SealedCell): Uint8Array {
  return Buffer.from(JSON.stringify([version, keyId, table, row, field]), "utf8");
}

function textOf(sealed: Uint8Array): string {
  const part = (from: number, to?: number) => Buffer.from(sealed.subarray(from, to));
  const keyId = part(1, 1 + keyIdBytes).toString("hex");
  const nonce = part(1 + keyIdBytes, headBytes).toString("base64url");
  return `v${version}.${keyId}.${nonce}.${part(headBytes).toString("base64url")}`;
}

function bytesOf(text: string): Uint8Array | undefined {
  const match = /^v1\.([0-9a-f]{16})\.([\w-]{16})\.([\w-]+)$/.exec(text);
  const [, keyId, nonce, rest] = match ?? [];
  if (keyId === undefined || nonce === undefined || rest === undefined) return undefined;
  return joined([
    Uint8Array.of(version),
    Buffer.from(keyId, "hex"),
    Buffer.from(nonce, "base64url"),
    Buffer.from(rest, "base64url"),
  ]);
}

/** Plain bytes: what comes from the ring looks the same as what went in. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.concat(parts);
  return new Uint8Array(buffer, byteOffset, length);
}
