/**
 * The requests of ClickHouse's HTTP interface: who asks, which statement is meant, what is answered.
 *
 * Sockets, TLS and caps are in `listen.ts`; what a statement answers is in `run/`.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Result } from "@gateway/core/result.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import { exceptionText } from "@gateway/wire/clickhouse/exception.ts";
import type { ClickhouseConfig } from "./config.ts";
import { refusalOf } from "./errors.ts";
import { checkHeaders, logIn, type Sender } from "./login/login.ts";
import { actionOf } from "./machine.ts";
import type { HttpPeer, HttpPeers } from "../listener/http/peer.ts";
import { fieldsOf, isOn, type Fields } from "./read/fields.ts";
import { Answer, type HeldBytes } from "./run/answer.ts";
import { blockPacking, packingOf, unpackedBytes } from "./run/packing.ts";
import { Running } from "./run/running.ts";
import { answerStatement, type Asked, type Served } from "./run/statement.ts";
import { Sessions } from "./session/sessions.ts";
import type { HttpRequest, HttpResponse } from "../listener/http/exchange.ts";
import { memoOf, type LinesMemo } from "../listener/http/plain/sameLines.ts";

interface Options {
  readonly config: ClickhouseConfig;
  readonly door: Door;
  readonly host: Host;
  readonly peers: HttpPeers;
}

interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly peer: HttpPeer;
  /** Of the address, behind the question mark. */
  readonly queryString: string;
}

type MayWait<Value> = Promise<Value> | Value;

const plainText = "text/plain; charset=UTF-8";

export class Requests {
  readonly #door: Door;
  readonly #host: Host;
  readonly #peers: HttpPeers;
  readonly #answering: Answering;
  readonly #served: Served;
  #draining = false;

  constructor({ config, door, host, peers }: Options) {
    this.#door = door;
    this.#host = host;
    this.#peers = peers;
    const tag = (): string => Buffer.from(host.randomBytes(8)).toString("hex");
    this.#answering = { held: { bytes: 0 }, tag };
    const sessions = new Sessions(host.clock);
    this.#served = { config, door, host, pending: { bytes: 0 }, running: new Running(), sessions };
  }

  /** Refuses new statements. Those that run go on; their connections say when they are done. */
  drain(): void {
    this.#draining = true;
  }

  /** Answers one request. Never throws: what goes wrong inside is a bug, logged and answered as one. */
  handle(request: HttpRequest, response: HttpResponse): MayWait<void> {
    try {
      const due = this.#route(request, response);
      return due?.catch((bug: unknown) => this.#broke(bug, request, response));
    } catch (bug) {
      this.#broke(bug, request, response);
    }
    return undefined;
  }

  #broke(bug: unknown, request: HttpRequest, response: HttpResponse): void {
    this.#host.log.bug(bug);
    if (response.headersSent) response.destroy();
    else refuse(request, response, gatewayError("internal.bug"));
  }

  #route(request: HttpRequest, response: HttpResponse): MayWait<void> {
    const peer = this.#peers.of(request);
    if (!peer.ok) return send(request, response, peer.error.status, `${peer.error.text}\n`);
    const { method = "GET", url = "/" } = request;
    const question = url.indexOf("?");
    const path = question < 0 ? url : url.slice(0, question);
    const queryString = question < 0 ? "" : url.slice(question + 1);
    switch (actionOf(method, path)) {
      case "ping":
      case "replicas":
        // A balancer takes us out while we still answer.
        if (this.#draining) return refuse(request, response, gatewayError("gateway.draining"));
        return send(request, response, 200, "Ok.\n");
      case "statement":
        return this.#statement({ request, response, peer: peer.value, queryString });
      case "notAllowed":
        response.setHeader(
          "Allow",
          path.length > "/query".length ? "GET, HEAD" : "GET, HEAD, POST",
        );
        return send(request, response, 405, "Method not allowed\n");
      case "unknown":
        return send(request, response, 404, "There is no such path here\n");
    }
  }

