/** The control plane's app over the parts of this process. */
import { controlApp } from "@gateway/control/app.ts";
import type { SignOnLinks } from "@gateway/control/admin/auth/links.ts";
import type { Configuration } from "@gateway/control/config/configuration.ts";
import type { ControlDeps, PasswordHasher, SignOnProvider } from "@gateway/control/deps.ts";
import type { Store } from "@gateway/control/store/store.ts";
import type { SharedCapacity } from "@gateway/control/worker/capacity/capacityPort.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { LiveQueries } from "@gateway/core/run/step/live.ts";
import type { Generations } from "@gateway/core/snapshot/generation.ts";
import { plainSecrets } from "../config/secrets.ts";
import { redactionOf } from "../history/controlHistory.ts";
import { localQueries } from "../history/localQueries.ts";
import type { StartOptions } from "../starting.ts";
import { accessExplainer } from "./accessExplainer.ts";
import { clusterTest } from "./clusterTest.ts";
import { allowsConsole, consoleQueries } from "./consoleQueries.ts";
import { routeExplainer } from "@gateway/control/config/snapshot/routeExplainer.ts";

export interface AdminAppParts {
  readonly store: Store;
  readonly configuration: Configuration;
  readonly passwords: PasswordHasher;
  /** Where slots are leased from; undefined where no workers are served. */
  readonly shared: SharedCapacity | undefined;
  /** The queries of this process. Undefined where its frontends did not open: it then ends before anybody can ask. */
  readonly live: LiveQueries | undefined;
  /** Where queries of the console go; undefined as above. */
  readonly door: Door | undefined;
  readonly links: SignOnLinks | undefined;
  readonly signOn: SignOnProvider | undefined;
  readonly generations: Generations;
  /** Aborted when the drain begins. */
  readonly stopping: AbortSignal;
  /** Who sends a request to the admin listener. */
  readonly caller: ControlDeps["caller"];
}

export function adminApp(
  options: StartOptions,
  {
    store,
    configuration,
    generations,
    passwords,
    live,
    door,
    links,
    signOn,
    stopping,
    shared,
    caller,
  }: AdminAppParts,
): ReturnType<typeof controlApp> {
  const { host, config } = options;
  const { workerApi } = config.gateway;
  return controlApp({
    store,
    config: configuration,
    clock: host.clock,
    log: host.log,
    metrics: host.metrics,
    randomBytes: (length) => host.randomBytes(length),
    passwords,
    caller,
    queries: live && localQueries(live, redactionOf(configuration)),
    links,
    signOn,
    console: allowsConsole(config.gateway)
      ? door && consoleQueries(door, config.gateway.adminApi.queryConsole)
      : undefined,
    clusterHealth: () => generations.active?.health() ?? [],
    explainRoute: routeExplainer(configuration, generations, host),
    explainAccess: accessExplainer(options, configuration, generations),
    testCluster: clusterTest(options),
    scripts: host.scripts,
    workerApi:
      workerApi?.enabled === true && workerApi.sharedSecret !== undefined
        ? {
            secrets: plainSecrets(workerApi.sharedSecret),
            ...(shared === undefined ? {} : { capacity: shared }),
          }
        : undefined,
    drills: config.gateway.drills,
    host: "container",
    stopping,
  });
}
