/**
 * What we believe about the sender of a request: its address, whether secrets may pass, and the base of
 * the links in its answer.
 */
import type { Socket } from "node:net";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Connection } from "../listener/connection.ts";
import type { RelayedClient } from "../listener/elsewhere.ts";
import type { HttpRequest } from "../listener/http/exchange.ts";
import { HttpPeers, type HttpPeer, type PeerRefusal } from "../listener/http/peer.ts";
import { memoOf, type LinesMemo } from "../listener/http/plain/sameLines.ts";
import { loopbackOnly } from "../listener/tls.ts";
import type { TrinoConfig } from "./config.ts";
import { checkHeaders } from "./login/identity.ts";
import type { AskedSession } from "./session/session.ts";

export interface Peer extends HttpPeer {
  /** The client reads rows from the answer to its POST. */
  readonly readsFirstAnswer: boolean;
  /** The client is on another machine, so that compression may pay. */
  readonly mayCompress: boolean;
  /** What the headers say of a statement's session; undefined until somebody read them. */
  asked: AskedSession | undefined;
}

/**
 * Clients that take rows and the end from the answer to their POST, which saves them a request: Java's
 * (CLI and JDBC, under their old and new names), Python's, and people with curl. The npm client and Go's look at the
 * link alone and would lose the rows.
 */
const readsFirst =
  /^(?:StatementClientV1|trino-cli|trino-jdbc|trino-client|Trino Python Client|curl)\//;

/** The sender of requests that came with the same lines. */
interface Judged {
  readonly memo: LinesMemo;
  readonly peer: Peer;
}

/** Those of a connection's last statement, and of its last poll, which has other headers. */
interface Known {
  statement: Judged | undefined;
  poll: Judged | undefined;
}

export class Peers {
  readonly #peers: HttpPeers;
  readonly #known = new WeakMap<Socket, Known>();

  constructor(config: TrinoConfig) {
    this.#peers = new HttpPeers(config);
  }

  /** Tells whose socket it is; called before its first request. */
  add(socket: Socket, connection: Connection): void {
    this.#peers.add(socket, connection);
    this.#known.set(socket, { statement: undefined, poll: undefined });
  }

  connectionOf(request: HttpRequest): Connection | undefined {
    return this.#peers.connectionOf(request);
  }

  /** Judges where a request came from, and refuses headers that can be read in two ways. */
  of(request: HttpRequest): Result<Peer, PeerRefusal> {
    const memo = memoOf(request);
    const known = memo === undefined ? undefined : this.#known.get(request.socket);
    const isStatement = request.method === "POST";
    const last = isStatement ? known?.statement : known?.poll;
    if (last !== undefined && last.memo === memo) return ok(last.peer);
    const judged = this.#peers.of(request);
    if (!judged.ok) return judged;
    const checked = checkHeaders(request.rawHeaders);
    if (!checked.ok) return err({ status: 400, text: checked.error.message });
    const peer = peerOf(judged.value, request);
    if (memo === undefined || known === undefined) return ok(peer);
    if (isStatement) known.statement = { memo, peer };
    else known.poll = { memo, peer };
    return ok(peer);
  }

  /** The sender of a request that another gateway heard, judged there. */
  ofRelayed(request: HttpRequest, client: RelayedClient): Result<Peer, PeerRefusal> {
    const checked = checkHeaders(request.rawHeaders);
    if (!checked.ok) return err({ status: 400, text: checked.error.message });
    return ok(peerOf(client, request));
  }
}

function peerOf(
  { address, mayTakeCredentials, certificateNames, baseUrl }: HttpPeer,
  { headers }: HttpRequest,
): Peer {
  return {
    address,
    mayTakeCredentials,
    certificateNames,
    baseUrl,
    readsFirstAnswer: readsFirst.test(headers["user-agent"] ?? ""),
    mayCompress: !loopbackOnly(address),
    asked: undefined,
  };
}
