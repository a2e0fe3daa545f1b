/** The operations listener's routes: liveness, readiness, metrics. They carry no secret and no user data. */
import { hostAllowed, originAllowed } from "@gateway/frontends/listener/httpHost.ts";
import { Hono } from "hono";

export interface OpsParts {
  /** Why the process is not ready to take queries; undefined when it is. */
  notReady(): string | undefined;
  /** Prometheus text. */
  metrics(): Promise<string>;
  readonly metricsType: string;
  /** Config: `gateway.adminApi.allowedHosts`. */
  readonly allowedHosts: readonly string[];
}

export function opsApp(parts: OpsParts): Hono {
  const app = new Hono();
  const names = { allowedHosts: [...parts.allowedHosts] };
  app.use(async (c, next) => {
    const host = c.req.header("host");
    const allowed = hostAllowed(host, names) && originAllowed(c.req.header("origin"), host, names);
    // A page of another site that points its name at this machine reads nothing here.
    if (!allowed) return problem(403, "Forbidden", "the Host or Origin header names another host");
    return next();
  });
  app.get("/health", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => {
    const reason = parts.notReady();
    return reason === undefined
      ? c.json({ status: "ready" })
      : c.json({ status: "notReady", reason }, 503);
  });
  app.get("/metrics", async (c) =>
    c.body(await parts.metrics(), 200, { "content-type": parts.metricsType }),
  );
  app.notFound((c) => problem(404, "Not Found", `no such path: ${c.req.path}`));
  return app;
}

/** RFC 9457 problem details. */
function problem(status: number, title: string, detail: string): Response {
  return Response.json(
    { type: "about:blank", title, status, detail },
    { status, headers: { "content-type": "application/problem+json" } },
  );
}
