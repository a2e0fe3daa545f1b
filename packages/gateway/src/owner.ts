/** The roles that own the configuration: standalone and control plane. */
import { fileURLToPath } from "node:url";
import { signOnLinks, type SignOnLinks } from "@gateway/control/admin/auth/links.ts";
import { err, type Result } from "@gateway/core/result.ts";
import { Generations } from "@gateway/core/snapshot/generation.ts";
import { isLoopback } from "./config/rules.ts";
import type { AdminAppParts } from "./control/adminApp.ts";
import { firstAdmin } from "./control/firstAdmin.ts";
import { reloadFrom, startConfig } from "./control/firstConfig.ts";
import { closeControl, openControl } from "./control/openControl.ts";
import { ownCapacity } from "./control/ownCapacity.ts";
import { threadPasswords } from "./control/passwords.ts";
import { signOnOf } from "./control/signOn.ts";
import { startDataPlane } from "./dataPlane.ts";
import { controlHistory } from "./history/controlHistory.ts";
import { openBook } from "./history/openBook.ts";
import type { App } from "./ops/app.ts";
import type { Callers } from "./ops/callers.ts";
import { startOps } from "./ops/start.ts";
import { studioFiles } from "./ops/studioFiles.ts";
import { together, type Running } from "./running.ts";
import type { StartError, StartOptions } from "./starting.ts";

type Started = Promise<Result<Running, readonly StartError[]>>;

/** Opens the store, then clusters, then listeners; answers everything that could not be opened, with nothing left open. */
export async function startOwner(options: StartOptions): Started {
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
  const admin = { ...parts, links, signOn, passwords, live, door, shared };
  const ops = await openAdmin(options, admin, stopping);
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

/** The admin listener. Its app is loaded with its first request, or with the start where a fleet asks from then on. */
function openAdmin(
  options: StartOptions,
  parts: Omit<AdminAppParts, "caller">,
  stopping: AbortController,
): ReturnType<typeof startOps> {
  const { config, host, bundle } = options;
  const app = async (callers: Callers): Promise<App> => {
    const { adminApp } = await import("./control/adminApp.ts");
    return adminApp(options, { ...parts, caller: (request) => callers.of(request) });
  };
  const appAhead = config.gateway.workerApi?.enabled === true;
  const studio = studioFiles(studioFolders(bundle));
  const { generations } = parts;
  return startOps({ generations, stopping, app, appAhead, studio }, config.gateway, host);
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
