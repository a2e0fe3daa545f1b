/**
 * What we believe about the sender of a request: its address, whether secrets may pass, and the base of
 * the links in its answer.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Connection } from "../listener/connection.ts";
import type { RelayedClient } from "../listener/elsewhere.ts";
import {
  forwardedClient,
  hostAllowed,
  originAllowed,
  trustedRanges,
  type Forwarded,
  type TrustedRanges,
} from "../listener/http/host.ts";
import { loopbackOnly, mayTakeCredentials } from "../listener/tls.ts";
import type { TrinoConfig } from "./config.ts";
import { checkHeaders } from "./login/identity.ts";
import { sentHeaders, type SentHeaders } from "./login/sentHeaders.ts";
import type { AskedSession } from "./session/session.ts";
import type { HttpRequest } from "../listener/http/exchange.ts";

export interface Peer {
  readonly address: string;
  readonly mayTakeCredentials: boolean;
  /** Names of the client's verified certificate; empty where none is asked for. */
  readonly certificateNames: readonly string[];
  /** `https://gateway.example:8443`: where the client reaches us. */
  readonly baseUrl: string;
  /** The client reads rows from the answer to its POST. */
  readonly readsFirstAnswer: boolean;
  /** The client is on another machine, so that compression may pay. */
  readonly mayCompress: boolean;
  /** What the headers say of a statement's session; undefined until somebody read them. */
  asked: AskedSession | undefined;
}

/** Why a request is refused before anything else is looked at. */
export interface PeerRefusal {
  readonly status: 400 | 403;
  readonly text: string;
}

/**
 * Clients that take rows and the end from the answer to their POST, which saves them a request: Java's
 * (CLI and JDBC, under their old and new names), Python's, and people with curl. The npm client and Go's look at the
 * link alone and would lose the rows.
 */
const readsFirst =
  /^(?:StatementClientV1|trino-cli|trino-jdbc|trino-client|Trino Python Client|curl)\//;

/** A connection, the names in its certificate, and what the headers of its last statement said. */
interface Known {
  readonly connection: Connection;
  readonly names: readonly string[];
  last: { readonly sent: SentHeaders; readonly peer: Peer } | undefined;
}

/** Hosts remembered as allowed. A client may send any text, so only a few are kept. */
const hostsMax = 64;

export class Peers {
  readonly #config: TrinoConfig;
  readonly #connections = new WeakMap<Socket, Known>();
  readonly #trusted: TrustedRanges;
  readonly #externalUrl: string | undefined;
  readonly #allowedHosts = new Set<string>();

  constructor(config: TrinoConfig) {
    this.#config = config;
    this.#trusted = trustedRanges(config.trustedProxies);
    this.#externalUrl = config.externalUrl?.replace(/\/+$/, "");
  }

  /** Tells whose socket it is; called before its first request. */
  add(socket: Socket, connection: Connection): void {
    const names = connection.certificateNames();
    this.#connections.set(socket, { connection, names, last: undefined });
  }

  connectionOf(request: HttpRequest): Connection | undefined {
    return this.#connections.get(request.socket)?.connection;
  }

  /** Judges where a request came from, and refuses headers that can be read in two ways. */
  of(request: HttpRequest): Result<Peer, PeerRefusal> {
    const { rawHeaders } = request;
    const known = this.#connections.get(request.socket);
    if (known === undefined) return err({ status: 400, text: "The connection is gone" });
    if (known.last?.sent.areSame(rawHeaders) === true) return ok(known.last.peer);
    const judged = this.#judge(request.headers, known);
    if (!judged.ok) return judged;
    const checked = checkHeaders(rawHeaders);
    if (!checked.ok) return err({ status: 400, text: checked.error.message });
    // Polls have other headers, and less is read of them.
    const sent = request.method === "POST" ? sentHeaders(rawHeaders) : undefined;
    if (sent !== undefined) known.last = { sent, peer: judged.value };
    return judged;
  }

  /** The sender of a request that another gateway heard, judged there. */
  ofRelayed(
    { rawHeaders, headers }: HttpRequest,
    client: RelayedClient,
  ): Result<Peer, PeerRefusal> {
    const checked = checkHeaders(rawHeaders);
    if (!checked.ok) return err({ status: 400, text: checked.error.message });
    return ok<Peer>({
      ...client,
      readsFirstAnswer: readsFirst.test(headers["user-agent"] ?? ""),
      mayCompress: !loopbackOnly(client.address),
      asked: undefined,
    });
  }

  #judge(headers: IncomingHttpHeaders, known: Known): Result<Peer, PeerRefusal> {
    const host = headers.host;
    if (host === undefined || !this.#isAllowed(host)) {
      return err({ status: 403, text: "The Host header names no host of this listener" });
    }
    if (headers.origin !== undefined && !originAllowed(headers.origin, host, this.#config)) {
      return err({ status: 403, text: "Requests from other sites' pages are refused" });
    }
    const { connection, names } = known;
    const client = this.#client(connection, headers);
    const scheme = client.secure ? "https" : "http";
    return ok<Peer>({
      address: client.address,
      mayTakeCredentials: client.secure || mayTakeCredentials(connection),
      certificateNames: names,
      baseUrl: this.#externalUrl ?? `${scheme}://${host}`,
      readsFirstAnswer: readsFirst.test(headers["user-agent"] ?? ""),
      mayCompress: !loopbackOnly(client.address),
      asked: undefined,
    });
  }

  #client(connection: Connection, headers: IncomingHttpHeaders): Forwarded {
    if (this.#config.trustedProxies.length === 0) return connection;
    const forwarded = {
      "x-forwarded-for": headers["x-forwarded-for"],
      "x-forwarded-proto": headers["x-forwarded-proto"],
    };
    return forwardedClient(connection, forwarded, this.#trusted);
  }

  #isAllowed(host: string): boolean {
    if (this.#allowedHosts.has(host)) return true;
    if (!hostAllowed(host, this.#config)) return false;
    if (this.#allowedHosts.size < hostsMax) this.#allowedHosts.add(host);
    return true;
  }
}
