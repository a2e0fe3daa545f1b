/**
 * The control plane as one Hono app: admin API, worker API, OpenAPI document. It knows no host: the
 * same handlers run in a container and in a function.
 */
import { Hono, type Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { missing, refuse } from "./admin/refuse.ts";
import type { ControlDeps } from "./deps.ts";
import { workerApi } from "./worker/app.ts";
import { sharedCapacity } from "./worker/capacity/sharedCapacity.ts";

/** `/admin`, `/openapi.json`, and `/worker` where `deps.workerApi` is set. Every error body is a problem. */
export function controlApp(options: ControlDeps): Hono {
  const deps = withCapacity(options);
  const app = answering(new Hono(), deps);
  let admin: Promise<Hono> | undefined;
  const asAdmin = async (c: Context): Promise<Response> => {
    admin ??= adminPart(deps);
    return (await admin).fetch(c.req.raw, c.env);
  };
  app.all("/admin/*", asAdmin).all("/openapi.json", asAdmin);
  if (deps.workerApi !== undefined) app.route("/worker", workerApi(deps));
  return app;
}

/** Loaded for the first administrator: workers, who are many, do not wait for the half of the program that they never ask. */
async function adminPart(deps: ControlDeps): Promise<Hono> {
  const [{ adminApi, securityHeaders }, { openApiText }] = await Promise.all([
    import("./admin/api.ts"),
    import("./admin/openapi.ts"),
  ]);
  const documented = new Hono().route("/admin", adminApi(deps));
  const openApi = openApiText(documented);
  const app = answering(new Hono(), deps).route("/", documented);
  return app.get("/openapi.json", async (c) =>
    c.body(await openApi(), 200, { ...securityHeaders, "content-type": "application/json" }),
  );
}

/** What is answered where nothing else answers. */
function answering(app: Hono, deps: ControlDeps): Hono {
  app.notFound(() => missing("path"));
  app.onError((error, c) => {
    // Hono's own word for a request that it could not read; its text names the part and no value.
    if (error instanceof HTTPException && error.status < 500) {
      return refuse(400, { code: "badRequest", detail: "The request could not be read." });
    }
    deps.log.bug(error, { method: c.req.method });
    const detail = "The gateway failed internally. Its log says more.";
    return refuse(500, { code: "internal", detail });
  });
  return app;
}

/** Admins and workers ask the same one about slots. */
function withCapacity(deps: ControlDeps): ControlDeps {
  const { workerApi: workers } = deps;
  if (workers === undefined || workers.capacity !== undefined) return deps;
  return { ...deps, workerApi: { ...workers, capacity: sharedCapacity(deps) } };
}
