/**
 * The HTTP endpoints of Snowflake's drivers: which session a request belongs to, what it asks, what is answered.
 *
 * Sockets, TLS and caps are in `listen.ts`; what a statement becomes is in `run/submit.ts`.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import type { Elsewhere, AskedElsewhere } from "../listener/elsewhere.ts";
import type { Pending } from "../listener/http/body.ts";
import { targetOf } from "../listener/http/host.ts";
import type { HttpPeer, HttpPeers, PeerRefusal } from "../listener/http/peer.ts";
import type { SnowflakeConfig } from "./config.ts";
import { loginAnswer, openSession, renewed, type Doorway } from "./commands/sessions.ts";
import { inSession, type Exchange, type InSession } from "./exchange.ts";
import { Queries } from "./commands/queries.ts";
import { handleIn, refuseApi, SqlApi, statementsPath } from "./commands/sqlApi.ts";
import { checkHeaders } from "./login/headers.ts";
import { failed, succeeded } from "./page/answers.ts";
import { sendFailure, sendJson, sendStatus } from "./page/respond.ts";
import { readJson } from "./read/body.ts";
import { Registry } from "./run/registry.ts";
import { Sessions } from "./session/sessions.ts";
import { markIn } from "./session/tokens.ts";
import type { HttpRequest, HttpResponse } from "../listener/http/exchange.ts";

const markBytes = 6;

/** How requests come here, and where they may go on to. */
interface Reach {
  readonly peers: HttpPeers;
  readonly elsewhere: Elsewhere | undefined;
}

export class Requests {
  readonly #config: SnowflakeConfig;
  readonly #door: Door;
  readonly #host: Host;
  readonly #peers: HttpPeers;
  readonly #pending: Pending = { bytes: 0 };
  readonly #sessions: Sessions;
  readonly #registry: Registry;
  readonly #queries: Queries;
  readonly #api: SqlApi;
  /** Names this listener in tokens and handles. */
  readonly #mark: string;
  readonly #elsewhere: Elsewhere | undefined;
  #draining = false;

