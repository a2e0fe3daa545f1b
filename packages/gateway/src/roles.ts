/**
 * The composition root: which parts each role is made of. Nothing is decided here.
 *
 *              config from              capacity   history              serves
 * standalone   store                    local      store                queries, admin
 * controlPlane store                    leases     store                queries, admin, workers
 * worker       control plane|disk|peer  leases     spool to the owner   queries, operations
 */
import { fileURLToPath } from "node:url";
import { signOnLinks, type SignOnLinks } from "@gateway/control/admin/auth/links.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { LocalRewrites } from "@gateway/core/script/scripts.ts";
import { Generations } from "@gateway/core/snapshot/generation.ts";
import { adminApp } from "./control/adminApp.ts";
import { firstAdmin } from "./control/firstAdmin.ts";
import { reloadFrom, startConfig } from "./control/firstConfig.ts";
import { ownCapacity } from "./control/ownCapacity.ts";
import { closeControl, openControl } from "./control/openControl.ts";
import { signOnOf } from "./control/signOn.ts";
import { threadPasswords } from "./control/passwords.ts";
import { startDataPlane } from "./dataPlane.ts";
import { controlHistory } from "./history/controlHistory.ts";
import { openBook } from "./history/openBook.ts";
import type { Callers } from "./ops/callers.ts";
import { isLoopback } from "./config/rules.ts";
import { certificateFaults } from "./ops/certificates.ts";
import { driverFaults } from "./ops/drivers.ts";
import { startOps } from "./ops/start.ts";
import { studioFiles } from "./ops/studioFiles.ts";
import { together, type Running } from "./running.ts";
import type { StartError, StartOptions } from "./starting.ts";
import { workerApp } from "./worker/workerApp.ts";

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
  const localHost = { ...host, localRewrites: local.value };
  const started = await startRole({ ...options, host: localHost });
  if (!started.ok) await local.value?.[Symbol.asyncDispose]();
  return started;
}

function startRole(options: StartOptions): Started {
  switch (options.config.gateway.role) {
    case "standalone":
    case "controlPlane":
      return startOwner(options);
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

/** Owns the configuration. */
async function startOwner(options: StartOptions): Started {
  const { config, host } = options;
  const control = await openControl({ ...options, access: "serve" });
  if (!control.ok) return err([{ part: "start", reason: control.error }]);
  const { store, configuration } = control.value;
  const book = await openBook(config.gateway, host);
  if (!book.ok) {
    await closeControl(control.value);
    return err([{ part: "start", reason: book.error }]);
  }

  const stopping = new AbortController();
  const generations = new Generations();
  const parts = { store, configuration, generations, host, stopping: stopping.signal };
  const own = ownCapacity(config.gateway, parts);
  const { capacity, shared } = own;
  const following = await startConfig(options, { configuration, generations, capacity });
  if (!following.ok) {
    await own.close(AbortSignal.abort());
    await book.value[Symbol.asyncDispose]();
    await closeControl(control.value);
    return following;
  }
  const passwords = threadPasswords(host);
  const setup = await firstAdmin(config.gateway.adminApi, { store, passwords, host });
  const history = controlHistory(config.gateway, {
    store,
    configuration,
    host,
    book: book.value.book,
  });

  const made = { generations, capacity, history, stopping, worker: undefined };
  const data = await startDataPlane(made, config.gateway, host);
  const { live, door } = data.ok ? data.value : { live: undefined, door: undefined };
  const links = linksOf(config.gateway.adminApi, host);
  const signOn = signOnOf(config.gateway.adminApi, host);
  const app = (callers: Callers) =>
    adminApp(options, {
      ...parts,
      links,
      signOn,
      passwords,
      live,
      door,
      shared,
      caller: (request) => callers.of(request),
    });
  const studio = studioFiles(studioFolders(options.bundle));
  const ops = await startOps({ generations, stopping, app, studio }, config.gateway, host);
  return together({
    clock: host.clock,
    data,
    ops,
    setup,
    links,
    reload: reloadFrom(config.gateway, configuration),
    ends: [
      (deadline) => own.close(deadline),
      (deadline) => history.close(deadline),
      () => book.value[Symbol.asyncDispose](),
      () => following.value[Symbol.asyncDispose](),
      () => passwords[Symbol.asyncDispose](),
      async () => signOn?.[Symbol.asyncDispose](),
      () => closeControl(control.value),
      async () => host.localRewrites?.[Symbol.asyncDispose](),
    ],
  });
}

/** Only where nobody but this machine reaches the listener. */
function linksOf(
  { enabled, host }: StartOptions["config"]["gateway"]["adminApi"],
  own: StartOptions["host"],
): SignOnLinks | undefined {
  if (!enabled || !isLoopback(host)) return undefined;
  return signOnLinks(own.clock, (length) => own.randomBytes(length));
}

/** Beside the bundle, as a build packs it; else as the checkout built it last. */
function studioFolders(bundle: URL): readonly string[] {
  return ["studio/", "../../studio/dist/"].map((path) => fileURLToPath(new URL(path, bundle)));
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
  const app = (callers: Callers) =>
    workerApp(worker.value, config.gateway, host, (request) => callers.of(request).address);
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
