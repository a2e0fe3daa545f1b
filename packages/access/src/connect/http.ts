/**
 * Small JSON requests to an identity provider or a policy server: one time limit over all of it, a limit on
 * the response, no redirects, and subject to the limits on outgoing connections.
 */
import { readFile } from "node:fs/promises";
import type { Host } from "@gateway/core/port/host.ts";
import { egressRefused } from "@gateway/core/port/egress.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Agent, buildConnector, errors } from "undici";

/** More than any provider's keys; a larger response is nonsense. */
const responseBytesMaxDefault = 1 << 20;

export interface HttpOptions {
  /** Covers name look-up, connection, request and response. */
  readonly timeoutMs: number;
  readonly connectionsMax: number;
  /** PEM file of the authorities to trust, or undefined for those of the system. */
  readonly caFile: string | undefined;
  /** Of the response; more than that is "tooLarge". Absent: 1 MiB. */
  readonly responseBytesMax?: number;
}

/** `token` is a bearer token, `basic` what follows `Basic`; `body` (as JSON) or `form` makes it a POST. */
export interface HttpRequest {
  readonly url: string;
  readonly token?: string;
  readonly basic?: string;
  readonly body?: object;
  /** The form that is asked for; absent: JSON. */
  readonly accept?: string;
  readonly form?: URLSearchParams;
}

export interface HttpResponse {
  readonly status: number;
  /** The parsed JSON, or undefined when the body is none. */
  readonly json: unknown;
}

/** Why there is no response, for the log: no text of the other side. */
export type HttpFailure = "slow" | "unreachable" | "tooLarge" | "caFile";

export class HttpClient implements AsyncDisposable {
  readonly #options: HttpOptions;
  readonly #host: Pick<Host, "clock" | "egress">;
  #agent: Promise<Agent> | undefined;
  readonly #open = new Set<AbortController>();

  constructor(options: HttpOptions, host: Pick<Host, "clock" | "egress">) {
    this.#options = options;
    this.#host = host;
  }

  /** Where `left` aborts, the request ends and the answer says "slow", which nobody waits for any more. */
  async ask(request: HttpRequest, left?: AbortSignal): Promise<Result<HttpResponse, HttpFailure>> {
    const limit = new AbortController();
    const aborted = new Promise<"slow">((resolve) => {
      limit.signal.addEventListener("abort", () => resolve("slow"), { once: true });
    });
    using _timer = this.#host.clock.timer(this.#options.timeoutMs, () => limit.abort());
    const leave = (): void => limit.abort();
    left?.addEventListener("abort", leave, { once: true });
    if (left?.aborted === true) limit.abort();
    this.#open.add(limit);
    try {
      // undici looks at the signal only once it has a connection.
      return await Promise.race([this.#send(request, limit.signal), aborted.then(err)]);
    } finally {
      left?.removeEventListener("abort", leave);
      this.#open.delete(limit);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const limit of this.#open) limit.abort();
    const agent = await this.#agent?.catch(() => undefined);
    await agent?.destroy();
  }

  async #send(
    request: HttpRequest,
    signal: AbortSignal,
  ): Promise<Result<HttpResponse, HttpFailure>> {
    const agent = await this.#opened();
    if (agent === undefined) return err("caFile");
    const { origin, pathname, search } = new URL(request.url);
    const sent = sentBody(request);
    try {
      const { statusCode, body: received } = await agent.request({
        origin,
        path: pathname + search,
        method: sent === undefined ? "GET" : "POST",
        headers: {
          accept: request.accept ?? "application/json",
          ...(sent !== undefined && { "content-type": sent.type }),
          ...authorizationOf(request),
        },
        body: sent?.text ?? null,
        signal,
      });
      return ok({ status: statusCode, json: jsonOf(await received.text()) });
    } catch (failure) {
      if (signal.aborted) return err("slow");
      return err(
        failure instanceof errors.ResponseExceededMaxSizeError ? "tooLarge" : "unreachable",
      );
    }
  }

  /** The agent, made at the first request: a file of authorities that can not be read is tried again. */
  async #opened(): Promise<Agent | undefined> {
    try {
      return await (this.#agent ??= this.#make());
    } catch {
      this.#agent = undefined;
      return undefined;
    }
  }

  async #make(): Promise<Agent> {
    const { caFile, timeoutMs, connectionsMax } = this.#options;
    const { responseBytesMax = responseBytesMaxDefault } = this.#options;
    const { egress } = this.#host;
    const connect = buildConnector({
      minVersion: "TLSv1.2",
      timeout: timeoutMs,
      ...(egress.lookup && { lookup: egress.lookup }),
      ...(caFile !== undefined && { ca: await readFile(caFile, "utf8") }),
    });
    return new Agent({
      connections: connectionsMax,
      pipelining: 1,
      maxResponseSize: responseBytesMax,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: (place, callback) => {
        if (egress.refusesHost(place.hostname)) return callback(egressRefused(), null);
        return connect(place, callback);
      },
    });
  }
}

function sentBody({ body, form }: HttpRequest): { type: string; text: string } | undefined {
  if (form !== undefined) {
    return { type: "application/x-www-form-urlencoded", text: form.toString() };
  }
  return body === undefined ? undefined : { type: "application/json", text: JSON.stringify(body) };
}

function authorizationOf({ token, basic }: HttpRequest): { authorization?: string } {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  return basic === undefined ? {} : { authorization: `Basic ${basic}` };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
