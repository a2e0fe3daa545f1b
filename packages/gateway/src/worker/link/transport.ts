/** One HTTP exchange as the worker's parts see it. The real one is httpTransport.ts. */
import type { Result } from "@gateway/core/result.ts";

export interface WireRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** More bytes than these are not read. */
  readonly bytesMax: number;
}

export interface WireAnswer {
  readonly status: number;
  /** Lower-case names; one value each. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as they were sent, never inflated. */
  readonly body: Uint8Array;
}

/** `detail` is a code of the system or the library (`ECONNREFUSED`), never a foreign text. */
export type TransportFailure =
  | { readonly code: "unreachable"; readonly detail: string }
  | { readonly code: "tooLarge" }
  /** The signal aborted. */
  | { readonly code: "stopped" };

export interface Transport extends AsyncDisposable {
  /** Never follows a redirect and never throws. Time limits come with `signal`. */
  send(request: WireRequest, signal: AbortSignal): Promise<Result<WireAnswer, TransportFailure>>;
}
