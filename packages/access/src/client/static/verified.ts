/**
 * Logins that were verified a moment ago, so that a client that opens connections all the time pays
 * for bcrypt once a minute.
 *
 * The key is a keyed hash over the user's name, password and stored hash, with a key of this process:
 * the memory of the cache tells no password, and a changed entry no longer matches. The cache
 * belongs to one authenticator and dies with its generation.
 */
import { createHmac } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";
import type { Secret } from "@gateway/core/secret.ts";

const keepMs = 60_000;
const entriesMax = 10_000;

export class VerifiedLogins {
  readonly #host: Host;
  readonly #key: Uint8Array;
  /** Key to the end of its validity, oldest first. */
  readonly #until = new Map<string, number>();

  constructor(host: Host) {
    this.#host = host;
    this.#key = host.randomBytes(32);
  }

  /** The look-up key of one login; every part is length-prefixed, so no two logins share one. */
  key(user: string, password: Secret, passwordHash: string): string {
    const hmac = createHmac("sha256", this.#key);
    for (const part of [user, password.reveal(), passwordHash]) {
      const bytes = Buffer.from(part, "utf8");
      hmac.update(`${bytes.length}:`).update(bytes);
    }
    return hmac.digest("base64");
  }

  has(key: string): boolean {
    const until = this.#until.get(key);
    if (until === undefined) return false;
    if (until > this.#host.clock.nowMs()) return true;
    this.#until.delete(key);
    return false;
  }

  add(key: string): void {
    this.#until.delete(key);
    this.#until.set(key, this.#host.clock.nowMs() + keepMs);
    if (this.#until.size <= entriesMax) return;
    const oldest = this.#until.keys().next();
    if (oldest.done !== true) this.#until.delete(oldest.value);
  }
}
