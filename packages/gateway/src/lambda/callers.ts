/**
 * Who sends a request to a function: what the platform says in the event, which a client can not
 * write. Headers that name an address are never looked at.
 */
import type { Caller } from "@gateway/control/deps.ts";
import { z } from "zod";

export interface Callers {
  /** `requestContext`: of the event that the request was made from. */
  arrived(request: Request, requestContext: unknown): void;
  of(request: Request): Caller;
}

/** A function URL, an HTTP API (format 2.0), and a REST API (format 1.0); each is reached over TLS alone. */
const platform = z.union([
  z.object({ http: z.object({ sourceIp: z.string().min(1) }) }),
  z.object({ identity: z.object({ sourceIp: z.string().min(1) }) }),
]);

/** Another kind of event: a load balancer also speaks clear text, and tells the address in a header only. */
const nobody: Caller = { address: "unknown", secure: false };

export function platformCallers(): Callers {
  // A request is forgotten with its last user.
  const known = new WeakMap<Request, Caller>();
  return {
    arrived: (request, requestContext) => {
      const parsed = platform.safeParse(requestContext);
      if (!parsed.success) return;
      const { sourceIp } = "http" in parsed.data ? parsed.data.http : parsed.data.identity;
      known.set(request, { address: sourceIp, secure: true });
    },
    of: (request) => known.get(request) ?? nobody,
  };
}
