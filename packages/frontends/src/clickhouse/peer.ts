/** What we believe about the sender of a request: its address, and whether secrets may pass. */
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
import { mayTakeCredentials } from "../listener/tls.ts";
import type { ClickhouseConfig } from "./config.ts";

export interface Peer {
  readonly address: string;
  readonly mayTakeCredentials: boolean;
  /** Names of the client's verified certificate; empty where none is asked for. */
  readonly certificateNames: readonly string[];
}

export class Peers {
  readonly #config: ClickhouseConfig;
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #trusted: TrustedRanges;

  constructor(config: ClickhouseConfig) {
    this.#config = config;
    this.#trusted = trustedRanges(config.trustedProxies);
  }

  /** Tells whose socket it is; called before its first request. */
  add(socket: Socket, connection: Connection): void {
    this.#connections.set(socket, connection);
  }

  connectionOf(request: IncomingMessage): Connection | undefined {
    return this.#connections.get(request.socket);
  }

  /** Judges where a request came from; the error is the text of a 403. */
  of(request: IncomingMessage): Result<Peer, string> {
    const { headers } = request;
    const connection = this.connectionOf(request);
    if (connection === undefined) return err("The connection is gone");
    if (!hostAllowed(headers.host, this.#config)) {
      return err("The Host header names no host of this listener");
    }
    if (!originAllowed(headers.origin, headers.host, this.#config)) {
      return err("Requests from other sites' pages are refused");
    }
    const forwarded = {
      "x-forwarded-for": headers["x-forwarded-for"],
      "x-forwarded-proto": headers["x-forwarded-proto"],
    };
    const client = forwardedClient(connection, forwarded, this.#trusted);
    return ok({
      address: client.address,
      mayTakeCredentials: client.secure || mayTakeCredentials(connection),
      certificateNames: connection.certificateNames(),
    });
  }
}
