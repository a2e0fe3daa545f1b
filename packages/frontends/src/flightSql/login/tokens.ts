/**
 * The token that a login gives back, which clients send in place of their password.
 *
 * It is the credential itself, sealed under a key of the fleet, or of the listener where that is alone. So each call is
 * judged as a call with the password would be, by whichever gateway gets it: a user that is gone or has another password
 * is out at once, and nothing is remembered here.
 */
import type { Sealer } from "@gateway/core/handle/seal.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Secret } from "@gateway/core/secret.ts";
import { tokenLifeMs } from "../limits.ts";

/** By this a token of ours is told from one of an identity provider. */
const prefix = "gateway.";
const bound = "login";
/** Expiry, and the length of the name. */
const headBytes = 12;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface Credential {
  readonly user: string;
  readonly password: Secret;
}

export class Tokens {
  readonly #sealer: Sealer;
  readonly #clock: Host["clock"];

  constructor(sealer: Sealer, clock: Host["clock"]) {
    this.#sealer = sealer;
    this.#clock = clock;
  }

  isOurs(token: string): boolean {
    return token.startsWith(prefix);
  }

  give({ user, password }: Credential): string {
    const [name, secret] = [encoder.encode(user), encoder.encode(password.reveal())];
    const plain = new Uint8Array(headBytes + name.length + secret.length);
    const view = new DataView(plain.buffer);
    view.setFloat64(0, this.#clock.unixMs() + tokenLifeMs);
    view.setUint32(8, name.length);
    plain.set(name, headBytes);
    plain.set(secret, headBytes + name.length);
    return prefix + this.#sealer.seal(plain, bound);
  }

  /** Undefined, whatever the reason, for a token that is forged, expired, or another fleet's. */
  open(token: string): Credential | undefined {
    const plain = this.#sealer.open(token.slice(prefix.length), bound);
    if (plain === undefined || plain.length < headBytes) return undefined;
    const view = new DataView(plain.buffer, plain.byteOffset, plain.length);
    if (!(view.getFloat64(0) > this.#clock.unixMs())) return undefined;
    const nameEnd = headBytes + view.getUint32(8);
    const user = decoder.decode(plain.subarray(headBytes, nameEnd));
    return { user, password: new Secret(decoder.decode(plain.subarray(nameEnd))) };
  }
}
