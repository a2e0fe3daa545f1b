/** The admin API put together: which resources it is made of, and what every answer of it carries. */
import { Hono } from "hono";
import type { ControlDeps } from "../deps.ts";
import { accessExplainRoute } from "./config/accessExplain.ts";
import { auditRoutes } from "./audit.ts";
import type { AdminEnv } from "./auth/admin.ts";
import { accessOf } from "./auth/authenticate.ts";
import { configObjectRoutes } from "./config/configObjects.ts";
import { judgeRoutes } from "./config/judge.ts";
import { loginRoutes } from "./account/login.ts";
import { signOnRoutes } from "./account/signOn.ts";
import { drillRoutes } from "./fleet/drills.ts";
import { liveRoutes } from "./live/live.ts";
import { exportRoutes } from "./query/export.ts";
import { overviewRoutes } from "./query/overview.ts";
import { queryRoutes } from "./query/queries.ts";
import { revisionRoutes } from "./config/revisions.ts";
import type { AdminApi } from "./route.ts";
import { runningQueryRoutes } from "./query/runningQueries.ts";
import { scriptTestRoute } from "./config/scriptTest.ts";
import { sessionRoutes } from "./account/sessions.ts";
import { runRoutes } from "./run/run.ts";
import { schemaRoutes, statusRoutes } from "./fleet/status.ts";
import { suspectRoutes } from "./fleet/suspects.ts";
import { transferRoutes } from "./config/transfer.ts";
import { userRoutes } from "./account/users.ts";
import { workerRoutes } from "./fleet/workers.ts";

/** Answers hold what only their reader may see, and are never a page. */
export const securityHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Everything below `/admin`. */
export function adminApi(deps: ControlDeps): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(securityHeaders)) c.header(name, value);
    if (c.res.status === 503) deps.log.write("warn", "admin.unavailable", { path: c.req.path });
  });
  const api: AdminApi = { app, deps, access: accessOf(deps) };
  statusRoutes(api);
  schemaRoutes(api);
  loginRoutes(api);
  signOnRoutes(api);
  userRoutes(api);
  sessionRoutes(api);
  configObjectRoutes(api);
  judgeRoutes(api);
  accessExplainRoute(api);
  scriptTestRoute(api);
  transferRoutes(api);
  revisionRoutes(api);
  workerRoutes(api);
  suspectRoutes(api);
  drillRoutes(api);
  liveRoutes(api);
  runRoutes(api);
  // First: `running` is no id.
  runningQueryRoutes(api);
  queryRoutes(api);
  exportRoutes(api);
  overviewRoutes(api);
  auditRoutes(api);
  return app;
}
