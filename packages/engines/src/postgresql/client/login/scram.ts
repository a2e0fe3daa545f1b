/**
 * The client's side of a login by SCRAM-SHA-256 (RFC 5802, RFC 7677), bound to the TLS connection where both
 * sides can. The server proves that it knows the password as well; one that does not is refused.
 */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { Secret } from "@gateway/core/secret.ts";

const plus = "SCRAM-SHA-256-PLUS";
const plain = "SCRAM-SHA-256";
const nonceBytes = 18;
/** A server chooses how much work a login is; beyond this it is meant to keep us busy. */
const iterationsMax = 1_000_000;

const derive = promisify(pbkdf2);

/** One exchange: `first`, then `last`, then `proves`. */
export class ScramClient {
  readonly mechanism: string;
  readonly #header: string;
  readonly #bound: Uint8Array;
  readonly #bare: string;
  readonly #nonce: string;
  #signature: Uint8Array = new Uint8Array(0);

  private constructor(mechanism: string, binding: Uint8Array | undefined) {
    this.mechanism = mechanism;
    const isBound = mechanism === plus;
    // `y`: we could, and the server did not offer it. One that did is then told that somebody stands between.
    this.#header = isBound ? "p=tls-server-end-point,," : binding === undefined ? "n,," : "y,,";
    this.#bound = isBound && binding !== undefined ? binding : new Uint8Array(0);
    this.#nonce = randomBytes(nonceBytes).toString("base64");
    // PostgreSQL takes the name from the start-up packet and ignores the one here.
    this.#bare = `n=,r=${this.#nonce}`;
  }

  /** The exchange for what the server offers; undefined where it offers nothing that we know. */
  static for(offered: readonly string[], binding: Uint8Array | undefined): ScramClient | undefined {
    if (offered.includes(plus) && binding !== undefined) return new ScramClient(plus, binding);
    if (!offered.includes(plain)) return undefined;
    // Where the server offers binding and the certificate gives nothing to bind to, saying `y` would be a lie.
    return new ScramClient(plain, offered.includes(plus) ? undefined : binding);
  }

  /** The first message. */
  first(): Uint8Array {
    return Buffer.from(this.#header + this.#bare, "utf8");
  }

  /** The proof of the password, for the server's first message; undefined where that is none. */
  async last(serverFirst: Uint8Array, password: Secret): Promise<Uint8Array | undefined> {
    const text = Buffer.from(serverFirst).toString("utf8");
    const match = /^r=([!-+\--~]+),s=([A-Za-z0-9+/=]+),i=(\d{1,9})(?:,.*)?$/s.exec(text);
    const [, nonce = "", salt = "", count = ""] = match ?? [];
    const iterations = Number(count);
    if (!nonce.startsWith(this.#nonce) || nonce.length === this.#nonce.length) return undefined;
    if (iterations < 1 || iterations > iterationsMax) return undefined;
    const binding = Buffer.concat([Buffer.from(this.#header, "utf8"), this.#bound]);
    const withoutProof = `c=${binding.toString("base64")},r=${nonce}`;
    const signed = `${this.#bare},${text},${withoutProof}`;
    const salted = await derive(
      prepared(password.reveal()),
      Buffer.from(salt, "base64"),
      iterations,
      32,
      "sha256",
    );
    const clientKey = hmac(salted, "Client Key");
    const storedKey = createHash("sha256").update(clientKey).digest();
    const clientSignature = hmac(storedKey, signed);
    const proof = clientKey.map((byte, index) => byte ^ (clientSignature[index] ?? 0));
    this.#signature = hmac(hmac(salted, "Server Key"), signed);
    return Buffer.from(`${withoutProof},p=${Buffer.from(proof).toString("base64")}`, "utf8");
  }

  /** True when the server's last message proves that it knows the password. */
  proves(serverLast: Uint8Array): boolean {
    const match = /^v=([A-Za-z0-9+/=]+)(?:,.*)?$/s.exec(Buffer.from(serverLast).toString("utf8"));
    const said = Buffer.from(match?.[1] ?? "", "base64");
    const { length } = this.#signature;
    return length > 0 && said.length === length && timingSafeEqual(said, this.#signature);
  }
}

/** The hash of PostgreSQL's older login. */
export function md5Answer(user: string, password: Secret, salt: Uint8Array): string {
  const inner = createHash("md5").update(`${password.reveal()}${user}`, "utf8").digest("hex");
  return `md5${createHash("md5").update(inner, "latin1").update(salt).digest("hex")}`;
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text, "utf8").digest();
}

/** SASLprep (RFC 4013), as far as passwords show it: other blanks are a blank, joiners are nothing, then NFKC. */
function prepared(password: string): string {
  if (/^[ -~]*$/.test(password)) return password;
  const mapped = password
    .replaceAll(/[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g, " ")
    .replaceAll(/\p{Variation_Selector}|\u00ad|\u034f|\u1806|\u200c|\u200d|\u2060|\ufeff/gu, "");
  return mapped.normalize("NFKC");
}
