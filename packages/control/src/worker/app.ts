/**
 * The worker API: what a fleet asks its control plane. A Hono app to be mounted under `/worker`.
 *
 * Everything is behind the fleet secret, also paths that do not exist.
 */
import { Hono } from "hono";
import type { ControlDeps } from "../deps.ts";
import { problemResponse } from "../problem.ts";
import { fleetAuth, type WorkerEnv } from "./auth.ts";
import { capacityRoutes } from "./capacity/capacity.ts";
import { sharedCapacity } from "./capacity/sharedCapacity.ts";
import { streamSecsMaxContainer, streamSecsMaxFunction } from "./limits.ts";
import { ingestRecords } from "./records.ts";
import { deregister, heartbeat, register } from "./registry/registry.ts";
import { serverOf } from "./snapshot/served.ts";
import { currentOf, getSnapshot, streamChanges, waitForChange } from "./snapshot/snapshot.ts";
import { configWatch } from "./snapshot/watch.ts";

export interface WorkerApiOptions {
  /** Seconds after which a stream ends with a resume position; in a function below the platform's limit. */
  readonly streamSecsMax?: number;
}

/** One per process: it holds the waiters, the failures per address and the bytes that are served. */
export function workerApi(deps: ControlDeps, options: WorkerApiOptions = {}): Hono<WorkerEnv> {
  const current = currentOf(deps, serverOf(deps.workerApi?.secrets ?? []));
  const watch = configWatch(deps);
  const shared = deps.workerApi?.capacity ?? sharedCapacity(deps);
  const streamSecsMax =
    options.streamSecsMax ??
    (deps.host === "function" ? streamSecsMaxFunction : streamSecsMaxContainer);

  return new Hono<WorkerEnv>()
    .use("*", fleetAuth(deps))
    .get("/config", getSnapshot(current))
    .get("/config/wait", waitForChange(deps, current, watch))
    .get("/config/stream", streamChanges(deps, current, watch, streamSecsMax))
    .post("/register", register(deps, shared))
    .delete("/register/:instanceId", deregister(deps))
    .post("/heartbeat", heartbeat(deps, current, shared))
    .post("/query-records", ingestRecords(deps))
    .route("/", capacityRoutes(deps, shared))
    .all("*", () => problemResponse({ status: 404, code: "missing", title: "Not Found" }))
    .onError((error) => {
      // Its message may hold whatever a library put there: it goes to the log alone.
      deps.log.bug(error, { api: "worker" });
      return problemResponse({
        status: 500,
        code: "internal.bug",
        title: "Internal Server Error",
      });
    });
}
