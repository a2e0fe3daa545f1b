/**
 * The HTTP endpoints of Trino's client protocol: who asks, which statement is meant, what is answered.
 *
 * Plain `node:http` requests in, answers out. Sockets, TLS and caps are in `listen.ts`; what a
 * statement answers is in `run/polledStatement.ts`.
 */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { PolledQueries } from "@gateway/core/run/poll/polled.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { parseStatementPath, statementPath, type StatementPath } from "@gateway/wire/trino/path.ts";
import type { Elsewhere, AskedElsewhere } from "../listener/elsewhere.ts";
import type { DecodingClient } from "../listener/longBytes.ts";
import { longTexts } from "../listener/longTexts.ts";
import { isOfQuery, readBody, textIn, type Pending } from "./body.ts";
import type { TrinoConfig } from "./config.ts";
import { clientOf, notAllowed, refuse, senderOf, whoOf, type Exchange } from "./exchange.ts";
import { Handles, isBoundTo } from "./page/handles.ts";
import type { Holder } from "./page/holder.ts";
import { logIn, whoPolls } from "./login/login.ts";
import { factsOf, queryInfo, queryList, serverInfo } from "./info.ts";
import { EndedStatement, type Statement } from "./run/ended.ts";
import { openStatement } from "./run/open.ts";
import type { Page } from "./page/page.ts";
import type { Peers } from "./peer.ts";
import { pollOf } from "./page/poll.ts";
import { immediateAhead } from "./commands/prepared.ts";
import { Recent } from "./page/recent.ts";
import { sendJson, sendPage, sendRefusal, sendStatus } from "./page/respond.ts";
import { askedFrom, sessionOf, type AskedSession } from "./session/session.ts";
import { Shelf } from "./page/shelf.ts";
import { Silent } from "./page/silent.ts";
import { Transactions } from "./session/transactions.ts";
import type { HttpRequest, HttpResponse } from "../listener/http/exchange.ts";

const queriesPath = "/v1/query";
const queryPath = `${queriesPath}/`;

/** As Trino itself writes them. */
const basicChallenge = ['Basic realm="Trino"'];
const bothChallenges = [...basicChallenge, 'Bearer realm="Trino", token_type="JWT"'];

type MayWait<Value> = Promise<Value> | Value;

/** How requests come here, and where they may go on to. */
interface Reach {
  readonly peers: Peers;
  readonly elsewhere: Elsewhere | undefined;
}

export class Requests {
  /** Statements by id. */
  readonly shelf = new Shelf<Statement>();
  readonly transactions: Transactions;
  readonly #recent = new Recent();
  readonly #config: TrinoConfig;
  readonly #door: Door;
  readonly #host: Host;
  readonly #peers: Peers;
  readonly #elsewhere: Elsewhere | undefined;
  /** Statements that are answered here and never reach the pipeline. */
  readonly #local: PolledQueries;
  readonly #pending: Pending = { bytes: 0 };
  readonly #startedMs: number;
  readonly #handles: Handles;
  readonly #silent: Silent<Statement>;
  #draining = false;

  constructor(config: TrinoConfig, door: Door, host: Host, { peers, elsewhere }: Reach) {
    this.#config = config;
    this.#door = door;
    this.#host = host;
    this.#peers = peers;
    this.#elsewhere = elsewhere;
    this.#local = new PolledQueries(host);
    this.transactions = new Transactions(host);
    this.#startedMs = host.clock.nowMs();
    this.#handles = new Handles(host, elsewhere);
    this.#silent = new Silent(this.shelf, host);
  }

  /** Refuses new statements. Resolves when each older one is answered to its end or left by its client, or at the deadline. */
  drain(deadline: AbortSignal): Promise<void> {
    this.#draining = true;
    this.#silent.endUntil(deadline);
    return this.shelf.idle(deadline);
  }

  /** Ends what is left. */
  async close(): Promise<void> {
    await Promise.all(this.shelf.unfinished().map((statement) => statement.discard()));
    await this.transactions.close();
    await this.#local.close();
  }

  /** Answers one request. Never throws: what goes wrong inside is a bug, logged and answered as one. */
  handle(request: HttpRequest, response: HttpResponse): Promise<void> {
    return this.#answer(request, response, () => this.#peers.of(request));
  }

