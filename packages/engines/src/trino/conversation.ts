/**
 * One statement with a Trino server, answer by answer: submitted once, its answers fetched one ahead of
 * whoever reads them, ended in the engine when the reader leaves.
 *
 * A poll may be repeated, because the server answers the same link with the same page; a submission only
 * when the server took nothing. Links that lead elsewhere, and pages of another query, end it.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Canceller } from "@gateway/core/query/canceller.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readClientPage, type ClientPage } from "@gateway/wire/trino/clientPage.ts";
import { Cookies } from "./cookies.ts";
import { errorOfHttp, errorOfStatus } from "./errors.ts";
import type { HttpAnswer, HttpFailure, HttpHeaders, HttpRequest, TrinoHttp } from "./http.ts";
import type { Caller } from "./identity.ts";
import * as limits from "./limits.ts";
import { headerValue, type RequestHeaders } from "./session.ts";
import { waited, within } from "./wait.ts";

/** What a statement is sent with. */
export interface Submission {
  readonly sql: string;
  readonly headers: RequestHeaders;
  /** Of the submission and of all that follows it. */
  readonly caller: Caller;
}

export interface Answer {
  readonly page: ClientPage;
  readonly bytes: Uint8Array;
  readonly headers: HttpHeaders;
}

type Answered = Result<Answer, GatewayError>;
type Asked = Omit<HttpRequest, "headers" | "caller">;

const statementPath = "/v1/statement";
/** A path in which no reader of addresses changes a letter: its second name is the query. */
const plainPath = /^\/v1\/statement\/(?:queued|executing)\/([\w-]+)\/[\w-]+\/\d+$/;
/** The server is well, and can not answer now. */
const busyStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The same to a submission: only these say that it was not taken. */
const refusedStatuses: ReadonlySet<number> = new Set([429, 503]);

export class Conversation {
  readonly #http: TrinoHttp;
  readonly #host: Host;
  readonly #headers: RequestHeaders;
  readonly #caller: Caller;
  readonly #cookies = new Cookies();
  readonly #signal: AbortSignal;
  /** Aborted with `#signal`, which is listened to once and not for each answer. */
  readonly #aborted = new Canceller();
  /** Ends polls, not the submission: its answer names the query that is to be ended. */
  readonly #polls = new Canceller();
  #ahead: Promise<Answered> | undefined;
  /** Path of the answer that is due; undefined before the first and behind the last. */
  #due: string | undefined;
  #id: string | undefined;
  /** The engine said how it ended, or never began it. */
  #over = false;
  #left = false;

