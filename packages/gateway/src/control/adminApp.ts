/** The control plane's app over the parts of this process. */
import { controlApp } from "@gateway/control/app.ts";
import type { Configuration } from "@gateway/control/config/configuration.ts";
import type { PasswordHasher } from "@gateway/control/deps.ts";
import type { Store } from "@gateway/control/store/store.ts";
import type { CapacityDesk } from "@gateway/control/worker/capacity/capacityPort.ts";
import type { Result } from "@gateway/core/result.ts";
import { plainSecrets } from "../config/secrets.ts";
import type { DataPlaneParts, RunningDataPlane } from "../dataPlane.ts";
import { redactionOf } from "../history/controlHistory.ts";
import { localQueries } from "../history/localQueries.ts";
import type { Answers } from "../ops/app.ts";
import type { Callers } from "../ops/callers.ts";
import type { StartOptions } from "../roles.ts";
import { clusterTest } from "./clusterTest.ts";
import { routeExplainer } from "@gateway/control/snapshot/routeExplainer.ts";

export interface AnswerParts extends Pick<DataPlaneParts, "stopping" | "generations"> {
  readonly store: Store;
  readonly configuration: Configuration;
  readonly passwords: PasswordHasher;
  /** Where slots are leased from; undefined where no workers are served. */
  readonly desk: CapacityDesk | undefined;
  /** A process whose frontends did not open ends before anybody can ask. */
  readonly data: Result<RunningDataPlane, unknown>;
}

export function controlAnswers(
  options: StartOptions,
  { store, configuration, generations, passwords, data, stopping, desk }: AnswerParts,
): (callers: Callers) => Answers {
  const { host, config } = options;
  const { workerApi } = config.gateway;
  return (callers) =>
    controlApp({
      store,
      config: configuration,
      clock: host.clock,
      log: host.log,
      metrics: host.metrics,
      randomBytes: (length) => host.randomBytes(length),
      passwords,
      caller: (request) => callers.of(request),
      queries: data.ok ? localQueries(data.value.live, redactionOf(configuration)) : undefined,
      explainRoute: routeExplainer(configuration, generations),
      testCluster: clusterTest(options),
      workerApi:
        workerApi?.enabled === true && workerApi.sharedSecret !== undefined
          ? {
              secrets: plainSecrets(workerApi.sharedSecret),
              ...(desk === undefined ? {} : { capacity: desk }),
            }
          : undefined,
      host: "container",
      stopping: stopping.signal,
    });
}
