/**
 * The HTTP endpoints: who asks, which session is meant, and which message is answered by whom.
 *
 * Every request proves who sends it before its body is read. Sockets, TLS and caps are in `listen.ts`; what a
 * message means is in `protocol.ts`.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Served } from "./commands/context.ts";
import type { Carrier, AskedElsewhere } from "../listener/elsewhere.ts";
import type { Pending } from "../listener/http/body.ts";
import type { HttpPeer, HttpPeers, PeerRefusal } from "../listener/http/peer.ts";
import type { McpConfig } from "./config.ts";
import {
  checkHeaders,
  sessionHeader,
  single,
  versionHeader,
  visibleHeaders,
} from "./login/headers.ts";
import { logIn } from "./login/login.ts";
import { challengesOf, endpointPath, metadataPaths, resourceMetadata } from "./login/metadata.ts";
import { Handles } from "./page/handles.ts";
import { sendAnswer, sendEmpty, sendJson, sendRefusal, sendStatus } from "./page/respond.ts";
import { readBody } from "./read/body.ts";
import { isId, isRecord, readEnvelope, type Envelope } from "./read/envelope.ts";
import { Cancels } from "./run/cancels.ts";
import { Shelf } from "./run/shelf.ts";
import type { Caller } from "./session/session.ts";
import { SessionTokens, type Agent, type AgentSession } from "./session/token.ts";
import type { HttpRequest, HttpResponse } from "../listener/http/exchange.ts";

/** One exchange: a request, where it came from, and its answer. */
interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly peer: HttpPeer;
  /** The client is connected to another gateway, which took its query for one of ours. */
  readonly relayed: boolean;
}

/** Who sent a message, and in which session. */
interface Sent {
  readonly login: Login;
  readonly session: AgentSession | undefined;
}

type RequestMessage = Extract<Envelope, { kind: "request" }>;
type Notification = Extract<Envelope, { kind: "notification" }>;

/** How requests come here, and where they may go on to. */
interface Reach {
  readonly peers: HttpPeers;
  readonly elsewhere: Carrier | undefined;
}

export class Requests {
  readonly #served: Served;
  readonly #peers: HttpPeers;
  readonly #elsewhere: Carrier | undefined;
  readonly #cancels: Cancels;
  readonly #pending: Pending = { bytes: 0 };
  readonly #tokens: SessionTokens;
  #draining = false;

