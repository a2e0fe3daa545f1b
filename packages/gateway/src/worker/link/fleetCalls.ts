/**
 * Calls of the control plane behind the fleet secret: time limits on the host's clock, two secrets
 * while one is changed, and one log line for each change between answering, silent and refusing.
 *
 * It does not retry; whoever calls has its own pause.
 */
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { answerBytesMax, callMsMax } from "../limits.ts";
import type { Transport, WireAnswer, WireRequest } from "./transport.ts";

export type CallFailure =
  | { readonly code: "unreachable"; readonly detail: string }
  | { readonly code: "timeout" }
  | { readonly code: "tooLarge" }
  /** None of our secrets is taken. */
  | { readonly code: "unauthorized" }
  /** 429, 5xx or a redirect: it may be well later. */
  | { readonly code: "busy"; readonly status: number; readonly retryAfterMs: number | undefined }
  /** Another 4xx: the same call would be refused again. */
  | { readonly code: "refused"; readonly status: number }
  | { readonly code: "stopped" };

export interface Call {
  readonly method: WireRequest["method"];
  /** With its query; appended to the control plane's URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly msMax?: number;
  readonly bytesMax?: number;
}

export interface FleetCalls {
  /** 2xx and 304 are answers; everything else is a failure. Never throws. */
  call(call: Call, signal: AbortSignal): Promise<Result<WireAnswer, CallFailure>>;
  /** The secret that was taken last; the first until then. */
  secret(): Secret;
}

export interface FleetCallParts {
  readonly host: Pick<Host, "clock" | "log">;
  readonly transport: Transport;
  /** Without a slash at its end. */
  readonly url: string;
  /** Current, then previous. */
  readonly secrets: readonly [Secret, ...Secret[]];
}

/** One line for status and log. */
export function callFailureText(failure: CallFailure): string {
  switch (failure.code) {
    case "unreachable":
      return `the control plane can not be reached (${failure.detail})`;
    case "timeout":
      return "the control plane does not answer";
    case "tooLarge":
      return "the control plane's answer is too large";
    case "unauthorized":
      return "the control plane refuses the fleet secret";
    case "busy":
      return `the control plane answers ${failure.status}`;
    case "refused":
      return `the control plane refuses the call (${failure.status})`;
    case "stopped":
      return "the worker stops";
  }
}

/** How long the server asked to wait, in milliseconds. */
export function retryAfterOf(failure: CallFailure): number | undefined {
  return failure.code === "busy" ? failure.retryAfterMs : undefined;
}

/** Makes the calls of one control plane. */
export function fleetCalls(parts: FleetCallParts): FleetCalls {
  const { host, url, secrets } = parts;
  let fits = 0;
  let state: "answering" | "silent" | "refusing" | undefined;

  function become(next: NonNullable<typeof state>, failure: CallFailure | undefined): void {
    if (state === next) return;
    state = next;
    const reason = failure && callFailureText(failure);
    if (next === "answering") host.log.write("info", "worker.linkUp", {});
    else if (next === "silent") host.log.write("warn", "worker.linkDown", { reason });
    else host.log.write("error", "worker.linkSecretRefused", { reason });
  }

  async function once(call: Call, secret: Secret, signal: AbortSignal): Promise<Answered> {
    const headers = { ...call.headers, authorization: `Bearer ${secret.reveal()}` };
    const wanted: WireRequest = {
      method: call.method,
      url: `${url}${call.path}`,
      headers,
      ...(call.body === undefined ? {} : { body: call.body }),
      bytesMax: call.bytesMax ?? answerBytesMax,
    };
    return sendWithin(parts, wanted, call.msMax ?? callMsMax, signal);
  }

  async function attempt(
    wanted: Call,
    signal: AbortSignal,
  ): Promise<Result<WireAnswer, CallFailure>> {
    let failure: CallFailure = { code: "unauthorized" };
    for (let turn = 0; turn < secrets.length; turn += 1) {
      const index = (fits + turn) % secrets.length;
      const answered = await once(wanted, secrets[index] ?? secrets[0], signal);
      if (!answered.ok) {
        if (answered.error.code === "unreachable" || answered.error.code === "timeout") {
          become("silent", answered.error);
        }
        return answered;
      }
      const judged = judgedAnswer(answered.value, host.clock.unixMs());
      if (judged.ok || !mayFitOther(judged.error)) {
        fits = index;
        become("answering", undefined);
        return judged;
      }
      failure = turn === 0 || judged.error.code === "busy" ? judged.error : failure;
    }
    become("refusing", { code: "unauthorized" });
    return err(failure);
  }

  return { call: attempt, secret: () => secrets[fits] ?? secrets[0] };
}

type Answered = Result<WireAnswer, CallFailure>;

/** Sends within `msMax` of the host's clock. */
export async function sendWithin(
  { host, transport }: Pick<FleetCallParts, "host" | "transport">,
  wanted: WireRequest,
  msMax: number,
  signal: AbortSignal,
): Promise<Answered> {
  const ending = new AbortController();
  let late = false;
  const stop = (): void => ending.abort();
  using _limit = host.clock.timer(msMax, () => {
    late = true;
    ending.abort();
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const sent = await transport.send(wanted, ending.signal);
  signal.removeEventListener("abort", stop);
  if (sent.ok) return sent;
  return err(sent.error.code === "stopped" && late ? { code: "timeout" } : sent.error);
}

/** What an answer's status means; `nowMs` is Unix time, for dates in `Retry-After`. */
export function judgedAnswer(answer: WireAnswer, nowMs: number): Answered {
  const { status } = answer;
  if ((status >= 200 && status < 300) || status === 304) return ok(answer);
  if (status === 401) return err({ code: "unauthorized" });
  if (status === 408 || status === 425 || status === 429 || status < 400 || status >= 500) {
    return err({ code: "busy", status, retryAfterMs: retryAfterMsOf(answer, nowMs) });
  }
  return err({ code: "refused", status });
}

/** After too many failures the server says 429 instead of 401, even before the fitting secret was tried. */
function mayFitOther(failure: CallFailure): boolean {
  return failure.code === "unauthorized" || (failure.code === "busy" && failure.status === 429);
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMsOf({ headers }: WireAnswer, nowMs: number): number | undefined {
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
