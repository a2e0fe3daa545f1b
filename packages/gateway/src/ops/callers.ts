/** Who sends a request to the admin listener: the peer of its connection, or the client that a trusted proxy names. */
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { Caller } from "@gateway/control/deps.ts";
import { forwardedClient, trustedRanges } from "@gateway/frontends/listener/http/host.ts";
import { plainAddress } from "@gateway/frontends/listener/tls.ts";

/** What `getRequestListener` hands over, HTTP/2 included. */
type Incoming = Pick<IncomingMessage, "headers" | "socket">;

export interface Callers {
  arrived(request: Request, incoming: Incoming): void;
  /** For a request that came another way than by a connection of this process. */
  told(request: Request, caller: Caller): void;
  of(request: Request): Caller;
}

const nobody: Caller = { address: "unknown", secure: false };

/** `trustedProxies`: addresses and ranges whose forwarded headers are believed. */
export function callersBehind(trustedProxies: readonly string[]): Callers {
  const trusted = trustedRanges(trustedProxies);
  // A request is forgotten with its last user.
  const known = new WeakMap<Request, Caller>();
  return {
    arrived: (request, { headers, socket }) => {
      const peer = {
        address: plainAddress(socket.remoteAddress ?? "unknown"),
        secure: socket instanceof TLSSocket,
      };
      const forwarded = {
        "x-forwarded-for": headers["x-forwarded-for"],
        "x-forwarded-proto": headers["x-forwarded-proto"],
      };
      known.set(request, forwardedClient(peer, forwarded, trusted));
    },
    told: (request, caller) => void known.set(request, caller),
    of: (request) => known.get(request) ?? nobody,
  };
}