  constructor(config: McpConfig, door: Door, host: Host, { peers, elsewhere }: Reach) {
    this.#peers = peers;
    this.#elsewhere = elsewhere;
    this.#served = {
      config,
      door,
      host,
      shelf: new Shelf(host),
      handles: new Handles(host, elsewhere),
    };
    this.#tokens = new SessionTokens(host);
    this.#cancels = new Cancels(host, this.#served.handles.mark, elsewhere);
  }

  /** Refuses new statements. Resolves when each older one has its end or seems left by its agent, or at the deadline. */
  drain(deadline: AbortSignal): Promise<void> {
    this.#draining = true;
    return this.#served.shelf.idle(deadline);
  }

  /** Ends what is left. */
  close(): void {
    this.#served.shelf.close();
  }

  /** Answers one request. Never throws: what goes wrong inside is a bug, logged and answered as one. */
  handle(request: HttpRequest, response: HttpResponse): Promise<void> {
    return this.#respond({ request, response, relayed: false }, () => this.#peers.of(request));
  }

  /** The same for a request that another gateway's client sent. */
  async relayed(asked: AskedElsewhere): Promise<void> {
    if (this.#cancels.relayed(asked)) return undefined;
    const { request, response, client } = asked;
    return this.#respond({ request, response, relayed: true }, () => ok(client));
  }

  async #respond(
    came: Omit<Exchange, "peer">,
    peerOf: () => Result<HttpPeer, PeerRefusal>,
  ): Promise<void> {
    const { request, response } = came;
    try {
      const peer = peerOf();
      if (!peer.ok) return sendStatus(request, response, peer.error.status, peer.error.text);
      const checked = checkHeaders(request.rawHeaders);
      if (!checked.ok) return sendStatus(request, response, 400, checked.error.message);
      await this.#route({ ...came, peer: peer.value });
    } catch (bug) {
      this.#served.host.log.bug(bug);
      if (response.headersSent) response.destroy();
      else sendRefusal(request, response, gatewayError("internal.bug"));
    }
  }

  /** The whole table of routes; everything else is 404. */
  #route(exchange: Exchange): Promise<void> | void {
    const { request, response, peer } = exchange;
    const { method = "GET", url = "/" } = request;
    const [path = "/"] = url.split("?", 1);
    if (path === endpointPath) {
      // No stream that the server begins, and no session that it could end: both are the protocol's 405.
      return method === "POST" ? this.#post(exchange) : notAllowed(exchange, "POST");
    }
    if (metadataPaths.has(path)) {
      if (method !== "GET" && method !== "HEAD") return notAllowed(exchange, "GET, HEAD");
      const metadata = resourceMetadata(this.#served.door, peer.baseUrl);
      if (metadata !== undefined) return sendJson(response, metadata);
    }
    return sendStatus(request, response, 404, "Not found");
  }

  async #post(exchange: Exchange): Promise<void> {
    const { request, peer } = exchange;
    const { config, door } = this.#served;
    const login = await logIn(door, { ...peer, headers: request.headers });
    if (!login.ok) return this.#refuse(exchange, login.error);
    const token = single(request.headers[sessionHeader]);
    const { user } = login.value.identity;
    const session = token === undefined ? undefined : this.#tokens.open(token, user);
    if (token !== undefined && session === undefined) return refuseSession(exchange);
    const body = await readBody(request, config, this.#pending);
    if (body === undefined) return;
    if (!body.ok) return this.#refuse(exchange, body.error);
    const read = readEnvelope(body.value);
    if (!read.ok) {
      const { error, rpc } = read.error;
      return sendRefusal(request, exchange.response, error, { rpc });
    }
    const sent = { login: login.value, session };
    switch (read.value.kind) {
      case "request":
        if (await this.#sentOn(exchange, read.value, body.value)) return undefined;
        return await this.#answer(exchange, read.value, sent);
      case "notification":
        return this.#note(exchange, read.value, sent);
      case "answer":
        return sendEmpty(exchange.response);
    }
  }

  /** A call about a query of another gateway: that one answers, and judges who asks. False when it is for us to answer. */
  async #sentOn(exchange: Exchange, asked: RequestMessage, body: Buffer): Promise<boolean> {
    const { request, response, peer, relayed } = exchange;
    const handle = handleIn(asked);
    const mark = handle === undefined ? undefined : this.#served.handles.foreignMark(handle);
    if (mark === undefined || relayed || this.#elsewhere === undefined) return false;
    const { address, mayTakeCredentials, certificateNames, baseUrl } = peer;
    const client = { address, mayTakeCredentials, certificateNames, baseUrl };
    return this.#elsewhere.relay(mark, "mcp", { request, response, client, body });
  }

  /** Nothing but a cancel asks for anything: what else clients tell is about themselves. */
  #note({ response }: Exchange, { method, params }: Notification, { login, session }: Sent): void {
    const id = params["requestId"];
    if (method === "notifications/cancelled" && session !== undefined && isId(id)) {
      const { nonce, home } = session;
      this.#cancels.cancel({ user: login.identity.user, session: nonce, id, home });
    }
    sendEmpty(response);
  }

  async #answer(exchange: Exchange, asked: RequestMessage, sent: Sent): Promise<void> {
    const { request, response, peer } = exchange;
    if (this.#draining && !isOfOlder(asked)) {
      return this.#refuse(exchange, gatewayError("gateway.draining"));
    }
    const { login } = sent;
    const begun = asked.method === "initialize" ? agentIn(asked.params) : undefined;
    const caller: Caller = {
      login,
      clientAddress: peer.address,
      headers: visibleHeaders(request.headers),
      agent: begun ?? sent.session,
    };
    const message = {
      message: asked.message,
      url: peer.baseUrl + endpointPath,
      headers: protocolHeaders(request),
      streams: asked.wantsProgress,
      caller,
    };
    const { user } = login.identity;
    const token =
      begun === undefined ? undefined : this.#tokens.seal(user, begun, this.#served.handles.mark);
    // With the first message: the SDK takes 10 MB, also of a gateway that no agent ever asks.
    const { answerMessage } = await import("./protocol.ts");
    const answering = await answerMessage(message, this.#served);
    let tellStopped: ((nothing: undefined) => void) | undefined;
    const stopped = new Promise<undefined>((resolve) => {
      tellStopped = resolve;
    });
    const stop = (): void => {
      tellStopped?.(undefined);
      answering.stop().catch((bug: unknown) => this.#served.host.log.bug(bug));
    };
    using _call = this.#callOf(asked, sent, stop);
    response.once("close", stop);
    // It may have left during its login, and "close" is emitted only once.
    if (response.destroyed || request.socket.destroyed) stop();
    const answer = await Promise.race([answering.response, stopped]);
    // A cancelled call gets no answer (MCP, cancellation), but its request has to end.
    if (answer === undefined) return sendEmpty(response);
    const headers = token === undefined || !answer.ok ? {} : { [sessionHeader]: token };
    await sendAnswer(response, answer, headers);
    stop();
  }

  #callOf(
    { id }: RequestMessage,
    { login, session }: Sent,
    stop: () => void,
  ): Disposable | undefined {
    if (session === undefined) return undefined;
    const { nonce, home } = session;
    return this.#cancels.begin({ user: login.identity.user, session: nonce, id, home }, stop);
  }

  #refuse({ request, response, peer }: Exchange, error: GatewayError): void {
    // Who showed nothing is told the ways, and not that one was wrong (RFC 6750 §3.1).
    const wrong = request.headers["authorization"] !== undefined;
    const challenges = challengesOf(this.#served.door, peer.baseUrl, wrong);
    sendRefusal(request, response, error, { challenges });
  }
}