  /** A promise only where something is waited for. */
  #statement(exchange: Exchange): MayWait<void> {
    const { request, response, queryString } = exchange;
    if (this.#draining) return refuse(request, response, gatewayError("gateway.draining"));
    const memo = memoOf(request);
    const checked = checkHeaders(request, memo);
    if (!checked.ok) return refuse(request, response, checked.error);
    const fields = fieldsOf(queryString);
    if (!fields.ok) return refuse(request, response, fields.error);
    // What balancers ask of a server without a password.
    if (request.method !== "POST" && fields.value.query === undefined) {
      return send(request, response, 200, "Ok.\n");
    }
    const sender = senderOf(exchange, fields.value, memo);
    const login = logIn(this.#door, sender);
    if (login instanceof Promise) {
      return login.then((judged) => this.#asUser(judged, exchange, fields.value));
    }
    return this.#asUser(login, exchange, fields.value);
  }

  #asUser(login: Result<Login, GatewayError>, exchange: Exchange, fields: Fields): MayWait<void> {
    if (!login.ok) return refuse(exchange.request, exchange.response, login.error);
    const asked = new StatementAsked(exchange, fields, login.value, this.#answering);
    return answerStatement(asked, this.#served);
  }
}

function senderOf(
  { request: { headers }, peer }: Exchange,
  { user, password }: Fields,
  memo: LinesMemo | undefined,
): Sender {
  const { address, certificateNames, mayTakeCredentials } = peer;
  return { headers, user, password, address, certificateNames, mayTakeCredentials, memo };
}

/** What the answers of a listener share. */
interface Answering {
  readonly held: HeldBytes;
  readonly tag: () => string;
}

class StatementAsked implements Asked {
  readonly request: HttpRequest;
  readonly fields: Fields;
  readonly login: Login;
  readonly address: string;
  readonly canceller = new Canceller();
  readonly #response: HttpResponse;
  readonly #answering: Answering;

  constructor(
    { request, response, peer }: Exchange,
    fields: Fields,
    login: Login,
    answering: Answering,
  ) {
    this.request = request;
    this.fields = fields;
    this.login = login;
    this.address = peer.address;
    this.#response = response;
    this.#answering = answering;
    response.once("close", () => {
      if (!response.writableFinished) this.canceller.abort(gatewayError("query.cancelled"));
    });
  }

  answerOf(queryId: string): Answer {
    const { request, fields } = this;
    const { held, tag } = this.#answering;
    const { settings } = fields;
    const accepts = settings.size > 0 && isOn(settings.get("enable_http_compression"));
    const encoded = accepts ? packingOf(request.headers["accept-encoding"]) : unpackedBytes;
    return new Answer({
      request,
      response: this.#response,
      queryId,
      whole: fields.waitsForEnd,
      packing: fields.compress ? blockPacking : encoded,
      held,
      tag,
    });
  }
}

/** A refusal before there is a statement. */
function refuse(request: HttpRequest, response: HttpResponse, error: GatewayError): void {
  const refusal = refusalOf(error);
  response.setHeader("X-ClickHouse-Exception-Code", String(refusal.code));
  if (refusal.status === 401) {
    response.setHeader("WWW-Authenticate", 'Basic realm="ClickHouse server HTTP API"');
  }
  if (refusal.status === 503) response.setHeader("Retry-After", "1");
  send(request, response, refusal.status, exceptionText(refusal));
}

function send(request: HttpRequest, response: HttpResponse, status: number, text: string): void {
  // What of the body nobody reads would be taken for the next request.
  if (!request.complete && request.headers["transfer-encoding"] !== undefined) {
    response.setHeader("Connection", "close");
  }
  if (!request.complete && Number(request.headers["content-length"] ?? 0) > 0) {
    response.setHeader("Connection", "close");
  }
  request.resume();
  response.statusCode = status;
  response.setHeader("Content-Type", plainText);
  response.setHeader("Content-Length", Buffer.byteLength(text));
  response.end(text);
}
