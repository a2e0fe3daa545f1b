/**
 * Where batches of records go: to the control plane behind the fleet secret, or to an endpoint of its
 * own, which never sees that secret. One batch, one try; retries are the spool's.
 */
import type { Host } from "@gateway/core/port/host.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { err, type Result } from "@gateway/core/result.ts";
import { judgedAnswer, sendWithin, type CallFailure, type FleetCalls } from "../link/fleetCalls.ts";
import { answerBytesMax, recordsMsMax } from "../limits.ts";
import type { Presence } from "../link/presence.ts";
import type { Transport, WireAnswer } from "../link/transport.ts";

/** An address outside the fleet. Config: `history.endpoint` of the worker, or of the snapshot. */
export interface HistoryEndpoint {
  readonly url: string;
  /** Config: `history.auth.bearer`. */
  readonly bearer: Secret | undefined;
}

/** `unregistered`: the control plane does not know this instance (any more). */
export type UplinkFailure = CallFailure | { readonly code: "unregistered" };

export interface Uplink {
  /** `body`: a batch, JSON under gzip. */
  send(body: Uint8Array, signal: AbortSignal): Promise<Result<WireAnswer, UplinkFailure>>;
}

export interface UplinkParts {
  readonly host: Pick<Host, "clock" | "log">;
  /** For an endpoint outside the fleet: without the CA file and the proxy of the control plane. */
  readonly transport: Transport;
  readonly calls: FleetCalls;
  readonly presence: Pick<Presence, "headers" | "lost">;
  /** What is configured now; undefined means the control plane. */
  endpoint(): HistoryEndpoint | undefined;
}

const json = { "content-type": "application/json", "content-encoding": "gzip" } as const;

export function historyUplink(parts: UplinkParts): Uplink {
  return {
    send: (body, signal) => {
      const endpoint = parts.endpoint();
      return endpoint === undefined
        ? toControlPlane(parts, body, signal)
        : toEndpoint(parts, endpoint, body, signal);
    },
  };
}

async function toControlPlane(
  { calls, presence }: UplinkParts,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Result<WireAnswer, UplinkFailure>> {
  const instance = presence.headers();
  if (instance === undefined) return err({ code: "unregistered" });
  const path = "/worker/query-records";
  const headers = { ...json, ...instance };
  const sent = await calls.call(
    { method: "POST", path, headers, body, msMax: recordsMsMax },
    signal,
  );
  if (sent.ok || sent.error.code !== "refused" || sent.error.status !== 403) return sent;
  presence.lost();
  return err({ code: "unregistered" });
}

async function toEndpoint(
  parts: UplinkParts,
  { url, bearer }: HistoryEndpoint,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Result<WireAnswer, UplinkFailure>> {
  const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer.reveal()}` };
  const headers = { ...json, ...authorization };
  const wanted = { method: "POST", url, headers, body, bytesMax: answerBytesMax } as const;
  const sent = await sendWithin(parts, wanted, recordsMsMax, signal);
  return sent.ok ? judgedAnswer(sent.value, parts.host.clock.unixMs()) : sent;
}

/** One line for status and log. */
export function uplinkFailureText(failure: UplinkFailure): string {
  switch (failure.code) {
    case "unregistered":
      return "the worker is not registered";
    case "unreachable":
      return `the history endpoint can not be reached (${failure.detail})`;
    case "timeout":
      return "the history endpoint does not answer";
    case "tooLarge":
      return "the history endpoint's answer is too large";
    case "unauthorized":
      return "the history endpoint refuses the credentials";
    case "busy":
    case "refused":
      return `the history endpoint answers ${failure.status}`;
    case "stopped":
      return "the worker stops";
  }
}