/** The handle that a call of a tool names; undefined where it names none. */
function handleIn({ method, params }: RequestMessage): string | undefined {
  const { arguments: args } = params;
  if (method !== "tools/call" || !isRecord(args)) return undefined;
  const { handle } = args;
  return typeof handle === "string" ? handle : undefined;
}

/** What goes on while the gateway drains: calls about statements that began before. */
function isOfOlder({ method, params }: RequestMessage): boolean {
  const { name } = params;
  return method === "tools/call" && (name === "get_query_status" || name === "cancel_query");
}

/** What a client says of itself when it begins. */
function agentIn(params: Record<string, unknown>): Agent {
  const info = params["clientInfo"];
  const { name, version } = isRecord(info) ? info : {};
  return {
    name: typeof name === "string" ? name : "",
    version: typeof version === "string" ? version : "",
  };
}

/** What the SDK looks at. */
function protocolHeaders({ headers }: HttpRequest): Readonly<Record<string, string>> {
  const names = ["accept", "content-type", versionHeader];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = single(headers[name]);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** The protocol's word for a session that a client should begin anew: forged, expired and foreign ones alike. */
function refuseSession({ request, response }: Exchange): void {
  const message = "The session is not known; begin a new one.";
  sendRefusal(request, response, gatewayError("protocol.violation", { message }), {
    status: 404,
    rpc: -32001,
  });
}

function notAllowed({ request, response }: Exchange, allow: string): void {
  response.setHeader("Allow", allow);
  sendStatus(request, response, 405, "Method not allowed");
}