  /** Submits the statement at once. Aborting `signal` ends it. */
  constructor(http: TrinoHttp, host: Host, submission: Submission, signal: AbortSignal) {
    this.#http = http;
    this.#host = host;
    this.#headers = submission.headers;
    this.#caller = submission.caller;
    this.#signal = signal;
    if (signal.aborted) this.#aborted.abort();
    else signal.addEventListener("abort", this.#onAbort);
    this.#ahead = this.#submitted(submission);
  }

  /** The server's id of the query, once it answered. */
  get id(): string | undefined {
    return this.#id;
  }

  /** The next answer; undefined behind the last one. */
  async next(): Promise<Answered | undefined> {
    const ahead = this.#ahead;
    if (this.#left) return err(gatewayError("query.cancelled"));
    if (ahead === undefined) return undefined;
    const answered = await within(this.#aborted.signal, ahead);
    // Whoever ended it meanwhile does not read on.
    if (answered === "aborted" || this.#leftBy()) return err(gatewayError("query.cancelled"));
    const due = this.#due;
    const follows = answered.ok && due !== undefined;
    this.#ahead = follows ? this.#polled(due) : undefined;
    return answered;
  }

  #leftBy(): boolean {
    return this.#left;
  }

  /** Ends the query in the engine if it has not ended, and waits for that, for a bounded time. Idempotent; never rejects. */
  async end(): Promise<void> {
    this.#left = true;
    this.#polls.abort();
    this.#signal.removeEventListener("abort", this.#onAbort);
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead === undefined && this.#isEnded()) return;
    const limit = new Canceller();
    using _limit = this.#host.clock.timer(limits.cancelMs, () => limit.abort());
    if (ahead !== undefined) await within(limit.signal, ahead);
    if (this.#isEnded() || this.#due === undefined || limit.signal.aborted) return;
    await this.#ask({ method: "DELETE", path: this.#due }, limit.signal);
    await this.#untilGone(limit.signal);
    this.#over = true;
  }

  /** Nothing is left to end in the engine. A method, because it changes while others are awaited. */
  #isEnded(): boolean {
    return this.#over || this.#due === undefined;
  }

  readonly #onAbort = (): void => this.#aborted.abort();

  /** Polls on until the server says that the query is over or unknown. */
  async #untilGone(signal: AbortSignal): Promise<void> {
    let delayMs: number = limits.retryDelayMs.first;
    while (!signal.aborted && this.#due !== undefined && !this.#over) {
      const due = this.#due;
      const answer = await this.#ask({ method: "GET", path: due }, signal);
      if (answer.ok && !busyStatuses.has(answer.value.status)) {
        if (!this.#read(answer.value).ok) return;
        if (this.#due !== due) continue;
      }
      await waited(this.#host.clock, delayMs, signal);
      delayMs = Math.min(delayMs * 2, limits.retryDelayMs.last);
    }
  }

  async #submitted({ sql }: Submission): Promise<Answered> {
    let delayMs: number = limits.retryDelayMs.first;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#http.ask(
        this.#request({ method: "POST", path: statementPath, body: sql }),
      );
      const refused = answer.ok && refusedStatuses.has(answer.value.status);
      if (!refused) return this.#began(answer);
      if (attempt === limits.submitAttemptsMax || this.#aborted.signal.aborted) {
        return err(
          gatewayError("cluster.connectFailed", { detail: `HTTP ${answer.value.status}` }),
        );
      }
      await waited(this.#host.clock, this.#delay(answer, delayMs), this.#aborted.signal);
      delayMs *= 2;
    }
  }

  #began(answer: Result<HttpAnswer, HttpFailure>): Answered {
    if (answer.ok) return this.#read(answer.value);
    this.#over = answer.error === "unreachable";
    return err(errorOfHttp(answer.error, true));
  }

  async #polled(path: string): Promise<Answered> {
    const endMs = this.#host.clock.nowMs() + limits.retryMs;
    let delayMs: number = limits.retryDelayMs.first;
    for (;;) {
      const answer = await this.#ask({ method: "GET", path }, this.#polls.signal);
      const again = mayPollAgain(answer) && this.#host.clock.nowMs() < endMs;
      if (!again)
        return answer.ok ? this.#read(answer.value) : err(errorOfHttp(answer.error, false));
      await waited(this.#host.clock, this.#delay(answer, delayMs), this.#polls.signal);
      delayMs = Math.min(delayMs * 2, limits.retryDelayMs.last);
    }
  }

  #ask(request: Asked, signal: AbortSignal) {
    // Once polls are over, what is asked is about the end.
    const control = this.#polls.signal.aborted;
    return this.#http.ask(this.#request({ ...request, control }), signal);
  }

  #request(request: Asked): HttpRequest {
    const headers = this.#cookies.isEmpty
      ? this.#headers
      : { ...this.#headers, ...this.#cookies.header() };
    return { ...request, headers, caller: this.#caller };
  }

  /** What the server asks for, within reason, or our own delay with jitter. */
  #delay(answer: Result<HttpAnswer, HttpFailure>, ownMs: number): number {
    const asked = answer.ok ? Number(headerValue(answer.value.headers, "retry-after")) : Number.NaN;
    if (asked >= 0) return Math.min(asked * 1_000, limits.retryDelayMs.last);
    return ownMs * (0.5 + this.#host.random() / 2);
  }

  /** Reads a page and where the next one is. */
  #read({ status, headers, body }: HttpAnswer): Answered {
    if (status !== 200) return this.#lost(errorOfStatus(status, this.#caller));
    const page = readClientPage(body);
    if (page === undefined) return err(unreadable("an answer that is no page"));
    if (!/^[\w-]{1,128}$/.test(page.id)) return err(unreadable("an id that is none"));
    this.#id ??= page.id;
    if (page.id !== this.#id) return err(unreadable("an answer of another query"));
    const due = page.nextUri === undefined ? undefined : this.#pathOf(page.nextUri);
    if (due === undefined && page.nextUri !== undefined) return err(unreadable("a link elsewhere"));
    this.#cookies.take(headers);
    this.#due = due;
    this.#over = due === undefined;
    return ok({ page, bytes: body, headers });
  }

  /** An answer without a page: the server does not know the query, or never took it. */
  #lost(error: GatewayError): Answered {
    this.#over = true;
    return err(error);
  }

  /** Path of a link that leads to this query on this server; undefined for any other. */
  #pathOf(link: string): string | undefined {
    const { origin } = this.#http;
    // As Trino writes them, which a reader of addresses would find to be the same.
    const asWritten = link.startsWith(origin) ? plainPath.exec(link.slice(origin.length)) : null;
    if (asWritten?.[1] === this.#id) return asWritten?.[0];
    const url = URL.canParse(link) ? new URL(link) : undefined;
    if (url?.origin !== origin || url.username !== "" || url.password !== "") return undefined;
    const own = url.pathname.startsWith(`${statementPath}/`);
    return own && url.pathname.includes(`/${this.#id}/`) ? url.pathname + url.search : undefined;
  }
}

/** Nothing of an answer came, or it says to come again. */
function mayPollAgain(answer: Result<HttpAnswer, HttpFailure>): boolean {
  if (answer.ok) return busyStatuses.has(answer.value.status);
  return answer.error === "unreachable" || answer.error === "closed";
}

function unreadable(detail: string): GatewayError {
  return gatewayError("engine.broken", { detail });
}
