/**
 * The requests of ClickHouse's HTTP interface: who asks, which statement is meant, what is answered.
 *
 * Sockets, TLS and caps are in `listen.ts`; what a statement answers is in `run/`.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import { exceptionText } from "@gateway/wire/clickhouse/exception.ts";
import type { ClickhouseConfig } from "./config.ts";
import { refusalOf } from "./errors.ts";
import { checkHeaders, logIn } from "./login/login.ts";
import { actionOf } from "./machine.ts";
import type { HttpPeer, HttpPeers } from "../listener/http/peer.ts";
import { fieldsOf, isOn, type Fields } from "./read/fields.ts";
import { Answer, type HeldBytes } from "./run/answer.ts";
import { blockPacking, packingOf, unpackedBytes } from "./run/packing.ts";
import { Running } from "./run/running.ts";
import { answerStatement, type Asked, type Served } from "./run/statement.ts";
import { Sessions } from "./session/sessions.ts";
import type { HttpRequest, HttpResponse } from "../listener/http/exchange.ts";

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

const plainText = "text/plain; charset=UTF-8";

export class Requests {
  readonly #door: Door;
  readonly #host: Host;
  readonly #peers: HttpPeers;
  readonly #held: HeldBytes = { bytes: 0 };
  readonly #served: Served;
  #draining = false;

  constructor({ config, door, host, peers }: Options) {
    this.#door = door;
    this.#host = host;
    this.#peers = peers;
    const sessions = new Sessions(host.clock);
    this.#served = { config, door, host, pending: { bytes: 0 }, running: new Running(), sessions };
  }

  /** Refuses new statements. Those that run go on; their connections say when they are done. */
  drain(): void {
    this.#draining = true;
  }

  /** Answers one request. Never throws: what goes wrong inside is a bug, logged and answered as one. */
  async handle(request: HttpRequest, response: HttpResponse): Promise<void> {
    try {
      await this.#route(request, response);
    } catch (bug) {
      this.#host.log.bug(bug);
      if (response.headersSent) response.destroy();
      else refuse(request, response, gatewayError("internal.bug"));
    }
  }

  #route(request: HttpRequest, response: HttpResponse): Promise<void> | void {
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

  async #statement(exchange: Exchange): Promise<void> {
    const { request, response, peer, queryString } = exchange;
    if (this.#draining) return refuse(request, response, gatewayError("gateway.draining"));
    const checked = checkHeaders(request);
    if (!checked.ok) return refuse(request, response, checked.error);
    const fields = fieldsOf(queryString);
    if (!fields.ok) return refuse(request, response, fields.error);
    // What balancers ask of a server without a password.
    if (request.method !== "POST" && fields.value.query === undefined) {
      return send(request, response, 200, "Ok.\n");
    }
    const { user, password } = fields.value;
    const { address, certificateNames, mayTakeCredentials } = peer;
    const { headers } = request;
    const sender = { headers, user, password, address, certificateNames, mayTakeCredentials };
    const login = await logIn(this.#door, sender);
    if (!login.ok) return refuse(request, response, login.error);
    const canceller = new Canceller();
    response.once("close", () => {
      if (!response.writableFinished) canceller.abort(gatewayError("query.cancelled"));
    });
    const asked: Asked = {
      request,
      fields: fields.value,
      login: login.value,
      address,
      canceller,
      answerOf: (queryId) => this.#answerOf(exchange, fields.value, queryId),
    };
    await answerStatement(asked, this.#served);
  }

  #answerOf({ request, response }: Exchange, fields: Fields, queryId: string): Answer {
    const accepts = isOn(fields.settings.get("enable_http_compression"));
    const encoded = accepts ? packingOf(request.headers["accept-encoding"]) : unpackedBytes;
    return new Answer({
      request,
      response,
      queryId,
      whole: fields.waitsForEnd,
      packing: fields.compress ? blockPacking : encoded,
      held: this.#held,
      tag: () => Buffer.from(this.#host.randomBytes(8)).toString("hex"),
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
