/**
 * What an HTTP listener believes about the sender of a request: its address, whether secrets may pass, and how it
 * reaches us.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Connection } from "../connection.ts";
import {
  forwardedClient,
  hostAllowed,
  originAllowed,
  trustedRanges,
  type Forwarded,
  type TrustedRanges,
} from "./host.ts";
import { mayTakeCredentials } from "../tls.ts";
import type { HttpRequest } from "./exchange.ts";

export interface HttpPeer {
  readonly address: string;
  /** Whether a password or token may pass on the way here. */
  readonly mayTakeCredentials: boolean;
  /** Names of the client's verified certificate; empty where none is asked for. */
  readonly certificateNames: readonly string[];
  /** `https://gateway.example:8811`: where the client reaches us. */
  readonly baseUrl: string;
}

/** Why a request is refused before anything else is looked at. */
export interface PeerRefusal {
  readonly status: 400 | 403;
  readonly text: string;
}

type PeerConfig = Pick<ListenerConfig, "allowedHosts" | "externalUrl" | "trustedProxies">;

/** A connection, and the names in its certificate. */
interface Known {
  readonly connection: Connection;
  readonly names: readonly string[];
  /** What was judged of its last request, where a request says nothing of its sender but the `Host` that it means. */
  last: { readonly host: string; readonly peer: Result<HttpPeer, never> } | undefined;
}

/** Hosts remembered as allowed. A client may send any text, so only a few are kept. */
const hostsMax = 64;
const hostLengthMax = 256;

/** One per listener. */
export class HttpPeers {
  readonly #config: PeerConfig;
  readonly #connections = new WeakMap<Socket, Known>();
  readonly #allowedHosts = new Set<string>();
  readonly #trusted: TrustedRanges;
  readonly #externalUrl: string | undefined;

  constructor(config: PeerConfig) {
    this.#config = config;
    this.#trusted = trustedRanges(config.trustedProxies);
    this.#externalUrl = config.externalUrl?.replace(/\/+$/, "");
  }

  /** Tells whose socket it is; called before its first request. */
  add(socket: Socket, connection: Connection): void {
    this.#connections.set(socket, {
      connection,
      names: connection.certificateNames(),
      last: undefined,
    });
  }

  connectionOf(request: HttpRequest): Connection | undefined {
    return this.#connections.get(request.socket)?.connection;
  }

  /**
   * Judges where a request came from. A foreign `Host` or `Origin` is refused with 403: a page that another name
   * led to this machine would speak with its user's rights (DNS rebinding).
   */
  of(request: HttpRequest): Result<HttpPeer, PeerRefusal> {
    const known = this.#connections.get(request.socket);
    if (known === undefined) return err({ status: 400, text: "The connection is gone" });
    const { headers } = request;
    const { host: sent } = headers;
    const { last } = known;
    if (last !== undefined && last.host === sent && headers.origin === undefined) return last.peer;
    // A slice would keep the whole head that it was cut from, with the credential in it.
    const host = sent === undefined ? undefined : Buffer.from(sent, "latin1").toString("latin1");
    if (host === undefined || !this.#isAllowed(host)) {
      return err({ status: 403, text: "The Host header names no host of this listener" });
    }
    if (headers.origin !== undefined && !originAllowed(headers.origin, host, this.#config)) {
      return err({ status: 403, text: "Requests from other sites' pages are refused" });
    }
    const { connection, names } = known;
    const client = this.#client(connection, headers);
    const peer = ok({
      address: client.address,
      certificateNames: names,
      mayTakeCredentials: client.secure || mayTakeCredentials(connection),
      baseUrl: this.#externalUrl ?? `${client.secure ? "https" : "http"}://${host}`,
    });
    const isTheSame = this.#config.trustedProxies.length === 0 && headers.origin === undefined;
    if (isTheSame && host.length <= hostLengthMax) known.last = { host, peer };
    return peer;
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
    const isKept = this.#allowedHosts.size < hostsMax && host.length <= hostLengthMax;
    if (isKept) this.#allowedHosts.add(host);
    return true;
  }
}
