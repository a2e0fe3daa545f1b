/** What a worker's admin listener answers besides health and metrics: its status, and its configuration to peers. */
import { problemResponse } from "@gateway/control/problem.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { Answers } from "../ops/app.ts";
import type { Callers } from "../ops/callers.ts";
import type { OpenWorker } from "./open.ts";
import { peerAnswers } from "./snapshot/peerAnswer.ts";
import { peerPath } from "./snapshot/peerProof.ts";

/** For `startOps`. The configuration is given to peers only where `peerBootstrap` is configured. */
export function workerListener(
  { secrets, config, status }: OpenWorker,
  { controlPlane }: GatewayConfig,
  host: Host,
): (callers: Callers) => Answers {
  return (callers) => {
    const callerAddress = (request: Request): string => callers.of(request).address;
    const peers =
      controlPlane?.peerBootstrap === undefined
        ? undefined
        : peerAnswers({ host, secrets, active: () => config.active(), callerAddress });
    return {
      fetch: (request) => {
        const { pathname } = new URL(request.url);
        if (request.method !== "GET") return missing(pathname);
        if (pathname === "/worker/status") return Response.json(status(), { headers });
        if (pathname === peerPath && peers !== undefined) return peers(request);
        return missing(pathname);
      },
    };
  };
}

const headers = { "cache-control": "no-store" };

function missing(path: string): Response {
  const detail = `no such path: ${path}`;
  return problemResponse({ status: 404, code: "missing", title: "Not Found", detail });
}
