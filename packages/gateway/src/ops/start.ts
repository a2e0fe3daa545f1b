/** Opens the admin listener when it is enabled. */
import type { ListenError } from "@gateway/core/port/frontend.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { NodeHost } from "../host/node.ts";
import type { App } from "./app.ts";
import type { StudioFiles } from "./studioFiles.ts";
import { callersBehind, type Callers } from "./callers.ts";
import { listenOps, type OpenOps } from "./listen.ts";
import { answerFront } from "./siblingRequests.ts";
import { whenAsked } from "./whenAsked.ts";

export interface OpsOptions {
  readonly generations: Generations;
  /** Aborted when the drain begins. */
  readonly stopping: AbortController;
  /** What the role answers besides health and metrics; told who calls. Loaded with the first request for it. */
  readonly app: (callers: Callers) => Promise<App>;
  /** Loaded with the start, where other processes will ask it. */
  readonly appAhead?: boolean;
  /** The web console, beside an admin API. */
  readonly studio?: StudioFiles;
}

export async function startOps(
  { generations, stopping, app: ownApp, appAhead = false, studio }: OpsOptions,
  { adminApi }: GatewayConfig,
  host: NodeHost,
): Promise<Result<OpenOps | undefined, ListenError>> {
  if (!adminApi.enabled) return ok(undefined);
  const callers = callersBehind(adminApi.trustedProxies);
  const plain = {
    notReady: () => {
      if (stopping.signal.aborted) return "draining";
      return generations.active === undefined ? "no active configuration" : undefined;
    },
    metrics: () => host.metrics.expose(),
    metricsType: host.metrics.contentType,
  };
  const app = whenAsked(async () => {
    const [{ opsApp }, control] = await Promise.all([import("./app.ts"), ownApp(callers)]);
    return opsApp({ ...plain, allowedHosts: adminApi.allowedHosts, control, studio });
  });
  const answers = { plain, app, appAhead, callers };
  if (host.siblings === undefined) return listenOps(adminApi, answers, host);
  // The first process has the listener and asks.
  answerFront(host.siblings, answers);
  return ok(undefined);
}
