/**
 * The web service of a guard: one POST for each question, a time limit over all of it, at most so many at once, and
 * answers that are remembered for as long as the configuration says.
 *
 * What is told of a statement and what an answer means is decided in core/guard. Whatever goes wrong is no answer.
 */
import { createHash } from "node:crypto";
import type { WebhookConfig } from "@gateway/contract/config/guardrail.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import {
  guardAnswer,
  type GuardAnswer,
  type GuardQuestion,
} from "@gateway/contract/guardService.ts";
import type { GuardService } from "@gateway/core/port/sql/guardService.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { MetricFamily } from "@gateway/core/port/metrics.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Aged } from "@gateway/core/tool/aged.ts";
import { HttpClient } from "../connect/http.ts";

/** Questions that gave no usable answer; the log says of which guard. */
export const guardServiceFailures = {
  name: "gateway_guard_service_failures_total",
  help: "Questions to web services of guards that gave no usable answer.",
  labels: ["reason"],
} as const satisfies MetricFamily<string>;

/** A statement that is written anew may have 65,536 characters, each escaped as six. */
const responseBytesMax = 512 * 1024;
/** Questions of all users that wait or are open. One more is not asked, so that a slow service holds no memory. */
const askingMax = 1_000;
const rememberedMax = 10_000;
/** After no answer about a user the service is not asked about that user for this long. */
const restMs = 1_000;
const restingMax = 10_000;

/** Why there is no answer, as log and metric name it. */
type Reason =
  | "slow"
  | "unreachable"
  | "tooLarge"
  | "caFile"
  | "busy"
  | "rests"
  | "status"
  | "answer";

/** Asks nothing before it is used. */
export function guardService(config: WebhookConfig, host: Host): GuardService & AsyncDisposable {
  const service = new Service(config, host);
  return {
    ask: (question, user, signal) => service.ask(question, user, signal),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

interface Remembered {
  readonly answer: GuardAnswer;
  readonly untilMs: number;
}

class Service implements AsyncDisposable {
  readonly #config: WebhookConfig;
  readonly #host: Host;
  readonly #http: HttpClient;
  readonly #remembered = new Aged<string, Remembered>();
  /** Users about whom there was no answer in time, and when the service may be asked again. */
  readonly #resting = new Aged<string, number>();
  #asking = 0;

  constructor(config: WebhookConfig, host: Host) {
    const { timeoutMs, caFile, maxConcurrent } = config;
    this.#config = config;
    this.#host = host;
    const options = { timeoutMs, caFile, connectionsMax: maxConcurrent, responseBytesMax };
    this.#http = new HttpClient(options, host);
  }

  /** Never rejects. */
  async ask(
    question: GuardQuestion,
    user: string,
    signal: AbortSignal,
  ): Promise<Result<GuardAnswer, string>> {
    const { clock } = this.#host;
    const nowMs = clock.nowMs();
    const { cacheTtlMs } = this.#config;
    const key = cacheTtlMs > 0 ? keyOf(question) : "";
    const known = this.#remembered.get(key);
    if (known !== undefined && known.untilMs > nowMs) return ok(known.answer);
    if ((this.#resting.get(user) ?? Number.NEGATIVE_INFINITY) > nowMs) return this.#no("rests");
    if (this.#asking >= askingMax) return this.#no("busy");
    this.#asking += 1;
    const found = await this.#answerTo(question, signal).finally(() => {
      this.#asking -= 1;
    });
    if (typeof found !== "string") {
      // The answer is as old as the question.
      const remembered = { answer: found, untilMs: nowMs + cacheTtlMs };
      if (cacheTtlMs > 0) this.#remembered.putWithin(rememberedMax, key, remembered);
      return ok(found);
    }
    // Whoever left says nothing about the service.
    if (signal.aborted) return err(found);
    if (isSilence(found)) this.#resting.putWithin(restingMax, user, clock.nowMs() + restMs);
    return this.#no(found);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }

  #no(reason: Reason): Result<GuardAnswer, string> {
    this.#host.metrics.counter(guardServiceFailures, { reason }).add(1);
    this.#host.log.write("warn", "guard.unavailable", { guard: this.#config.name, reason });
    return err(reason);
  }

  /** A text is the reason why there is no answer: none of the service's own words. */
  async #answerTo(body: GuardQuestion, signal: AbortSignal): Promise<GuardAnswer | Reason> {
    const { url, credentials } = this.#config;
    const token = credentials && secretText(credentials.bearer);
    const request = { url, body, ...(token !== undefined && { token }) };
    const answer = await this.#http.ask(request, signal);
    if (!answer.ok) return answer.error;
    const { status, json } = answer.value;
    return status === 200 ? (guardAnswer(json) ?? "answer") : "status";
  }
}

/** The service was not there or took its time: the next question would wait as long. */
function isSilence(reason: Reason): boolean {
  return reason === "slow" || reason === "unreachable";
}

/** Of bounded length; every part is quoted, so no two questions share one. */
function keyOf(question: GuardQuestion): string {
  return createHash("sha256").update(JSON.stringify(question)).digest("base64");
}
