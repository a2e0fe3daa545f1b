/**
 * Health, readiness and metrics: what orchestrators and scrapers ask a gateway all its life, and often nothing else does.
 *
 * The listener answers them as text, without Hono and a `Request`: both are loaded with the first request that is for the
 * admin API, and Node's own part of them alone is 2 MB of objects. Whatever is not exactly such a request is the
 * app's, which has these paths too and says the same.
 */
import type { IncomingMessage } from "node:http";
import { hostAllowed } from "@gateway/frontends/listener/http/host.ts";

export const plainPaths = ["/health", "/readyz", "/metrics"] as const;

export type PlainPath = (typeof plainPaths)[number];

export interface PlainParts {
  /** Why the process is not ready to take queries; undefined when it is. */
  notReady(): string | undefined | Promise<string | undefined>;
  /** Prometheus text. */
  metrics(): Promise<string>;
  readonly metricsType: string;
}

export interface PlainAnswer {
  readonly status: 200 | 503;
  readonly type: string;
  readonly body: string;
}

/** Rejects when the metrics or the readiness do. */
export async function plainAnswer(path: PlainPath, parts: PlainParts): Promise<PlainAnswer> {
  switch (path) {
    case "/health":
      return json(200, { status: "ok" });
    case "/readyz": {
      const reason = await parts.notReady();
      return reason === undefined
        ? json(200, { status: "ready" })
        : json(503, { status: "notReady", reason });
    }
    case "/metrics":
      return { status: 200, type: parts.metricsType, body: await parts.metrics() };
  }
}

/** Undefined for every other path, and for these ones with anything about them that has to be judged: the app does. */
export function plainPathOf(
  request: IncomingMessage,
  allowedHosts: readonly string[],
): PlainPath | undefined {
  const path = plainPath(request.url);
  if (path === undefined || request.method !== "GET") return undefined;
  const { host = [], origin } = request.headersDistinct;
  const [name, ...more] = host;
  if (name === undefined || more.length > 0 || origin !== undefined) return undefined;
  return isWritten(name) && hostAllowed(name, { allowedHosts: [...allowedHosts] })
    ? path
    : undefined;
}

export function plainPath(text: string | undefined): PlainPath | undefined {
  return plainPaths.find((one) => one === text);
}

/** True for a host that a URL writes the same way: others may be refused before anything looks at the path. */
function isWritten(host: string): boolean {
  const url = `http://${host}/`;
  if (!URL.canParse(url)) return false;
  const { hostname, pathname, username, search, hash } = new URL(url);
  const more = username + search + hash;
  return more === "" && pathname === "/" && hostname === host.replace(/:\d+$/, "");
}

function json(status: PlainAnswer["status"], value: object): PlainAnswer {
  return { status, type: "application/json", body: JSON.stringify(value) };
}
