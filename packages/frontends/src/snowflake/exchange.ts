/** One exchange with a driver, and the session that its token leads to. */
import { sessionGone, tokenExpired } from "./errors.ts";
import { sessionToken } from "./login/headers.ts";
import type { Envelope } from "./page/answers.ts";
import type { HttpPeer } from "../listener/http/peer.ts";
import type { LiveSession, Sessions } from "./session/sessions.ts";
import type { HttpRequest, HttpResponse } from "../listener/http/exchange.ts";

export interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly peer: HttpPeer;
  /** The client is connected to another gateway, which took it for a request about something here. */
  readonly relayed: boolean;
}

export interface InSession {
  readonly exchange: Exchange;
  readonly session: LiveSession;
}

/** The session, or the answer that makes a driver renew its token or log in again. */
export function inSession(
  exchange: Exchange,
  sessions: Sessions,
): InSession | { readonly refusal: Envelope } {
  const token = sessionToken(exchange.request.headers);
  const session = token === undefined ? undefined : sessions.find(token);
  if (session === undefined) return { refusal: sessionRefusal(sessionGone) };
  if (session === "expired") return { refusal: sessionRefusal(tokenExpired) };
  return { exchange, session };
}

/** One text for forged, ended and foreign tokens alike. */
export function sessionRefusal(code: string): Envelope {
  const message =
    code === tokenExpired
      ? "The session's token is too old and has to be renewed."
      : "The session does not exist any more. A new login is required.";
  return { data: null, code, message, success: false };
}
