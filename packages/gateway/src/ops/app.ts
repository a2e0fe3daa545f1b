/**
 * The admin listener's routes: liveness, readiness and metrics here, which carry no secret and no user
 * data and need no login, and the web console's files; everything under `/admin`, `/worker` and
 * `/openapi.json` is the control plane's own app.
 */
import { problemResponse } from "@gateway/control/problem.ts";
import { hostAllowed, originAllowed } from "@gateway/frontends/listener/http/host.ts";
import { studioPath } from "@gateway/contract/studioApi.ts";
import { Hono } from "hono";
import type { StudioFiles } from "./studioFiles.ts";

/** What answers requests: Hono's app, or any function of the like. */
export interface App {
  fetch(request: Request): Response | Promise<Response>;
}

export interface OpsParts {
  /** Why the process is not ready to take queries; undefined when it is. */
  notReady(): string | undefined | Promise<string | undefined>;
  /** Prometheus text. */
  metrics(): Promise<string>;
  readonly metricsType: string;
  /** Config: `gateway.adminApi.allowedHosts`. */
  readonly allowedHosts: readonly string[];
  /** Admin and worker API. */
  readonly control: App | undefined;
  /** The web console; undefined where there is no admin API. */
  readonly studio?: StudioFiles | undefined;
}

export function opsApp(parts: OpsParts): Hono {
  const app = new Hono();
  const names = { allowedHosts: [...parts.allowedHosts] };
  app.use(async (c, next) => {
    const host = c.req.header("host");
    const allowed = hostAllowed(host, names) && originAllowed(c.req.header("origin"), host, names);
    if (allowed) return next();
    // Otherwise another site could point its name at this machine, and its page could read what is
    // here.
    const detail = "the Host or Origin header names another host";
    return problemResponse({ status: 403, code: "foreignHost", title: "Forbidden", detail });
  });
  app.get("/health", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    const reason = await parts.notReady();
    return reason === undefined
      ? c.json({ status: "ready" })
      : c.json({ status: "notReady", reason }, 503);
  });
  app.get("/metrics", async (c) =>
    c.body(await parts.metrics(), 200, { "content-type": parts.metricsType }),
  );
  const { control } = parts;
  if (control !== undefined) {
    for (const path of ["/admin/*", "/worker/*", "/openapi.json"]) {
      app.all(path, (c) => control.fetch(c.req.raw));
    }
  }
  const { studio } = parts;
  if (studio !== undefined) {
    for (const path of ["/", studioPath.slice(0, -1)]) app.get(path, (c) => c.redirect(studioPath));
    app.get(`${studioPath}*`, (c) => studio.answer(c.req.raw));
  }
  app.notFound((c) => {
    const detail = `no such path: ${c.req.path}`;
    return problemResponse({ status: 404, code: "missing", title: "Not Found", detail });
  });
  return app;
}
