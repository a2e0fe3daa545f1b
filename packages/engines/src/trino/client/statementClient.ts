/**
 * One statement on a Trino server. Submits it, fetches its pages one ahead of the reader, and ends it in the
 * engine when the reader leaves.
 *
 * A poll may be repeated, because the server answers the same link with the same page. A submission is
 * repeated only when the server took nothing. Links that lead elsewhere, and pages of another query, end the
 * statement.
 *
 * Only the reader's wait is a promise: `#hear` notes an outcome when it comes, and `take` makes sense of it.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { pause } from "@gateway/core/tool/pause.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readClientPage, type ClientPage } from "@gateway/wire/trino/clientPage.ts";
import { Cookies } from "./cookies.ts";
import { errorOfHttp, errorOfStatus } from "../errors.ts";
import type {
  HeaderList,
  HttpResponse,
  HttpHeaders,
  HttpOutcome,
  HttpRequest,
  Sent,
  SentHeaders,
  TrinoHttp,
} from "./http.ts";
import type { Caller } from "../identity.ts";
import * as limits from "../limits.ts";
import { headerValue } from "./session.ts";

/** What a statement is sent with. */
export interface Submission {
  readonly sql: string;
  readonly headers: HeaderList;
  /** Client tags that are not among the headers. */
  readonly tags: string | undefined;
  /** Of the submission and of all that follows it. */
  readonly caller: Caller;
}

/** A page of the server's, read but for its rows, with its bytes and headers. */
export interface PageResponse {
  readonly page: ClientPage;
  readonly bytes: Uint8Array;
  readonly headers: HttpHeaders;
}

export type PageResult = Result<PageResponse, GatewayError>;

const statementPath = "/v1/statement";
/** A path that parsing it as a URL would not change. Its group is the query's id. */
const plainPath = /^\/v1\/statement\/(?:queued|executing)\/([\w-]+)\/[\w-]+\/\d+$/;
const plainId = /^[\w-]{1,128}$/;

export class StatementClient {
  readonly #http: TrinoHttp;
  readonly #host: Host;
  readonly #caller: Caller;
  /** The same for each request, until the server sets cookies. */
  #headers: SentHeaders;
  readonly #plainHeaders: SentHeaders;
  #cookies: Cookies | undefined;
  readonly #signal: AbortSignal;
  /** The request whose outcome is due, also while it waits to be sent again. */
  #asked: HttpRequest | undefined;
  #sent: Sent | undefined;
  #pause: Disposable | undefined;
  /** Times that the server could not answer `#asked`, and when it first said so. */
  #refusals = 0;
  #refusedAtMs = 0;
  /** The outcome that is to be taken. */
  #heard: HttpOutcome | undefined;
  /** Wakes whoever waits for it. */
  #wake: (() => void) | undefined;
  /** Path of the next page; undefined before the first and behind the last. */
  #due: string | undefined;
  #id: string | undefined;
  /** The engine said how it ended, or never began it. */
  #over = false;
  #left = false;
  #ending: Promise<void> | undefined;

