/**
 * A token for an engine from the client's own token (RFC 8693), kept until shortly before it
 * expires.
 *
 * Every failure is the same refusal. Nobody reads what an endpoint says about a failure, because
 * that may hold the token it was given.
 */
import { createHmac, type Hmac } from "node:crypto";
import type { TokenExchangeConfig } from "@gateway/contract/config/queryAuth.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { abortError, gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { TokenExchange } from "@gateway/core/port/tokenExchange.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { unlessAborted } from "@gateway/core/tool/pause.ts";
import { HttpClient } from "../connect/http.ts";
import { readIssued } from "./issued.ts";

/** Most tokens kept at once. The least recently used goes first. */
const tokensMax = 10_000;
const sweepMs = 60_000;
/** A token is not used in its last minute, or in its last tenth where that is shorter. */
const marginSecsMax = 60;
const marginShare = 0.1;
const connectionsMax = 16;
const keyBytes = 32;

/** Asks the endpoint for nothing before the first query. `cluster` is for the log. */
export function tokenExchange(
  cluster: string,
  config: TokenExchangeConfig,
  host: Host,
): TokenExchange {
  return new Exchange(cluster, config, host);
}

/** A token and how long it may be used. */
interface TimedToken {
  readonly token: Secret;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

type Exchanged = Result<Secret, GatewayError>;

class Exchange implements TokenExchange {
  readonly #cluster: string;
  readonly #config: TokenExchangeConfig;
  readonly #host: Host;
  readonly #http: HttpClient;
  readonly #key: Uint8Array;
  /** In the order of their last use. */
  readonly #kept = new Map<string, TimedToken>();
  readonly #asking = new Map<string, Promise<Exchanged>>();
  #sweep: Disposable | undefined;
  #closed = false;

  constructor(cluster: string, config: TokenExchangeConfig, host: Host) {
    this.#cluster = cluster;
    this.#config = config;
    this.#host = host;
    const { timeoutMs } = config;
    this.#http = new HttpClient({ timeoutMs, connectionsMax, caFile: undefined }, host);
    this.#key = host.randomBytes(keyBytes);
  }

  async exchange(subject: Secret, identity: AuthContext, signal: AbortSignal): Promise<Exchanged> {
    if (signal.aborted) return err(abortError(signal));
    const key = this.#keyOf(subject, identity);
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      if (this.#host.clock.nowMs() < kept.untilMs) {
        this.#kept.set(key, kept);
        return ok(kept.token);
      }
    }
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      asking = this.#ask(key, subject).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    return await unlessAborted(asking, signal, () => err(abortError(signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#sweep?.[Symbol.dispose]();
    this.#kept.clear();
    await this.#http[Symbol.asyncDispose]();
  }

  /** Others may wait for the same response, so only its time limit ends the request, not a caller that leaves. */
  async #ask(key: string, subject: Secret): Promise<Exchanged> {
    const { clock } = this.#host;
    const askedMs = clock.nowMs();
    const answer = await this.#http.ask({
      url: this.#config.tokenEndpoint,
      ...questionOf(this.#config, subject),
    });
    if (!answer.ok) return this.#refused(answer.error);
    if (answer.value.status !== 200) return this.#refused(`status ${answer.value.status}`);
    const { requestedTokenType } = this.#config;
    const issued = readIssued(answer.value.json, requestedTokenType, clock.unixMs() / 1_000);
    if (issued === undefined) return this.#refused("nonsense");
    const { token, livesSecs } = issued;
    const marginSecs = Math.min(marginSecsMax, livesSecs * marginShare);
    this.#keep(key, { token, untilMs: askedMs + (livesSecs - marginSecs) * 1_000 });
    return ok(token);
  }

  #refused(reason: string): Exchanged {
    const detail = `token exchange: ${reason}`;
    this.#host.log.write("warn", "exchange.failed", { cluster: this.#cluster, reason });
    return err(gatewayError("auth.noBackendIdentity", { detail }));
  }

  #keep(key: string, kept: TimedToken): void {
    if (this.#closed || this.#host.clock.nowMs() >= kept.untilMs) return;
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > tokensMax && oldest !== undefined) this.#kept.delete(oldest);
    this.#sweep ??= this.#host.clock.timer(sweepMs, () => this.#forgetExpired());
  }

  #forgetExpired(): void {
    this.#sweep = undefined;
    const nowMs = this.#host.clock.nowMs();
    for (const [key, { untilMs }] of this.#kept) {
      if (nowMs >= untilMs) this.#kept.delete(key);
    }
    if (this.#kept.size === 0) return;
    this.#sweep = this.#host.clock.timer(sweepMs, () => this.#forgetExpired());
  }

  /**
   * The user and the token that the new one is made from: two tokens of a user may grant different
   * things. A hash under a key of this process, of parts with their lengths.
   */
  #keyOf(subject: Secret, { user, method, realm }: AuthContext): string {
    const hmac = createHmac("sha256", this.#key);
    for (const part of [user, method, realm ?? "", subject.reveal()]) added(hmac, part);
    return hmac.digest("base64");
  }
}

function added(hmac: Hmac, part: string): void {
  const bytes = Buffer.from(part, "utf8");
  hmac.update(`${bytes.length}:`).update(bytes);
}

function questionOf(
  config: TokenExchangeConfig,
  subject: Secret,
): { readonly form: URLSearchParams; readonly basic?: string } {
  const { clientId, clientAuth, targetAudience, scope, requestedTokenType } = config;
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: subject.reveal(),
    subject_token_type: config.subjectTokenType,
  });
  if (targetAudience !== undefined) form.set("audience", targetAudience);
  if (scope !== undefined) form.set("scope", scope);
  if (requestedTokenType !== undefined) form.set("requested_token_type", requestedTokenType);
  const secret = secretText(config.clientSecret);
  if (clientAuth === "basic") return { form, basic: basicOf(clientId, secret) };
  form.set("client_id", clientId);
  form.set("client_secret", secret);
  return { form };
}

/** RFC 6749 §2.3.1: both parts are encoded as in a form before they become Basic. */
function basicOf(clientId: string, secret: string): string {
  return Buffer.from(`${formEncoded(clientId)}:${formEncoded(secret)}`).toString("base64");
}

function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}
