/** What a worker's admin listener answers besides health and metrics: its status, and its configuration to peers. */
import { problemResponse } from "@gateway/control/problem.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { OpenWorker } from "./open.ts";
import { servePeers } from "./snapshot/servePeers.ts";
import { peerPath } from "./snapshot/peerProof.ts";

/** The configuration is given to peers only where `peerBootstrap` is configured. `callerAddress`: who sends a request. */
export function workerApp(
  { secrets, config, status }: OpenWorker,
  { controlPlane }: GatewayConfig,
  host: Host,
  callerAddress: (request: Request) => string,
): { fetch(request: Request): Response } {
  const peers =
    controlPlane?.peerBootstrap === undefined
      ? undefined
      : servePeers({ host, secrets, active: () => config.active(), callerAddress });
  return {
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (request.method !== "GET") return missing(pathname);
      if (pathname === "/worker/status") return Response.json(status(), { headers });
      if (pathname === peerPath && peers !== undefined) return peers(request);
      return missing(pathname);
    },
  };
}

const headers = { "cache-control": "no-store" };

function missing(path: string): Response {
  const detail = `no such path: ${path}`;
  return problemResponse({ status: 404, code: "missing", title: "Not Found", detail });
}
