/**
 * Queries of other gateways of the fleet: a balancer sends a poll to whichever it likes, and the one that
 * has the query is found by its mark in the link. What carries the request there is the process's
 * business; a frontend knows marks, and what it is told of a client that another gateway heard.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Door } from "@gateway/core/port/door.ts";
import type { Frontend, ListenError } from "@gateway/core/port/frontend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Result } from "@gateway/core/result.ts";
import type { HttpRequest, HttpResponse } from "./http/exchange.ts";

/** A client as the gateway saw it to which it is connected. */
export interface RelayedClient {
  readonly address: string;
  /** Whether a password or token may pass on the client's own connection. */
  readonly mayTakeCredentials: boolean;
  /** Names of the client's verified certificate. */
  readonly certificateNames: readonly string[];
  /** Where the client reaches the fleet: scheme, host and port. */
  readonly baseUrl: string;
}

/** One request of a client, and what is known of who sent it. */
export interface AskedElsewhere {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly client: RelayedClient;
  /** Its whole body, where that was read already. */
  readonly body?: Uint8Array;
}

/** One that another gateway's client sent, as it comes from that gateway. */
export interface RelayedRequest extends AskedElsewhere {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The rest of the fleet, as a frontend sees it. */
export interface Elsewhere {
  /** What names this process's listener in its links: `instance`, and how others reach it. Letters, digits, `-` and `_`, at most `markLengthMax` long. */
  mark(instance: string): string;
  /**
   * Has the gateway that made `mark` answer the request. False when there is none: the mark is forged, or its
   * maker does not answer; nothing was sent to the client then. A client that leaves takes its request along.
   */
  relay(mark: string, frontend: string, asked: AskedElsewhere): Promise<boolean>;
}

/** A call of a protocol that is no HTTP/1, for the frontend of another gateway, which reads it from the body of a request. */
export interface CarriedCall {
  /** With a slash before it. */
  readonly path: string;
  /** Names and values in turns. */
  readonly headers: readonly string[];
  /** Bytes may be sent again where a connection broke before an answer began; a stream is sent once. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  readonly client: RelayedClient;
  /** Aborted when the client leaves: the call ends there then. */
  readonly signal: AbortSignal;
}

/** The same for frontends whose calls have to be carried. */
export interface Carrier extends Elsewhere {
  /**
   * Has the gateway that made `mark` answer the call, and returns the body of its answer, which breaks off with
   * an error where that gateway does. Undefined when there is none; it read nothing of the call then.
   */
  carry(mark: string, frontend: string, call: CarriedCall): Promise<Readable | undefined>;
}

/** Room for an instance and the sealed address of a gateway. */
export const markLengthMax = 200;

/** A frontend that answers requests which another gateway's client sent. */
export interface PolledFrontend extends Frontend {
  /** Answers it as if the client were connected here. A query that is not here is not anywhere: it is never sent on. */
  relayed?(asked: RelayedRequest): void;
}

/** What a frontend's `listen.ts` exports where its queries are asked for over separate requests. */
export type ListenPolled<Config, Rest extends Elsewhere = Elsewhere> = (
  config: Config,
  door: Door,
  host: Host,
  elsewhere?: Rest,
) => Promise<Result<PolledFrontend, ListenError>>;
