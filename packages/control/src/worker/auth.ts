/**
 * The fleet secret: the only thing the worker API is opened by. Cookies and Basic credentials of the
 * admin API are never looked at.
 */
import type { MiddlewareHandler } from "hono";
import { bearerOf, secretFinder } from "../http/secretCompare.ts";
import { retryAfterOf, throttleOf } from "../http/throttle.ts";
import { problemResponse } from "../problem.ts";
import type { ControlDeps } from "../deps.ts";
import { workerApiFamilies } from "./metrics.ts";

export interface WorkerEnv {
  readonly Variables: {
    /** Place in the list of the secret that the caller presented: answers are authenticated under the same. */
    readonly secretIndex: number;
  };
}

/**
 * Lets callers with a current or previous secret pass. Others get 401, and 429 with `Retry-After`
 * when their address failed too often. Who has the secret is never slowed down by a neighbour.
 */
export function fleetAuth(deps: ControlDeps): MiddlewareHandler<WorkerEnv> {
  const find = secretFinder(deps.workerApi?.secrets ?? []);
  const throttle = throttleOf(deps.clock);
  const failures = deps.metrics.counter(workerApiFamilies.authFailures, {});

  return async (ctx, next) => {
    const presented = bearerOf(ctx.req.raw);
    const secretIndex = presented === undefined ? undefined : find(presented);
    if (secretIndex !== undefined) {
      ctx.set("secretIndex", secretIndex);
      return next();
    }
    failures.add(1);
    const { address } = deps.caller(ctx.req.raw);
    const waitMs = throttle.failed(address);
    if (waitMs > 0) return tooOften(waitMs);
    deps.log.write("warn", "workerApi.authFailed", { address });
    return unauthorized();
  };
}

function unauthorized(): Response {
  return problemResponse(
    { status: 401, code: "unauthorized", title: "Unauthorized" },
    { "www-authenticate": "Bearer" },
  );
}

function tooOften(waitMs: number): Response {
  return problemResponse(
    { status: 429, code: "tooManyFailures", title: "Too Many Requests" },
    { "retry-after": retryAfterOf(waitMs) },
  );
}
