/** The admin API put together: which resources it is made of, and what every answer of it carries. */
import { Hono } from "hono";
import type { ControlDeps } from "../deps.ts";
import { auditRoutes } from "./audit.ts";
import type { AdminEnv } from "./auth/admin.ts";
import { accessOf } from "./auth/authenticate.ts";
import { configObjectRoutes } from "./configObjects.ts";
import { judgeRoutes } from "./judge.ts";
import { loginRoutes } from "./login.ts";
import { queryRoutes } from "./queries.ts";
import { revisionRoutes } from "./revisions.ts";
import type { AdminApi } from "./route.ts";
import { runningQueryRoutes } from "./runningQueries.ts";
import { sessionRoutes } from "./sessions.ts";
import { schemaRoutes, statusRoutes } from "./status.ts";
import { suspectRoutes } from "./suspects.ts";
import { transferRoutes } from "./transfer.ts";
import { userRoutes } from "./users.ts";
import { workerRoutes } from "./workers.ts";

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
  userRoutes(api);
  sessionRoutes(api);
  configObjectRoutes(api);
  judgeRoutes(api);
  transferRoutes(api);
  revisionRoutes(api);
  workerRoutes(api);
  suspectRoutes(api);
  // First: `running` is no id.
  runningQueryRoutes(api);
  queryRoutes(api);
  auditRoutes(api);
  return app;
}