  /** The same for a request that another gateway's client sent. */
  relayed({ request, response, client }: AskedElsewhere): Promise<void> {
    return this.#answer(request, response, () => this.#peers.ofRelayed(request, client), true);
  }

  async #answer(
    request: HttpRequest,
    response: HttpResponse,
    peerOf: () => ReturnType<Peers["of"]>,
    relayed = false,
  ): Promise<void> {
    try {
      const peer = peerOf();
      if (!peer.ok) return sendStatus(request, response, peer.error.status, peer.error.text);
      const challenges = this.#door.takesTokens === true ? bothChallenges : basicChallenge;
      await this.#route({ request, response, peer: peer.value, challenges, relayed });
    } catch (bug) {
      this.#host.log.bug(bug);
      if (response.headersSent) response.destroy();
      else sendStatus(request, response, 500, gatewayError("internal.bug").message);
    }
  }

  #route(exchange: Exchange): Promise<void> | void {
    const { request, response } = exchange;
    const { method = "GET", url = "/" } = request;
    const question = url.indexOf("?");
    const path = question < 0 ? url : url.slice(0, question);
    if (path === statementPath) {
      return method === "POST" ? this.#start(exchange) : notAllowed(exchange, "POST");
    }
    const statement = parseStatementPath(path);
    if (statement !== undefined) {
      const asked = question < 0 ? "" : url.slice(question + 1);
      return this.#poll(exchange, statement, asked);
    }
    if (path === "/v1/info" || path === "/v1/status") {
      const reads = method === "GET" || method === "HEAD";
      return reads ? this.#info(response) : notAllowed(exchange, "GET, HEAD");
    }
    if (path === "/v1/info/state" && method === "GET") {
      return sendJson(response, this.#draining ? "SHUTTING_DOWN" : "ACTIVE");
    }
    // What balancers ask: we stand where the coordinator stands.
    if (path === "/v1/info/coordinator" && method === "GET") return void response.end();
    if (path === queriesPath) {
      return method === "GET" ? this.#queries(exchange) : notAllowed(exchange, "GET");
    }
    if (path.startsWith(queryPath)) {
      return this.#query(exchange, path.slice(queryPath.length) as QueryId, method);
    }
    return sendStatus(request, response, 404, "Not found");
  }

  #info(response: HttpResponse): void {
    sendJson(response, serverInfo(this.#host.clock.nowMs() - this.#startedMs, false));
  }

  async #start(exchange: Exchange): Promise<void> {
    const { request, response, peer } = exchange;
    if (this.#draining) return sendRefusal(request, response, gatewayError("gateway.draining"));
    const judging = logIn(this.#door, senderOf(exchange));
    const login = judging instanceof Promise ? await judging : judging;
    if (!login.ok) return refuse(exchange, login.error);
    const asked = this.#asked(exchange);
    if (!asked.ok) return refuse(exchange, asked.error);
    const read = readBody(request, this.#config, this.#pending);
    const came = read instanceof Promise ? await read : read;
    if (came === undefined) return undefined;
    const reading = came.ok ? this.#read(came.value, whoOf(login.value, response)) : came;
    const sql = reading instanceof Promise ? await reading : reading;
    if (!sql.ok && !isOfQuery(sql.error)) return refuse(exchange, sql.error);

    const session = sessionOf(asked.value, request.headers, login.value, peer.address);
    const opening = openStatement(sql, session, {
      door: this.#door,
      host: this.#host,
      local: this.#local,
      transactions: this.transactions,
      handles: this.#handles,
    });
    const statement = opening instanceof Promise ? await opening : opening;
    const holder = this.#hold(exchange, statement);
    const page = await statement.first(peer.readsFirstAnswer);
    return this.#give(exchange, statement, holder, page);
  }

  /** Decodes and admits the text; a long one takes turns with others. A promise only where it is long. */
  #read(came: string | Buffer, who: DecodingClient): MayWait<Result<string, GatewayError>> {
    if (typeof came === "string") return this.#admitted(came, who);
    return textIn(came, who, this.#host.slices).then((text) => {
      return text.ok ? this.#admitted(text.value, who) : text;
    });
  }

  #admitted(sql: string, { user, client }: DecodingClient): MayWait<Result<string, GatewayError>> {
    const also = immediateAhead;
    const limits = this.#config;
    const read = { sql, dialect: "trino", also, limits, user, client } as const;
    const refusal = longTexts.admit(read, this.#host.slices);
    if (refusal === undefined) return ok(sql);
    return refusal.then((refused) => (refused === undefined ? ok(sql) : err(refused)));
  }

  #asked({ request, peer }: Exchange): Result<AskedSession, GatewayError> {
    if (peer.asked !== undefined) return ok(peer.asked);
    const asked = askedFrom(request.headers);
    if (asked.ok) peer.asked = asked.value;
    return asked;
  }

  /**
   * A forged, expired, forgotten or foreign link gets one and the same answer, after the same check of
   * who asks. A link of another instance leads there.
   */
  async #poll(exchange: Exchange, path: StatementPath, asked: string): Promise<void> {
    const { request, response } = exchange;
    const { method = "GET" } = request;
    if (path.instance !== this.#handles.instance) return this.#ofAnother(exchange, path.instance);
    const handle = this.#handles.open(path.sealed);
    const id = (handle?.queryId ?? "") as QueryId;
    const finding = this.#find(exchange, id);
    const found = finding instanceof Promise ? await finding : finding;
    if (!found.ok) return refuse(exchange, found.error);
    const statement = found.value;
    if (handle === undefined || !isBoundTo(handle, statement.linked)) {
      return refuse(exchange, gatewayError("query.unknown"));
    }
    if (method === "DELETE") {
      if (path.phase === "partialCancel") statement.endEarly();
      else statement.cancel();
      this.#shelve(statement);
      response.statusCode = 204;
      return void response.end();
    }
    if (path.phase === "partialCancel") return notAllowed(exchange, "DELETE");
    // A sign of life between polls: finding the query has renewed it.
    if (method === "HEAD") return void response.end();
    if (method !== "GET") return notAllowed(exchange, "GET, HEAD, DELETE");
    const holder = this.#hold(exchange, statement);
    const page = await statement.answer(handle.token, pollOf(asked));
    return this.#give(exchange, statement, holder, page);
  }

  /** A link of another gateway: it answers, and judges who asks. */
  async #ofAnother(exchange: Exchange, mark: string): Promise<void> {
    const { request, response, peer } = exchange;
    // Sent here because we are where its gateway was: that one is gone, and its queries with it.
    if (exchange.relayed) return refuse(exchange, gatewayError("query.unknown"));
    const asked = { request, response, client: clientOf(peer) };
    const answered = await this.#elsewhere?.relay(mark, "trinoHttp", asked);
    if (answered !== true) refuse(exchange, gatewayError("query.elsewhere"));
  }

  /** The asker's own statements, for `?state=` only those in that state. */
  async #queries(exchange: Exchange): Promise<void> {
    const { request, response, peer } = exchange;
    const login = await logIn(this.#door, senderOf(exchange));
    if (!login.ok) return refuse(exchange, login.error);
    const { user } = login.value.identity;
    const nowMs = this.#host.clock.nowMs();
    const own = this.shelf.all().filter(({ owner }) => owner.user === user);
    const all = [...this.#recent.ofUser(user), ...own.map((one) => factsOf(one, nowMs))];
    const { searchParams } = new URL(request.url ?? "", peer.baseUrl);
    return sendJson(response, queryList(all, searchParams.get("state"), peer.baseUrl));
  }

  async #query(exchange: Exchange, id: QueryId, method: string): Promise<void> {
    const { response } = exchange;
    if (method !== "GET" && method !== "DELETE") return notAllowed(exchange, "GET, DELETE");
    const found = await this.#find(exchange, id);
    if (!found.ok) {
      if (found.error.code !== "query.unknown") return refuse(exchange, found.error);
      return method === "DELETE" ? this.#endForeign(exchange, id) : this.#ended(exchange, id);
    }
    if (method === "GET")
      return sendJson(response, queryInfo(factsOf(found.value, this.#host.clock.nowMs())));
    found.value.cancel();
    this.#shelve(found.value);
    response.statusCode = 204;
    return void response.end();
  }

  /** One that ended with the answer to its POST. */
  async #ended(exchange: Exchange, id: QueryId): Promise<void> {
    const owner = this.#recent.get(id)?.identity;
    const asker = await whoPolls(this.#door, senderOf(exchange), owner);
    const facts = asker.ok ? this.#recent.of(id, asker.value) : undefined;
    if (facts === undefined) return refuse(exchange, gatewayError("query.unknown"));
    return sendJson(exchange.response, queryInfo(facts));
  }

  /** Operators end queries of others, of every frontend, by their ids. */
  async #endForeign(exchange: Exchange, id: QueryId): Promise<void> {
    const login = await logIn(this.#door, senderOf(exchange));
    if (!login.ok) return refuse(exchange, login.error);
    const ended = await this.#door.cancel(id, login.value.identity);
    if (!ended.ok) return refuse(exchange, ended.error);
    exchange.response.statusCode = 204;
    return void exchange.response.end();
  }

  /** Holds the request until there is an answer. A client that leaves meanwhile cancels its query. */
  #hold({ request, response }: Exchange, statement: Statement): Holder {
    const holder = statement.hold();
    const asking = this.#silent.asked(statement);
    response.on("close", () => {
      holder.hungUp();
      this.#silent.answered(asking);
    });
    // It may have left during its login, and "close" is emitted only once.
    if (response.destroyed || request.socket.destroyed) holder.hungUp();
    this.#shelve(statement);
    return holder;
  }

  #give(
    exchange: Exchange,
    statement: Statement,
    holder: Holder,
    page: Page | undefined,
  ): Promise<void> | void {
    const { request, response, peer } = exchange;
    holder.answered();
    const refusal = page?.token === 0 ? statement.refusal : undefined;
    if (refusal !== undefined) return this.#refuseStarted(exchange, statement, refusal);
    if (page === undefined) return sendStatus(request, response, 410, "This answer is gone");
    // A statement that ended with the answer to its POST has no link, so nobody asks again.
    if (page.token === 0 && page.next === undefined) this.#remember(statement);
    else this.#shelve(page.next === undefined ? this.#endedOf(statement, page) : statement);
    const links = { baseUrl: peer.baseUrl, id: statement.id };
    const sent = sendPage(request, response, page, { links, mayCompress: peer.mayCompress });
    if (page.next === undefined) return sent;
    if (sent !== undefined) return sent.then(() => this.#buildAhead(statement));
    return this.#buildAhead(statement);
  }

  #endedOf(statement: Statement, page: Page): Statement {
    if (statement instanceof EndedStatement) return statement;
    const facts = factsOf(statement, this.#host.clock.nowMs());
    return new EndedStatement(statement.linked, facts, page);
  }

  #remember(statement: Statement): void {
    this.shelf.remove(statement.id);
    this.#recent.put(factsOf(statement, this.#host.clock.nowMs()));
  }

  #refuseStarted(exchange: Exchange, statement: Statement, refusal: GatewayError): void {
    this.#inBackground(statement.discard());
    this.shelf.remove(statement.id);
    refuse(exchange, refusal);
  }

  /** Work that no request waits for. It rejects only for a bug. */
  #inBackground(work: Promise<void>): void {
    work.catch((bug: unknown) => this.#host.log.bug(bug));
  }

  #shelve(statement: Statement): void {
    this.shelf.put(statement, this.#host.clock.nowMs());
  }

  #buildAhead(statement: Statement): void {
    if (statement instanceof EndedStatement || !this.shelf.hasRoom) return;
    this.#inBackground(statement.ahead().then(() => this.shelf.weigh(statement)));
  }

  /** The statement of that id, if it is the asker's. */
  #find(exchange: Exchange, id: QueryId): MayWait<Result<Statement, GatewayError>> {
    const statement = this.shelf.get(id);
    const owner = whoPolls(this.#door, senderOf(exchange), statement?.owner);
    if (owner instanceof Promise) return owner.then((one) => this.#ownedBy(one, statement, id));
    return this.#ownedBy(owner, statement, id);
  }

  #ownedBy(
    owner: Result<AuthContext, GatewayError>,
    statement: Statement | undefined,
    id: QueryId,
  ): Result<Statement, GatewayError> {
    if (!owner.ok) return owner;
    if (statement === undefined) return err(gatewayError("query.unknown"));
    const parked = this.#door.resume(id, owner.value);
    const found = parked.ok ? parked : this.#local.resume(id, owner.value);
    return found.ok ? ok(statement) : found;
  }
}
