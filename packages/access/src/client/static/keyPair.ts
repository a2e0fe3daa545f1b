/**
 * Logins by key pair, as Snowflake has them: a token that the user signed with a private key, whose public half stands
 * in the config. The token names account, user and key; it is believed when the named user has that key and the
 * signature is the key's. Source: Snowflake, "Key-pair authentication", "Authenticating to the server" (SQL API).
 */
import { createHash, verify, type KeyObject } from "node:crypto";
import type { Secret } from "@gateway/core/secret.ts";
import { readHead } from "../token.ts";
import { foldedName, readPublicKey } from "./config.ts";

/** How far the clocks of client and gateway may be apart. */
const skewMs = 60_000;
/** The oldest that a token is taken, whatever it says of its end. */
const ageMaxMs = 3_600_000;
/** Dates beyond are milliseconds: as seconds they would lie in the year 5138, and one driver writes milliseconds. */
const secondsMax = 1e11;

/** As tokens and `DESCRIBE USER` write it. */
export function fingerprintOf(key: KeyObject): string {
  const der = key.export({ format: "der", type: "spki" });
  return `SHA256:${createHash("sha256").update(der).digest("base64")}`;
}

/** What a user's entry says of keys. */
export interface KeyOwner {
  readonly rsaPublicKey?: string | undefined;
  readonly rsaPublicKey2?: string | undefined;
}

/** All users who have keys. A key is read when a token needs it, because few of thousands log in. */
export class UserKeys {
  readonly #account: string;
  /** Names of users by their spelling in tokens. */
  readonly #names = new Map<string, string>();
  readonly #users: Readonly<Record<string, KeyOwner>>;

  /** `account`: whom tokens must be for. */
  constructor(account: string | undefined, users: Readonly<Record<string, KeyOwner>>) {
    this.#account = foldedName(account ?? "");
    this.#users = users;
    for (const [name, { rsaPublicKey, rsaPublicKey2 }] of Object.entries(users)) {
      const hasKey = rsaPublicKey !== undefined || rsaPublicKey2 !== undefined;
      if (hasKey) this.#names.set(foldedName(name), name);
    }
  }

  /**
   * The user who signed the token. Undefined for a token that is forged, too old, from the future, for another account,
   * or of another user than `claimed`, the name that was sent beside it.
   */
  userOf(token: Secret, claimed: string | undefined, unixMs: number): string | undefined {
    const text = token.reveal();
    if (readHead(text)?.algorithm !== "RS256") return undefined;
    const claims = claimsOf(text);
    if (claims === undefined) return undefined;
    const [account = "", name = ""] = splitOnce(claims.sub, ".");
    const user = this.#names.get(foldedName(name));
    // A name without keys is checked against somebody's, so that its refusal takes as long.
    const keys = this.#keysOf(user ?? this.#names.values().next().value);
    const named = keys.find((key) => claims.iss === `${claims.sub}.${fingerprintOf(key)}`);
    const key = named ?? keys[0];
    const isSigned = key !== undefined && hasSignature(text, key);
    if (user === undefined || named === undefined || !isSigned) return undefined;
    const isMeant = this.#account !== "" && foldedName(account) === this.#account;
    const isClaimed = claimed === undefined || foldedName(claimed) === foldedName(user);
    return isMeant && isClaimed && isNow(claims, unixMs) ? user : undefined;
  }

  #keysOf(user: string | undefined): readonly KeyObject[] {
    const owner = user === undefined ? undefined : this.#users[user];
    const texts = [owner?.rsaPublicKey, owner?.rsaPublicKey2];
    return texts.flatMap((text) => {
      if (text === undefined) return [];
      const key = readPublicKey(text);
      if (key === undefined) throw new Error("a public key that its schema let pass");
      return [key];
    });
  }
}

interface SignedClaims {
  readonly iss: string;
  readonly sub: string;
  /** When it begins to hold: the later of `iat` and `nbf`. */
  readonly beginsMs: number;
  readonly issuedMs: number;
  readonly endsMs: number;
}

/** Claims of a token whose form `readHead` has judged; undefined where one is missing. */
function claimsOf(token: string): SignedClaims | undefined {
  const [, body = ""] = token.split(".");
  const claims = JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as Record<
    string,
    unknown
  >;
  const { iss, sub, iat, exp, nbf = iat } = claims;
  if (typeof iss !== "string" || typeof sub !== "string") return undefined;
  if (typeof iat !== "number" || typeof exp !== "number" || typeof nbf !== "number") {
    return undefined;
  }
  const issuedMs = milliseconds(iat);
  const beginsMs = Math.max(issuedMs, milliseconds(nbf));
  return { iss, sub, beginsMs, issuedMs, endsMs: milliseconds(exp) };
}

function milliseconds(date: number): number {
  return date > secondsMax ? date : date * 1_000;
}

function isNow({ beginsMs, issuedMs, endsMs }: SignedClaims, unixMs: number): boolean {
  if (beginsMs > unixMs + skewMs) return false;
  return unixMs < Math.min(endsMs, issuedMs + ageMaxMs) + skewMs;
}

/** RFC 7515 §5.2, RFC 7518 §3.3. */
function hasSignature(token: string, key: KeyObject): boolean {
  const end = token.lastIndexOf(".");
  const signature = Buffer.from(token.slice(end + 1), "base64url");
  return verify("RSA-SHA256", Buffer.from(token.slice(0, end)), key, signature);
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
