/** One exchange of the client protocol: a request, who sent it, and how it is refused. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { RelayedClient } from "../listener/elsewhere.ts";
import type { DecodingClient } from "../listener/longBytes.ts";
import type { Sender } from "./login/login.ts";
import { sendRefusal, sendStatus } from "./page/respond.ts";
import type { Peer } from "./peer.ts";
import type { HttpRequest, HttpResponse } from "../listener/http/exchange.ts";
import { memoOf } from "../listener/http/plain/sameLines.ts";

/** A request, where it came from, and its answer. */
export interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly peer: Peer;
  /** What a client may log in by, for the answer to one that did not. */
  readonly challenges: readonly string[];
  /** The client is connected to another gateway, which took its query for one of ours. */
  readonly relayed: boolean;
}

/** What another gateway is told of the sender. */
export function clientOf({
  address,
  mayTakeCredentials,
  certificateNames,
  baseUrl,
}: Peer): RelayedClient {
  return { address, mayTakeCredentials, certificateNames, baseUrl };
}

/** What a login of the sender is judged by. */
export function senderOf({ request, peer }: Exchange): Sender {
  const { address, certificateNames, mayTakeCredentials } = peer;
  const { headers } = request;
  return { headers, address, certificateNames, mayTakeCredentials, memo: memoOf(request) };
}

/** Answers by the status of an error. */
export function refuse({ request, response, challenges }: Exchange, error: GatewayError): void {
  // As an error of a query this code is status 200; as the refusal of a request, Trino answers 403.
  if (error.code === "query.permission") return sendStatus(request, response, 403, error.message);
  return sendRefusal(request, response, error, challenges);
}

/** Answers a method that the path does not have. */
export function notAllowed({ request, response }: Exchange, allow: string): void {
  response.setHeader("Allow", allow);
  sendStatus(request, response, 405, "Method not allowed");
}

/** Who sent the text. Reading stops when that client leaves. */
export function whoOf({ identity }: Login, response: HttpResponse): DecodingClient {
  return { user: identity.user, client: new AnsweredClient(response) };
}

/** A class for the reason that stands at `SignalledClient`. */
class AnsweredClient {
  readonly #response: HttpResponse;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  get over(): boolean {
    return this.#response.destroyed;
  }
}
