/**
 * What a function serves: the control plane's own app once the database is open, and operations.
 *
 * Nothing runs between two invocations, so a request itself looks at what a container keeps up to
 * date in the background.
 */
import { problemResponse } from "@gateway/control/problem.ts";
import type { Log } from "@gateway/core/port/log.ts";
import { Hono } from "hono";
import type { Callers } from "./callers.ts";
import type { Open, OpenRefusal } from "./opening.ts";

export interface FunctionParts {
  readonly open: Open;
  readonly callers: Callers;
  readonly log: Log;
  /** Called when a request has its answer, of which a stream may go on. */
  readonly answered: () => void;
  /** Setting: empty allows every name. */
  readonly allowedHosts: readonly string[];
}

/** What Hono's wrappers hand over beside the request. */
interface FunctionEnv {
  readonly Bindings: { readonly requestContext?: unknown };
}

const retryAfterSecs = "5";
const unavailable = "Service Unavailable";

export function functionApp({
  open,
  callers,
  log,
  answered,
  allowedHosts,
}: FunctionParts): Hono<FunctionEnv> {
  const app = operations();
  app.use(async (_c, next) => {
    await next();
    answered();
  });
  app.use(async (c, next) => {
    const { hostname } = new URL(c.req.url);
    if (allowedHosts.length === 0 || allowedHosts.includes(hostname)) return next();
    const detail = "the Host header names another host";
    return problemResponse({ status: 403, code: "foreignHost", title: "Forbidden", detail });
  });
  app.all("*", async (c) => {
    const opened = await open();
    if (!opened.ok) {
      log.write("error", "database.refused", opened.error);
      return refused(opened.error);
    }
    if (c.req.path === "/readyz") return c.json({ status: "ready" });
    const { config, control } = opened.value;
    // Another instance may have written a moment ago. The worker API looks by itself.
    if (c.req.path.startsWith("/admin/")) {
      await config.judged();
      await config.refresh();
    }
    const request = c.req.raw;
    callers.arrived(request, c.env.requestContext);
    return control.fetch(request);
  });
  return app;
}

/** What answers in place of a function whose settings are missing or wrong. `names`: of the settings. */
export function unsetApp(names: readonly string[], log: Log): Hono<FunctionEnv> {
  const app = operations();
  app.all("*", () => {
    log.write("error", "settings.wrong", { settings: names.join(", ") });
    const detail = "A setting of this function is missing or wrong; its log names it.";
    return problemResponse({ status: 503, code: "notConfigured", title: unavailable, detail });
  });
  return app;
}

/** Answers without the database: a new instance in place of this one would not find it either. */
function operations(): Hono<FunctionEnv> {
  return new Hono<FunctionEnv>().get("/health", (c) => c.json({ status: "ok" }));
}

const publicDetail: Record<OpenRefusal["code"], string | undefined> = {
  // Two versions and nothing else.
  databaseVersion: undefined,
  sealed: "What the database holds does not open with the keys of this function.",
  unavailable: "The database does not answer.",
};

function refused({ code, detail }: OpenRefusal): Response {
  return problemResponse(
    { status: 503, code, title: unavailable, detail: publicDetail[code] ?? detail },
    { "retry-after": retryAfterSecs },
  );
}
