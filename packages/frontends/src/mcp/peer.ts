/** What we believe about the sender of a request: its address, whether secrets may pass, and how it reaches us. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Connection } from "../listener/connection.ts";
import {
  forwardedClient,
  hostAllowed,
  originAllowed,
  trustedRanges,
  type TrustedRanges,
} from "../listener/httpHost.ts";
import type { RelayedClient } from "../listener/elsewhere.ts";
import { mayTakeCredentials } from "../listener/tls.ts";
import type { McpConfig } from "./config.ts";
import { checkHeaders } from "./login/headers.ts";
import type { Sender } from "./login/login.ts";

export interface Peer extends Sender {
  /** `https://gateway.example:8811`: where the client reaches us. */
  readonly baseUrl: string;
}

/** Why a request is refused before anything else is looked at. */
export interface PeerRefusal {
  readonly status: 400 | 403;
  readonly text: string;
}

export class Peers {
  readonly #config: McpConfig;
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #trusted: TrustedRanges;
  readonly #externalUrl: string | undefined;

  constructor(config: McpConfig) {
    this.#config = config;
    this.#trusted = trustedRanges(config.trustedProxies);
    this.#externalUrl = config.externalUrl?.replace(/\/+$/, "");
  }

  /** Tells whose socket it is; called before its first request. */
  add(socket: Socket, connection: Connection): void {
    this.#connections.set(socket, connection);
  }

  connectionOf(request: IncomingMessage): Connection | undefined {
    return this.#connections.get(request.socket);
  }

  /** The sender of a request that another gateway heard, judged there. */
  ofRelayed(
    { rawHeaders, headers }: Pick<IncomingMessage, "rawHeaders" | "headers">,
    client: RelayedClient,
  ): Result<Peer, PeerRefusal> {
    const checked = checkHeaders(rawHeaders);
    if (!checked.ok) return err({ status: 400, text: checked.error.message });
    return ok({ ...client, headers });
  }

  /**
   * Judges where a request came from. A foreign `Host` or `Origin` is refused with 403: a page that another name
   * led to this machine would speak with its user's rights (DNS rebinding; MCP transports, "Security Warning").
   */
  of(request: IncomingMessage): Result<Peer, PeerRefusal> {
    const connection = this.connectionOf(request);
    if (connection === undefined) return err({ status: 400, text: "The connection is gone" });
    const { headers } = request;
    const { host } = headers;
    if (host === undefined || !hostAllowed(host, this.#config)) {
      return err({ status: 403, text: "The Host header names no host of this listener" });
    }
    if (!originAllowed(headers.origin, host, this.#config)) {
      return err({ status: 403, text: "Requests from other sites' pages are refused" });
    }
    const checked = checkHeaders(request.rawHeaders);
    if (!checked.ok) return err({ status: 400, text: checked.error.message });
    const forwarded = {
      "x-forwarded-for": headers["x-forwarded-for"],
      "x-forwarded-proto": headers["x-forwarded-proto"],
    };
    const client = forwardedClient(connection, forwarded, this.#trusted);
    return ok({
      headers,
      address: client.address,
      certificateNames: connection.certificateNames(),
      mayTakeCredentials: client.secure || mayTakeCredentials(connection),
      baseUrl: this.#externalUrl ?? `${client.secure ? "https" : "http"}://${host}`,
    });
  }
}
