/**
 * The admin listener's routes: liveness, readiness and metrics here, which carry no secret and no user
 * data and need no login, and the web console's files; everything under `/admin`, `/worker` and
 * `/openapi.json` is the control plane's own app. Loaded with the first request that `plain.ts` does not answer.
 */
import { problemResponse } from "@gateway/control/problem.ts";
import { hostAllowed, originAllowed } from "@gateway/frontends/listener/http/host.ts";
import { studioPath } from "@gateway/contract/studioApi.ts";
import { Hono } from "hono";
import { plainAnswer, plainPaths, type PlainParts } from "./plain.ts";
import type { StudioFiles } from "./studioFiles.ts";

/** What answers requests: Hono's app, or any function of the like. */
export interface App {
  fetch(request: Request): Response | Promise<Response>;
}

export interface OpsParts extends PlainParts {
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
  for (const path of plainPaths) {
    app.get(path, async (c) => {
      const { status, type, body } = await plainAnswer(path, parts);
      return c.body(body, status, { "content-type": type });
    });
  }
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
