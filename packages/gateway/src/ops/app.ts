/** The operations listener's routes: liveness, readiness, metrics. They carry no secret and no user data. */
import { Hono } from "hono";

export interface OpsParts {
  /** Why the process is not ready to take queries; undefined when it is. */
  notReady(): string | undefined;
  /** Prometheus text. */
  metrics(): Promise<string>;
  readonly metricsType: string;
}

export function opsApp(parts: OpsParts): Hono {
  const app = new Hono();
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
  app.notFound((c) => problem(c.req.path));
  return app;
}

/** RFC 9457 problem details. */
function problem(path: string): Response {
  const body = {
    type: "about:blank",
    title: "Not Found",
    status: 404,
    detail: `no such path: ${path}`,
  };
  return Response.json(body, {
    status: 404,
    headers: { "content-type": "application/problem+json" },
  });
}