  constructor(config: SnowflakeConfig, door: Door, host: Host, { peers, elsewhere }: Reach) {
    this.#config = config;
    this.#door = door;
    this.#host = host;
    this.#peers = peers;
    this.#elsewhere = elsewhere;
    const instance = Buffer.from(host.randomBytes(markBytes)).toString("hex");
    this.#mark = elsewhere?.mark(instance) ?? instance;
    this.#sessions = new Sessions({
      host,
      mark: this.#mark,
      sessionsMax: config.maxSessions,
      idleMs: config.sessionIdleSecs * 1_000,
    });
    this.#registry = new Registry(host, {
      keepMs: config.resultKeepSecs * 1_000,
      bytesMax: config.maxKeptBytes,
    });
    const served = { config, door, host, registry: this.#registry, mark: this.#mark };
    this.#queries = new Queries(served);
    this.#api = new SqlApi(served);
  }

  /** Refuses new statements. Resolves when each older one has its end, or at the deadline. */
  drain(deadline: AbortSignal): Promise<void> {
    this.#draining = true;
    return this.#registry.idle(deadline);
  }

  /** Ends what is left. */
  async close(): Promise<void> {
    this.#sessions.closeAll();
    await this.#registry.close();
  }

  /** Answers one request. Never throws: what goes wrong inside is a bug, logged and answered as one. */
  handle(request: HttpRequest, response: HttpResponse): Promise<void> {
    return this.#answer({ request, response, relayed: false }, () => this.#peers.of(request));
  }

  /** The same for a request that another gateway's client sent. */
  relayed({ request, response, client }: AskedElsewhere): Promise<void> {
    return this.#answer({ request, response, relayed: true }, () => ok(client));
  }

  async #answer(
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
      this.#host.log.bug(bug);
      if (response.headersSent) response.destroy();
      else sendFailure(request, response, gatewayError("internal.bug"));
    }
  }

  /** The whole table of routes; everything else is 404. */
  async #route(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const { method = "GET" } = request;
    const url = targetOf(request.url);
    if (url === undefined) return sendStatus(request, response, 400, "Bad request target");
    switch (`${method} ${url.pathname}`) {
      case "POST /session/v1/login-request":
        return this.#logIn(exchange, url);
      case "POST /session/token-request":
        return this.#renew(exchange);
      case "POST /session/heartbeat":
        return this.#inSession(exchange, () => sendJson(response, succeeded(null)));
      case "POST /session":
        if (url.searchParams.get("delete") === "true") return this.#logOut(exchange);
        break;
      case "POST /session/logout-request":
        return this.#logOut(exchange);
      case "POST /telemetry/send":
      case "POST /telemetry/send/sessionless":
        return this.#forget(exchange);
      case "POST /queries/v1/query-request":
        return this.#inSession(exchange, async (found) => this.#query(found, url));
      case "POST /queries/v1/abort-request":
        return this.#inSession(exchange, async (found) => this.#abort(found));
    }
    if (url.pathname.startsWith(statementsPath)) return this.#statements(exchange, method, url);
    return this.#routeOfQuery(exchange, method, url.pathname);
  }

  #routeOfQuery(exchange: Exchange, method: string, path: string): Promise<void> | void {
    const { request, response } = exchange;
    const chunk = /^\/chunks\/([\w-]{1,200})\/([\w-]{1,128})\/([\w-]{1,64})\/(\d{1,6})$/.exec(path);
    if (chunk !== null && method === "GET") {
      const [, mark = "", id = "", secret = "", number = ""] = chunk;
      const asked = { id, secret, number: Number(number) };
      return this.#here(exchange, mark, () => this.#queries.chunk(exchange, asked));
    }
    const [, id = "", what] =
      /^\/queries\/([\w-]{1,128})\/(result|abort-request)$/.exec(path) ??
      // The connector for Python writes two slashes since its version 5.
      /^\/monitoring\/queries\/{1,2}([\w-]{1,128})()$/.exec(path) ??
      [];
    if (id !== "" && what === "result" && method === "GET") {
      return this.#inSession(exchange, (found) => this.#queries.result(found, id));
    }
    if (id !== "" && what === "abort-request" && method === "POST") {
      return this.#inSession(exchange, (found) => this.#abortId(found, id));
    }
    if (id !== "" && what === "" && method === "GET") {
      return this.#inSession(exchange, (found) => this.#queries.monitor(found, id));
    }
    return sendStatus(request, response, 404, "Not found");
  }

  /** The SQL API: who asks is judged for each request, before anything of it is read. */
  async #statements(exchange: Exchange, method: string, url: URL): Promise<void> {
    const { request, response } = exchange;
    const [, handle, what] =
      /^\/([\w.-]{1,400})(?:\/(cancel))?$/.exec(url.pathname.slice(statementsPath.length)) ?? [];
    const isNew = url.pathname === statementsPath && method === "POST";
    if (!isNew && handle === undefined) return sendStatus(request, response, 404, "Not found");
    const { mark, id } = handleIn(handle);
    return this.#here(exchange, mark, () => this.#statement(exchange, method, { id, what, url }));
  }

  async #statement(
    exchange: Exchange,
    method: string,
    {
      id,
      what,
      url,
    }: { readonly id: string | undefined; readonly what: string | undefined; readonly url: URL },
  ): Promise<void> {
    const { request, response } = exchange;
    const login = await this.#api.logIn(exchange);
    if (!login.ok) return refuseApi(exchange, login.error);
    if (id !== undefined) {
      if (what === "cancel" && method === "POST") return this.#api.end(exchange, login.value, id);
      if (what !== undefined || method !== "GET") {
        return sendStatus(request, response, 405, "Method not allowed");
      }
      const partition = Number(url.searchParams.get("partition") ?? 0);
      return this.#api.status(exchange, login.value, id, partition);
    }
    if (this.#draining) return refuseApi(exchange, gatewayError("gateway.draining"));
    const body = await readJson(request, this.#config, this.#pending);
    if (body === undefined) return;
    if (!body.ok) return refuseApi(exchange, body.error);
    await this.#api.submit(exchange, login.value, body.value, url.searchParams);
  }

  /** Answers within the session of the request's token, or says what the driver has to do first. */
  async #inSession(
    exchange: Exchange,
    answer: (found: InSession) => Promise<void> | void,
  ): Promise<void> {
    return this.#here(exchange, markIn(exchange.request.headers), () => {
      const found = inSession(exchange, this.#sessions);
      if ("refusal" in found) return sendJson(exchange.response, found.refusal);
      return answer(found);
    });
  }

  /** Answers what belongs to this gateway, and has the one answer whose mark it is. Where that one is gone, so is the session. */
  async #here(
    { request, response, peer, relayed }: Exchange,
    mark: string | undefined,
    answer: () => Promise<void> | void,
  ): Promise<void> {
    if (mark !== undefined && mark !== this.#mark && !relayed) {
      const { address, mayTakeCredentials, certificateNames, baseUrl } = peer;
      const client = { address, mayTakeCredentials, certificateNames, baseUrl };
      const asked = { request, response, client };
      if ((await this.#elsewhere?.relay(mark, "snowflakeHttp", asked)) === true) return;
    }
    await answer();
  }

  async #logIn(exchange: Exchange, url: URL): Promise<void> {
    const { request, response } = exchange;
    if (this.#draining) return sendFailure(request, response, gatewayError("gateway.draining"));
    const body = await readJson(request, this.#config, this.#pending);
    if (body === undefined) return;
    if (!body.ok) return sendFailure(request, response, body.error);
    const opened = await openSession(body.value, url.searchParams, exchange, this.#doorway());
    if (!opened.ok) return this.#refuse(exchange, opened.error);
    return sendJson(response, loginAnswer(opened.value));
  }

  #doorway(): Doorway {
    return { door: this.#door, sessions: this.#sessions };
  }

  #renew(exchange: Exchange): Promise<void> {
    const mark = markIn(exchange.request.headers);
    return this.#here(exchange, mark, () => this.#renewHere(exchange));
  }

  async #renewHere({ request, response }: Exchange): Promise<void> {
    // What a driver asks for (RENEW, CLONE, ISSUE) makes no difference here, but its body has to be read.
    const body = await readJson(request, this.#config, this.#pending);
    if (body === undefined) return;
    if (!body.ok) return sendFailure(request, response, body.error);
    return sendJson(response, renewed(request.headers, this.#sessions));
  }

  #logOut(exchange: Exchange): Promise<void> {
    return this.#inSession(exchange, ({ session }) => {
      this.#queries.endOf(session);
      this.#sessions.close(session);
      sendJson(exchange.response, succeeded(null));
    });
  }

  /** What drivers tell about themselves is taken and dropped. */
  async #forget({ request, response }: Exchange): Promise<void> {
    const body = await readJson(request, this.#config, this.#pending);
    if (body !== undefined) sendJson(response, succeeded("Log Received"));
  }

  async #query(found: InSession, url: URL): Promise<void> {
    const { request, response } = found.exchange;
    if (this.#draining) return sendFailure(request, response, gatewayError("gateway.draining"));
    const body = await readJson(request, this.#config, this.#pending);
    if (body === undefined) return;
    if (!body.ok) return sendFailure(request, response, body.error);
    const requestId = url.searchParams.get("requestId") ?? "";
    await this.#queries.run(found, body.value, requestId.slice(0, requestIdMax));
  }

  async #abort(found: InSession): Promise<void> {
    const { request, response } = found.exchange;
    const body = await readJson(request, this.#config, this.#pending);
    if (body === undefined) return;
    if (!body.ok) return sendFailure(request, response, body.error);
    const read = abortSchema.safeParse(body.value);
    if (!read.success || !this.#queries.abort(found.session, read.data.requestId)) {
      return sendJson(response, failed(gatewayError("query.unknown")));
    }
    return sendJson(response, succeeded(null));
  }

  async #abortId({ exchange, session }: InSession, id: string): Promise<void> {
    const ended = await this.#queries.abortId(session, id);
    sendJson(exchange.response, ended.ok ? succeeded(null) : failed(ended.error));
  }

  #refuse({ request, response }: Exchange, error: GatewayError): void {
    sendFailure(request, response, error);
  }
}

const requestIdMax = 128;
const abortSchema = z.object({ requestId: z.string().max(requestIdMax) });
