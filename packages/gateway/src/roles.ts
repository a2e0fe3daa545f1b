/**
 * The composition root: which parts each role is made of. Nothing is decided here.
 *
 *              config from              capacity   history              serves
 * standalone   store                    local      store                queries, admin
 * controlPlane store                    leases     store                queries, admin, workers
 * worker       control plane|disk|peer  leases     spool to the owner   queries, operations
 *
 * What a role is made of is loaded with it (owner.ts, worker/): a worker would read half of a control plane at each start.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { LocalRewrites } from "@gateway/core/script/scripts.ts";
import { Generations } from "@gateway/core/snapshot/generation.ts";
import { startDataPlane } from "./dataPlane.ts";
import type { Callers } from "./ops/callers.ts";
import { certificateFaults } from "./ops/certificates.ts";
import { driverFaults } from "./ops/drivers.ts";
import { startOps } from "./ops/start.ts";
import { together, type Running } from "./running.ts";
import type { StartError, StartOptions } from "./starting.ts";

type Started = Promise<Result<Running, readonly StartError[]>>;

/** Starts the role of the config. Answers everything that could not be opened, with nothing left open. */
export async function start(options: StartOptions): Started {
  const { config, host } = options;
  const faults = [
    ...certificateFaults(config.gateway),
    ...(await driverFaults(config.gateway, host.libraryFolders ?? [])),
  ];
  if (faults.length > 0) return err(faults);
  const local = await localRewrites(options);
  if (!local.ok) return local;
  // Whoever owns the configuration has the setting in it, where it changes without a restart.
  const localResolutionMs =
    config.gateway.role === "worker" ? config.translation?.schemaResolutionTimeoutMs : undefined;
  const localHost = { ...host, localRewrites: local.value, localResolutionMs };
  const started = await startRole({ ...options, host: localHost });
  if (!started.ok) await local.value?.[Symbol.asyncDispose]();
  return started;
}

async function startRole(options: StartOptions): Started {
  switch (options.config.gateway.role) {
    case "standalone":
    case "controlPlane": {
      const { startOwner } = await import("./owner.ts");
      return startOwner(options);
    }
    case "worker":
      return startWorker(options);
  }
}

/** What the file adds for this process alone. Nothing is loaded for it where it adds nothing. */
async function localRewrites({
  config,
  host,
  bundle,
  environment,
}: StartOptions): Promise<Result<LocalRewrites | undefined, readonly StartError[]>> {
  const scripts = config.translation?.pythonScripts ?? [];
  if (scripts.length === 0) return ok(undefined);
  const { openPython } = await import("./host/python/openPython.ts");
  return openPython(scripts, { host, bundle, path: environment["PATH"] });
}

/** Never touches a database: everything durable lives behind its link. */
async function startWorker(options: StartOptions): Started {
  const { config, host } = options;
  const generations = new Generations();
  const { openWorker } = await import("./worker/open.ts");
  const worker = await openWorker(options, { generations });
  if (!worker.ok) return err([{ part: "start", reason: worker.error }]);
  const { name, spool, capacity } = worker.value;

  const stopping = new AbortController();
  stopping.signal.addEventListener("abort", () => worker.value.draining());
  const made = { generations, capacity, history: spool, stopping, worker: name };
  const data = await startDataPlane(made, config.gateway, host);
  if (data.ok) worker.value.serve(data.value.live);
  const app = async (callers: Callers) => {
    const { workerApp } = await import("./worker/workerApp.ts");
    return workerApp(worker.value, config.gateway, host, (request) => callers.of(request).address);
  };
  const ops = await startOps({ generations, stopping, app }, config.gateway, host);
  return together({
    clock: host.clock,
    data,
    ops,
    setup: ok(undefined),
    links: undefined,
    reload: undefined,
    ends: [
      (deadline) => worker.value.close(deadline),
      async () => host.localRewrites?.[Symbol.asyncDispose](),
    ],
  });
}
