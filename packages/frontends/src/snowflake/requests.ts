/**
 * The HTTP endpoints of Snowflake's drivers: which session a request belongs to, what it asks, what is answered.
 *
 * Sockets, TLS and caps are in `listen.ts`; what a statement becomes is in `run/submit.ts`.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import { z } from "zod";
import type { SnowflakeConfig } from "./config.ts";
import { loginAnswer, openSession, renewed, type Doorway } from "./commands/sessions.ts";
import { inSession, type Exchange, type InSession } from "./exchange.ts";
import { Queries } from "./commands/queries.ts";
import { refuseApi, SqlApi, statementsPath } from "./commands/sqlApi.ts";
import { failed, succeeded } from "./page/answers.ts";
import { sendFailure, sendJson, sendStatus } from "./page/respond.ts";
import type { Peers } from "./peer.ts";
import { readJson, type Pending } from "./read/body.ts";
import { Registry } from "./run/registry.ts";
import { Sessions } from "./session/sessions.ts";

const markBytes = 6;

export class Requests {
  readonly #config: SnowflakeConfig;
  readonly #door: Door;
  readonly #host: Host;
  readonly #peers: Peers;
  readonly #pending: Pending = { bytes: 0 };
  readonly #sessions: Sessions;
  readonly #registry: Registry;
  readonly #queries: Queries;
  readonly #api: SqlApi;
  #draining = false;

  constructor(config: SnowflakeConfig, door: Door, host: Host, peers: Peers) {
    this.#config = config;
    this.#door = door;
    this.#host = host;
    this.#peers = peers;
    this.#sessions = new Sessions({
      host,
      mark: Buffer.from(host.randomBytes(markBytes)).toString("hex"),
      sessionsMax: config.maxSessions,
      idleMs: config.sessionIdleSecs * 1_000,
    });
    this.#registry = new Registry(host, config.resultKeepSecs * 1_000);
    const served = { config, door, host, registry: this.#registry };
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
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const peer = this.#peers.of(request);
      if (!peer.ok) return sendStatus(request, response, peer.error.status, peer.error.text);
      await this.#route({ request, response, peer: peer.value });
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
    const url = new URL(request.url ?? "/", "http://localhost");
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
    const chunk = /^\/chunks\/([\w-]{1,128})\/([\w-]{1,64})\/(\d{1,6})$/.exec(path);
    if (chunk !== null && method === "GET") {
      const [, id = "", secret = "", number = ""] = chunk;
      return this.#queries.chunk(exchange, { id, secret, number: Number(number) });
    }
    const [, id = "", what] =
      /^\/queries\/([\w-]{1,128})\/(result|abort-request)$/.exec(path) ??
      /^\/monitoring\/queries\/([\w-]{1,128})()$/.exec(path) ??
      [];
    if (id !== "" && what === "result" && method === "GET") {
      return this.#inSession(exchange, (found) => this.#queries.result(found, id));
    }
    if (id !== "" && what === "abort-request" && method === "POST") {
      return this.#inSession(exchange, (found) => this.#abortId(found, id as QueryId));
    }
    if (id !== "" && what === "" && method === "GET") {
      return this.#inSession(exchange, (found) => this.#queries.monitor(found, id));
    }
    return sendStatus(request, response, 404, "Not found");
  }

  /** The SQL API: who asks is judged for each request, before anything of it is read. */
  async #statements(exchange: Exchange, method: string, url: URL): Promise<void> {
    const { request, response } = exchange;
    const [, id, what] =
      /^\/([\w-]{1,128})(?:\/(cancel))?$/.exec(url.pathname.slice(statementsPath.length)) ?? [];
    const isNew = url.pathname === statementsPath && method === "POST";
    if (!isNew && id === undefined) return sendStatus(request, response, 404, "Not found");
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
    const found = inSession(exchange, this.#sessions);
    if ("refusal" in found) return sendJson(exchange.response, found.refusal);
    return answer(found);
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

  async #renew(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
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

  async #abortId({ exchange, session }: InSession, id: QueryId): Promise<void> {
    const ended = await this.#queries.abortId(session, id);
    sendJson(exchange.response, ended.ok ? succeeded(null) : failed(ended.error));
  }

  #refuse({ request, response }: Exchange, error: GatewayError): void {
    sendFailure(request, response, error);
  }
}

const requestIdMax = 128;
const abortSchema = z.object({ requestId: z.string().max(requestIdMax) });
