/** Opens the admin listener when it is enabled. */
import type { ListenError } from "@gateway/core/port/frontend.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { NodeHost } from "../host/node.ts";
import { opsApp, type App } from "./app.ts";
import type { StudioFiles } from "./studioFiles.ts";
import { callersBehind, type Callers } from "./callers.ts";
import { listenOps, type OpenOps } from "./listen.ts";
import { answerFront } from "./siblingRequests.ts";

export interface OpsOptions {
  readonly generations: Generations;
  /** Aborted when the drain begins. */
  readonly stopping: AbortController;
  /** What the role answers besides health and metrics; told who calls. */
  readonly app: (callers: Callers) => App;
  /** The web console, beside an admin API. */
  readonly studio?: StudioFiles;
}

export async function startOps(
  { generations, stopping, app: ownApp, studio }: OpsOptions,
  { adminApi }: GatewayConfig,
  host: NodeHost,
): Promise<Result<OpenOps | undefined, ListenError>> {
  if (!adminApi.enabled) return ok(undefined);
  const callers = callersBehind(adminApi.trustedProxies);
  const app = opsApp({
    notReady: () => {
      if (stopping.signal.aborted) return "draining";
      return generations.active === undefined ? "no active configuration" : undefined;
    },
    metrics: () => host.metrics.expose(),
    metricsType: host.metrics.contentType,
    allowedHosts: adminApi.allowedHosts,
    control: ownApp(callers),
    studio,
  });
  if (host.siblings === undefined) return listenOps(adminApi, { app, callers }, host);
  // The first process has the listener and asks.
  answerFront(host.siblings, app, callers);
  return ok(undefined);
}
