/**
 * The provider's keys as they are known now. They are fetched at the first token, again every ten
 * minutes in the background, and at once for a token that names an unknown key. The cool-down
 * limits that: a thousand invented key ids cost the provider one request.
 *
 * Keys are kept while the provider does not answer. They are replaced whole, so a withdrawn key
 * stops verifying with the next answer.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Log } from "@gateway/core/port/log.ts";
import type { HttpClient } from "../../connect/http.ts";
import type { OidcConfig } from "./config.ts";
import { isRecord, keyFor, readKeys, type SigningKey } from "./jwks.ts";
import type { TokenHead } from "../token.ts";

const freshMs = 10 * 60_000;
const coolDownMs = 30_000;
/** Without any key nobody can log in, so the provider is asked again sooner. */
const coolDownEmptyMs = 1_000;

/** `unknown`: the provider has no such key. `unavailable`: it can not be asked. */
export type NoKey = "unknown" | "unavailable";

export interface KeySources {
  readonly config: Pick<OidcConfig, "issuer" | "jwksUri">;
  readonly http: Pick<HttpClient, "ask">;
  readonly clock: Clock;
  readonly log: Log;
}

export class ProviderKeys {
  readonly #sources: KeySources;
  #keys: readonly SigningKey[] | undefined;
  #fetchedMs = 0;
  #askedMs = Number.NEGATIVE_INFINITY;
  #failed = false;
  #asking: Promise<void> | undefined;

  constructor(sources: KeySources) {
    this.#sources = sources;
  }

  /** The key that a token's head names. Waits for the provider at most its time limit. */
  async find(head: TokenHead): Promise<SigningKey | NoKey> {
    const now = this.#sources.clock.nowMs();
    const known = this.#keys === undefined ? undefined : keyFor(this.#keys, head);
    if (known !== undefined) {
      if (now - this.#fetchedMs > freshMs && this.#mayAsk(now)) void this.#refresh();
      return known;
    }
    if (this.#asking !== undefined || this.#mayAsk(now)) await this.#refresh();
    if (this.#keys === undefined) return "unavailable";
    return keyFor(this.#keys, head) ?? (this.#failed ? "unavailable" : "unknown");
  }

  /** False for a key that the provider has withdrawn. */
  holds(key: SigningKey): boolean {
    return this.#keys?.includes(key) === true;
  }

  /** Fetches old keys anew, without waiting for them. For remembered logins, which ask for no key. */
  freshen(): void {
    const now = this.#sources.clock.nowMs();
    if (now - this.#fetchedMs > freshMs && this.#mayAsk(now)) void this.#refresh();
  }

  #mayAsk(now: number): boolean {
    const wait = this.#keys === undefined ? coolDownEmptyMs : coolDownMs;
    return this.#asking === undefined && now - this.#askedMs >= wait;
  }

  /** One request at a time, whoever asks. Never rejects. */
  #refresh(): Promise<void> {
    this.#asking ??= this.#fetch().finally(() => {
      this.#asking = undefined;
      this.#askedMs = this.#sources.clock.nowMs();
    });
    return this.#asking;
  }

  async #fetch(): Promise<void> {
    const { clock, log } = this.#sources;
    const keys = await this.#fetchKeys();
    this.#failed = typeof keys === "string";
    if (typeof keys === "string") {
      log.write("warn", "auth.keysUnavailable", { reason: keys });
      return;
    }
    this.#keys = mergedWith(this.#keys ?? [], keys);
    this.#fetchedMs = clock.nowMs();
  }

  async #fetchKeys(): Promise<readonly SigningKey[] | string> {
    const { config, http } = this.#sources;
    const jwksUri = config.jwksUri ?? (await this.#discover());
    if (typeof jwksUri !== "string") return jwksUri.reason;
    const answer = await http.ask({ url: jwksUri });
    if (!answer.ok) return answer.error;
    const keys = answer.value.status === 200 ? readKeys(answer.value.json) : undefined;
    if (keys === undefined) return "no key set";
    return keys.length === 0 ? "no usable key" : keys;
  }

  /** OpenID Connect Discovery 1.0 §4: the document speaks for exactly the issuer it was asked from. */
  async #discover(): Promise<string | { readonly reason: string }> {
    const { config, http } = this.#sources;
    const url = `${config.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const answer = await http.ask({ url });
    if (!answer.ok) return { reason: answer.error };
    const document = answer.value.status === 200 ? answer.value.json : undefined;
    if (!isRecord(document)) return { reason: "no discovery document" };
    const { issuer, jwks_uri: jwksUri } = document;
    if (issuer !== config.issuer) return { reason: "discovery names another issuer" };
    if (typeof jwksUri !== "string" || !leadsOn(config.issuer, jwksUri)) {
      return { reason: "discovery names no usable jwks_uri" };
    }
    return jwksUri;
  }
}

/** Keys that did not change stay the same values, so that what was verified with them stays remembered. */
function mergedWith(
  before: readonly SigningKey[],
  now: readonly SigningKey[],
): readonly SigningKey[] {
  return now.map((key) => before.find((old) => isSame(old, key)) ?? key);
}

function isSame(a: SigningKey, b: SigningKey): boolean {
  const algorithms = a.algorithms.join(" ") === b.algorithms.join(" ");
  return a.keyId === b.keyId && algorithms && a.key.equals(b.key);
}

/**
 * True for https, or for http on the issuer's own host where the issuer has no https. Over http to
 * another machine somebody could replace the keys.
 */
function leadsOn(issuer: string, jwksUri: string): boolean {
  if (!URL.canParse(jwksUri)) return false;
  const { protocol, hostname } = new URL(jwksUri);
  if (protocol === "https:") return true;
  const from = new URL(issuer);
  return protocol === "http:" && from.protocol === "http:" && from.hostname === hostname;
}
