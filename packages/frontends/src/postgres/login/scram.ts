/**
 * What client and server say to each other in a login by SCRAM-SHA-256 (RFC 5802 §5 and §7), with and
 * without channel binding. Whether a proof is right is not decided here.
 */
import type { ScramChallenge } from "@gateway/core/port/authenticator.ts";

/** With channel binding first, as the stronger of the two. */
export const plusMechanism = "SCRAM-SHA-256-PLUS";
export const plainMechanism = "SCRAM-SHA-256";

/** A client's nonce: printable characters without the comma, in a length that nobody needs to exceed. */
const noncePattern = /^[!-+\--~]{1,256}$/;

export interface ScramParts {
  readonly challenge: ScramChallenge;
  /** Our half of the nonce, printable and without a comma. */
  readonly nonce: string;
  /** Bytes of `tls-server-end-point`; undefined where the login can not be bound. */
  readonly binding: Uint8Array | undefined;
}

/** What the proof covers, known after the client's first message. */
export interface Proof {
  readonly authMessage: string;
  readonly clientProof: Uint8Array;
}

/** Why a login ends, for the client: a broken message, or one that shows an attack or a mismatch. */
export type ScramRefusal = "malformed" | "binding";

/** One exchange: `first`, then `last`. Each answers a refusal where the login ends. */
export class ScramExchange {
  readonly #parts: ScramParts;
  #header = "";
  #bound = false;
  #clientFirst = "";
  #serverFirst = "";
  #nonce = "";

  constructor(parts: ScramParts) {
    this.#parts = parts;
  }

  /** What is offered, the preferred one first. */
  get mechanisms(): readonly string[] {
    return this.#parts.binding === undefined ? [plainMechanism] : [plusMechanism, plainMechanism];
  }

  /** Takes the client's first message; answers ours. */
  first(mechanism: string, data: Uint8Array): string | { readonly refusal: ScramRefusal } {
    if (!this.mechanisms.includes(mechanism)) return malformed;
    const text = Buffer.from(data).toString("utf8");
    const match = /^(n|y|p=([A-Za-z0-9.-]+)),(a=[^,]*)?,(n=[^,]*,r=([^,]+)(?:,.*)?)$/s.exec(text);
    if (match === null) return malformed;
    const [, flag = "", kind, identity, bare = "", nonce = ""] = match;
    // Like PostgreSQL we do not let a client act as another identity than its own.
    if (identity !== undefined || !noncePattern.test(nonce)) return malformed;
    const plus = mechanism === plusMechanism;
    if (plus && kind !== "tls-server-end-point") return { refusal: "binding" };
    if (!plus && kind !== undefined) return malformed;
    // The client supports binding and was told that we do not: somebody stands between us.
    if (flag === "y" && this.#parts.binding !== undefined) return { refusal: "binding" };
    this.#header = `${flag},,`;
    this.#bound = plus;
    this.#clientFirst = bare;
    this.#nonce = nonce + this.#parts.nonce;
    const { salt, iterations } = this.#parts.challenge;
    this.#serverFirst = `r=${this.#nonce},s=${Buffer.from(salt).toString("base64")},i=${iterations}`;
    return this.#serverFirst;
  }

  /** Takes the client's last message. */
  last(data: Uint8Array): Proof | { readonly refusal: ScramRefusal } {
    const text = Buffer.from(data).toString("utf8");
    const match = /^(c=([A-Za-z0-9+/=]+),r=([^,]+)(?:,[^,]*)*?),p=([A-Za-z0-9+/=]+)$/s.exec(text);
    if (match === null) return malformed;
    const [, bare = "", binding = "", nonce = "", proof = ""] = match;
    if (nonce !== this.#nonce) return malformed;
    if (binding !== this.#expectedBinding()) return { refusal: "binding" };
    return {
      authMessage: `${this.#clientFirst},${this.#serverFirst},${bare}`,
      clientProof: Buffer.from(proof, "base64"),
    };
  }

  #expectedBinding(): string {
    const header = Buffer.from(this.#header, "utf8");
    const bytes = this.#bound ? (this.#parts.binding ?? new Uint8Array(0)) : new Uint8Array(0);
    return Buffer.concat([header, bytes]).toString("base64");
  }
}

const malformed = { refusal: "malformed" } as const;

/** Our last message. */
export function scramFinal(signature: Uint8Array): Uint8Array {
  return Buffer.from(`v=${Buffer.from(signature).toString("base64")}`, "utf8");
}