  /** Submits the statement at once. Aborting `signal` ends it. */
  constructor(http: TrinoHttp, host: Host, submission: Submission, signal: AbortSignal) {
    const { sql, headers, tags, caller } = submission;
    this.#http = http;
    this.#host = host;
    this.#caller = caller;
    this.#plainHeaders = http.headersOf(headers, caller, tags);
    this.#headers = this.#plainHeaders;
    this.#signal = signal;
    signal.addEventListener("abort", this.#woken);
    this.#ask("POST", statementPath, sql);
  }

  /** The server's id of the query, once it answered. */
  get id(): string | undefined {
    return this.#id;
  }

  /**
   * Resolves when `take` has something, at the latest when the signal aborts; undefined when it has it
   * already. For one reader.
   */
  heard(): Promise<void> | undefined {
    if (this.#asked === undefined || this.#left || this.#signal.aborted) return undefined;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** The same for who is called, in the middle of reading a connection: false when `take` has something already. */
  hears(wake: () => void): boolean {
    if (this.#asked === undefined || this.#left || this.#signal.aborted) return false;
    this.#wake = wake;
    return true;
  }

  /** The next answer; undefined behind the last one. Not before `heard`. */
  take(): PageResult | undefined {
    if (this.#left) return err(gatewayError("query.cancelled"));
    const heard = this.#heard;
    if (heard === undefined && this.#asked === undefined) return undefined;
    // Whoever ended it meanwhile does not read on.
    if (heard === undefined || this.#signal.aborted) return err(gatewayError("query.cancelled"));
    const answered = this.#understood(heard);
    if (answered.ok && this.#due !== undefined) this.#ask("GET", this.#due, undefined);
    return answered;
  }

  /**
   * Ends the query in the engine if it has not ended. Resolves when that is done or took too long;
   * undefined when there is nothing to wait for. Idempotent; never rejects.
   */
  end(): Promise<void> | undefined {
    if (this.#left) return this.#ending;
    this.#left = true;
    this.#signal.removeEventListener("abort", this.#woken);
    this.#woken();
    if (this.#asked?.method === "GET") this.#sent?.abort();
    if (this.#pause !== undefined) this.#drop();
    // A submission is waited for: its answer names the query that is to be ended.
    if (this.#asked !== undefined || !this.#isEnded()) this.#ending = this.#endInEngine();
    return this.#ending;
  }

  /** Whether nothing is left to end in the engine, by what the server said so far. */
  #isEnded(): boolean {
    if (this.#heard !== undefined) this.#understood(this.#heard);
    return this.#over || this.#due === undefined;
  }

  async #endInEngine(): Promise<void> {
    const limit = new Canceller();
    using _limit = this.#host.clock.timer(limits.cancelMs, () => {
      limit.abort();
      this.#woken();
    });
    if (this.#asked !== undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#isEnded() || this.#due === undefined || limit.signal.aborted) return;
    await this.#http.ask(this.#request("DELETE", this.#due, undefined), limit.signal);
    await this.#untilGone(limit.signal);
    this.#over = true;
  }

  /** Polls on until the server says that the query is over or unknown. */
  async #untilGone(signal: AbortSignal): Promise<void> {
    let delayMs: number = limits.retryDelayMs.first;
    while (!signal.aborted && this.#due !== undefined && !this.#over) {
      const due = this.#due;
      const outcome = await this.#http.ask(this.#request("GET", due, undefined), signal);
      if (outcome.ok && !isBusy(outcome.value.status)) {
        if (!this.#read(outcome.value).ok) return;
        if (this.#due !== due) continue;
      }
      await pause(this.#host.clock, delayMs, signal);
      delayMs = Math.min(delayMs * 2, limits.retryDelayMs.last);
    }
  }

  readonly #woken = (): void => {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  };

  #request(method: HttpRequest["method"], path: string, body: string | undefined): HttpRequest {
    // Once the reader left, all requests are there to end the query.
    return { method, path, headers: this.#headers, body, control: this.#left };
  }

  #ask(method: "GET" | "POST", path: string, body: string | undefined): void {
    this.#refusals = 0;
    this.#send(this.#request(method, path, body));
  }

  #send(request: HttpRequest): void {
    this.#asked = request;
    this.#sent = this.#http.send(request, this.#hear);
  }

  readonly #hear = (outcome: HttpOutcome): void => {
    if (this.#asked === undefined) return;
    if (this.#isToAskAgain(this.#asked, outcome)) return this.#askLater(this.#asked, outcome);
    this.#note(outcome);
  };

  #note(outcome: HttpOutcome): void {
    this.#asked = undefined;
    this.#heard = outcome;
    this.#woken();
  }

  /**
   * Whether to ask again: a submission only when the server certainly did not take it, a poll only when no
   * byte of an answer came.
   */
  #isToAskAgain({ method }: HttpRequest, outcome: HttpOutcome): boolean {
    if (outcome.ok && outcome.value.status === 200) return false;
    if (method === "POST") {
      const more = this.#refusals + 1 < limits.submitAttemptsMax && !this.#isUnwanted();
      return more && isRefusal(outcome);
    }
    const nowMs = this.#host.clock.nowMs();
    if (this.#refusals === 0) this.#refusedAtMs = nowMs;
    return mayPollAgain(outcome) && nowMs - this.#refusedAtMs < limits.retryMs;
  }

  #askLater(request: HttpRequest, outcome: HttpOutcome): void {
    const { first, last } = limits.retryDelayMs;
    const ownMs = Math.min(first * 2 ** this.#refusals, last);
    this.#refusals += 1;
    this.#pause = this.#host.clock.timer(this.#delay(outcome, ownMs), () => {
      this.#pause = undefined;
      if (request.method === "POST" && this.#isUnwanted()) this.#note(outcome);
      else this.#send(request);
    });
  }

  #isUnwanted(): boolean {
    return this.#left || this.#signal.aborted;
  }

  /** Gives up what waits to be sent again: the server has nothing of it. */
  #drop(): void {
    this.#pause?.[Symbol.dispose]();
    this.#pause = undefined;
    this.#asked = undefined;
  }

  /** What the server asks for, within reason, or our own delay with jitter. */
  #delay(outcome: HttpOutcome, ownMs: number): number {
    const headers = outcome.ok ? outcome.value.headers : undefined;
    const asked = headers === undefined ? Number.NaN : Number(headerValue(headers, "retry-after"));
    if (asked >= 0) return Math.min(asked * 1_000, limits.retryDelayMs.last);
    return ownMs * (0.5 + this.#host.random() / 2);
  }

  /** What the outcome that was heard means. */
  #understood(outcome: HttpOutcome): PageResult {
    this.#heard = undefined;
    const submitting = this.#id === undefined;
    if (!outcome.ok) {
      if (submitting) this.#over = outcome.error === "unreachable";
      return err(errorOfHttp(outcome.error, submitting));
    }
    if (submitting && isRefusal(outcome)) {
      const detail = `HTTP ${outcome.value.status}`;
      return err(gatewayError("cluster.connectFailed", { detail }));
    }
    return this.#read(outcome.value);
  }

  /** Reads a page and where the next one is. */
  #read({ status, headers, body }: HttpResponse): PageResult {
    if (status !== 200) return this.#lost(errorOfStatus(status, this.#caller));
    const page = readClientPage(body);
    if (page === undefined) return err(unreadable("an answer that is no page"));
    if (this.#id === undefined && !plainId.test(page.id)) {
      return err(unreadable("an id that is none"));
    }
    this.#id ??= page.id;
    if (page.id !== this.#id) return err(unreadable("an answer of another query"));
    const due = page.nextUri === undefined ? undefined : this.#pathOf(page.nextUri);
    if (due === undefined && page.nextUri !== undefined) return err(unreadable("a link elsewhere"));
    if (headers["set-cookie"] !== undefined) this.#takeCookies(headers);
    this.#due = due;
    this.#over = due === undefined;
    return ok({ page, bytes: body, headers });
  }

  #takeCookies(headers: HttpHeaders): void {
    this.#cookies ??= new Cookies();
    this.#cookies.take(headers);
    const { text } = this.#cookies;
    if (text === "") return;
    this.#headers = this.#plainHeaders.with(["cookie", text]) as SentHeaders;
  }

  /** An answer without a page: the server does not know the query, or never took it. */
  #lost(error: GatewayError): PageResult {
    this.#over = true;
    return err(error);
  }

  /** Path of a link that leads to this query on this server; undefined for any other. */
  #pathOf(link: string): string | undefined {
    const { origin } = this.#http;
    // The form that Trino writes: parsing it as a URL would change nothing.
    const asWritten = link.startsWith(origin) ? plainPath.exec(link.slice(origin.length)) : null;
    if (asWritten?.[1] === this.#id) return asWritten?.[0];
    const url = URL.canParse(link) ? new URL(link) : undefined;
    if (url?.origin !== origin || url.username !== "" || url.password !== "") return undefined;
    const own = url.pathname.startsWith(`${statementPath}/`);
    return own && url.pathname.includes(`/${this.#id}/`) ? url.pathname + url.search : undefined;
  }
}

/** The server is well, and can not answer now. */
function isBusy(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** Answers to a submission that say that it was not taken. */
function isRefusal(outcome: HttpOutcome): boolean {
  return outcome.ok && (outcome.value.status === 429 || outcome.value.status === 503);
}

/** Nothing of an answer came, or it says to come again. */
function mayPollAgain(outcome: HttpOutcome): boolean {
  if (outcome.ok) return isBusy(outcome.value.status);
  return outcome.error === "unreachable" || outcome.error === "closed";
}

function unreadable(detail: string): GatewayError {
  return gatewayError("engine.broken", { detail });
}
