/**
 * The admin listener of a worker of several processes, in the first one: health and metrics of all of them, their
 * statuses as a list, and whatever else a worker answers from one of them.
 */
import type { ListenError } from "@gateway/core/port/frontend.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { NodeHost } from "../host/node.ts";
import { callersBehind } from "../ops/callers.ts";
import { listenOps, type OpenOps } from "../ops/listen.ts";
import { opsTopic, ownHost, type OpsAnswer } from "../ops/siblingRequests.ts";
import { mergedMetrics } from "./metricsText.ts";
import type { Switchboard } from "./switchboard.ts";

/** Of the label `process` for what the first process itself counts. */
const firstProcess = "0";
export interface FrontParts {
  readonly switchboard: Switchboard;
  /** Whether each process serves. */
  readonly whole: () => boolean;
  readonly stopping: AbortSignal;
}

/** Opens it, when it is enabled. */
export function openFront(
  parts: FrontParts,
  { adminApi }: GatewayConfig,
  host: NodeHost,
): Promise<Result<OpenOps | undefined, ListenError>> {
  if (!adminApi.enabled) return Promise.resolve(ok(undefined));
  const callers = callersBehind(adminApi.trustedProxies);
  const plain = {
    notReady: () => notReady(parts),
    metrics: async () => {
      const texts = new Map([[firstProcess, await host.metrics.expose()]]);
      for (const [index, answer] of await allOf(parts, "/metrics")) {
        texts.set(String(index + 1), textOf(answer));
      }
      return mergedMetrics(texts);
    },
    metricsType: host.metrics.contentType,
  };
  const app = async () => {
    const { opsApp } = await import("../ops/app.ts");
    return opsApp({
      ...plain,
      allowedHosts: adminApi.allowedHosts,
      control: { fetch: (request) => relayed(parts, request, callers.of(request).address) },
    });
  };
  return listenOps(adminApi, { plain, app, callers }, host);
}

async function notReady(parts: FrontParts): Promise<string | undefined> {
  if (parts.stopping.aborted) return "draining";
  if (!parts.whole()) return "not every process serves";
  for (const [index, { status, body }] of await allOf(parts, "/readyz")) {
    if (status === 200) continue;
    const { reason } = JSON.parse(Buffer.from(body, "base64").toString()) as { reason?: string };
    return `process ${index + 1}: ${reason ?? status}`;
  }
  return undefined;
}

function allOf({ switchboard }: FrontParts, path: string): Promise<ReadonlyMap<number, OpsAnswer>> {
  return switchboard.ask(opsTopic, { path, headers: [], address: ownHost });
}

async function relayed(parts: FrontParts, request: Request, address: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  if (pathname === "/worker/status") {
    const answers = await allOf(parts, pathname);
    const processes = [...answers.values()].map((answer) => JSON.parse(textOf(answer)) as unknown);
    return Response.json({ processes }, { headers: { "cache-control": "no-store" } });
  }
  if (request.method !== "GET") return new Response(undefined, { status: 405 });
  const headers = [...request.headers];
  const answers = await parts.switchboard.ask(opsTopic, {
    path: `${pathname}${search}`,
    headers,
    address,
  });
  // One that has a configuration knows more than one that does not.
  const [best] = [...answers.values()].toSorted((a, b) => a.status - b.status);
  if (best === undefined) return new Response(undefined, { status: 503 });
  const given = best.headers.map(([name, value]): [string, string] => [name, value]);
  return new Response(Buffer.from(best.body, "base64"), { status: best.status, headers: given });
}

function textOf({ body }: OpsAnswer): string {
  return Buffer.from(body, "base64").toString();
}
