/** A started role: its open listeners, and how its parts end together. */
import type { ListenError } from "@gateway/core/port/frontend.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import type { GatewayConfig } from "./config/schema.ts";
import type { DataPlaneParts, RunningDataPlane } from "./dataPlane.ts";
import type { MemoryHistory } from "./history.ts";
import type { NodeHost } from "./host/node.ts";
import { opsApp } from "./ops/app.ts";
import { listenOps, type OpenOps } from "./ops/listen.ts";

/** A listener or a cluster that could not be opened. */
export type StartError = ListenError | { readonly cluster: string; readonly reason: string };

/** An open address, for logs and for the text that the quick start prints. */
export interface OpenListener {
  readonly kind: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** A started role. */
export interface Running {
  readonly listeners: readonly OpenListener[];
  readonly data: RunningDataPlane;
  /** Takes nothing new, lets running queries finish until `deadline`; true when none had to be ended. */
  drain(deadline: AbortSignal): Promise<boolean>;
}

type StartedOps = Result<OpenOps | undefined, ListenError>;

/** Opens the operations listener when it is enabled. */
export async function startOps(
  { generations, stopping }: Pick<DataPlaneParts, "generations" | "stopping">,
  config: GatewayConfig,
  host: NodeHost,
): Promise<StartedOps> {
  if (!config.adminApi.enabled) return ok(undefined);
  const app = opsApp({
    notReady: () => {
      if (stopping.signal.aborted) return "draining";
      return generations.active === undefined ? "no active configuration" : undefined;
    },
    metrics: () => host.metrics.expose(),
    metricsType: host.metrics.contentType,
    allowedHosts: config.adminApi.allowedHosts,
  });
  return listenOps(config.adminApi, app, host);
}

/** Joins what was started; if a part failed, ends the others and answers every failure. */
export async function together(started: {
  readonly data: Result<RunningDataPlane, readonly ListenError[]>;
  readonly ops: StartedOps;
  readonly generations: Generations;
  readonly history: MemoryHistory;
}): Promise<Result<Running, readonly StartError[]>> {
  const { data, ops, generations } = started;
  if (data.ok && ops.ok) return ok(runningOf(data.value, ops.value, started));
  if (data.ok) await data.value.drain(AbortSignal.abort());
  if (ops.ok) await ops.value?.close();
  await generations.swap(undefined);
  return err([...(data.ok ? [] : data.error), ...(ops.ok ? [] : [ops.error])]);
}

function runningOf(
  data: RunningDataPlane,
  ops: OpenOps | undefined,
  { generations, history }: { readonly generations: Generations; readonly history: MemoryHistory },
): Running {
  const opsListeners =
    ops === undefined ? [] : [{ kind: "adminApi", tls: ops.tls, ...addressOf(ops) }];
  return {
    data,
    listeners: [
      ...data.frontends.map(({ kind, host, port, tls }) => ({ kind, host, port, tls })),
      ...opsListeners,
    ],
    drain: async (deadline) => {
      const clean = await data.drain(deadline);
      history.flush();
      // Last, so that an orchestrator sees the process alive until its queries have ended.
      await ops?.close();
      await generations.swap(undefined);
      return clean;
    },
  };
}

function addressOf({ host, port }: OpenOps) {
  return { host, port };
}
