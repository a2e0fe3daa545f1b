/**
 * Logins that were verified a moment ago, so that a client that opens connections all the time pays
 * for bcrypt, a signature or the directory once a minute.
 *
 * The key is a hash under a key of this process, so the memory reveals no password and no token. A provider
 * that includes the stored entry in it makes sure that a changed entry no longer matches. The memory belongs
 * to one authenticator and dies with its generation.
 */
import { hash } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { Aged } from "@gateway/core/tool/aged.ts";

const keepMs = 60_000;
const entriesMax = 10_000;

interface Entry<Value> {
  readonly value: Value;
  readonly untilMs: number;
}

export class VerifiedLogins<Value> {
  readonly #host: Pick<Host, "clock">;
  readonly #key: string;
  readonly #entries = new Aged<string, Entry<Value>>();

  constructor(host: Pick<Host, "clock" | "randomBytes">) {
    this.#host = host;
    this.#key = Buffer.from(host.randomBytes(32)).toString("hex");
  }

  /**
   * The look-up key of one login; every part is length-prefixed, so no two logins share one. Not an HMAC: nobody is
   * shown a key whom the difference would keep from extending it, and each request of a client over HTTP needs one.
   */
  key(parts: readonly string[]): string {
    let text = this.#key;
    for (const part of parts) text += `${part.length}:${part}`;
    return hash("sha256", text, "binary");
  }

  /** The same of a secret and what decides beside it, made once for a secret that its client's connection shows again. */
  keyOf(secret: Secret, beside: readonly string[]): string {
    const { mark } = secret;
    if (mark?.by === this && areSame(mark.beside, beside)) return mark.text;
    const text = this.key([...beside, secret.reveal()]);
    secret.mark = { by: this, beside, text };
    return text;
  }

  /** What was remembered under `key`, for a minute. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.untilMs > this.#host.clock.nowMs()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  add(key: string, value: Value): void {
    const untilMs = this.#host.clock.nowMs() + keepMs;
    this.#entries.putWithin(entriesMax, key, { value, untilMs });
  }
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at += 1) if (some[at] !== others[at]) return false;
  return true;
}
