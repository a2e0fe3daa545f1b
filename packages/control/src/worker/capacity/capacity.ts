/**
 * `/worker/capacity/*` and `/worker/sweep-lock/*`: how a worker asks for slots, and how the one that is
 * the reaper tells what the engines say.
 *
 * Whoever asks is known by the instance token and the `instanceId` of the body together; steps check
 * both in the statement that acts, so that no call is acted on after its instance is gone.
 */
import {
  acquireSchema,
  heldSweepLockSchema,
  leasesSchema,
  leaveSchema,
  observedSchema,
  publishRunningSchema,
  sweepLockSchema,
} from "@gateway/contract/capacityApi.ts";
import { instanceIdHeader, instanceTokenHeader } from "@gateway/contract/workerApi.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Hono, type Context } from "hono";
import type { z } from "zod";
import type { ControlDeps } from "../../deps.ts";
import { tokenHashOf } from "../../http/secretCompare.ts";
import { problemResponse } from "../../problem.ts";
import type { Caller } from "../../store/capacity.ts";
import type { WorkerEnv } from "../auth.ts";
import type { SharedCapacity, CapacityRefusal } from "./capacityPort.ts";
import { acquireBytesMax, leasesBytesMax, pollMs } from "../limits.ts";
import { invalidBody, notRegistered, storeGone, tooBusy } from "../refuse.ts";
import { readSmallJson } from "../smallBody.ts";

type WorkerContext = Context<WorkerEnv>;
type RouteDeps = Pick<ControlDeps, "store" | "log" | "host">;

/** With a text the server writes the answer at once; of `Response.json` it reads a stream first. */
function answerOf(value: unknown): Response {
  return new Response(JSON.stringify(value), {
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}

/** The routes below `/worker`. */
export function capacityRoutes(deps: RouteDeps, shared: SharedCapacity): Hono<WorkerEnv> {
  const { log } = deps;
  const respond = responder(log);
  return new Hono<WorkerEnv>()
    .post("/capacity/acquire", async (ctx) => {
      const call = await callOf(ctx, acquireSchema, acquireBytesMax);
      if (!call.ok) return call.error;
      const { instanceId: _own, ...request } = call.value.body;
      const acquired = await shared.acquire(call.value.caller, request, ctx.req.raw.signal);
      if (!acquired.ok) return respond(acquired);
      const waits = request.queryId !== undefined && acquired.value.granted.length === 0;
      // A function may be frozen with a held call; its caller asks again instead.
      const soon = waits && deps.host === "function" ? { retryAfterMs: pollMs } : {};
      return answerOf({ ...acquired.value, ...soon });
    })
    .post("/capacity/renew", async (ctx) => {
      const call = await callOf(ctx, leasesSchema, leasesBytesMax);
      return call.ok
        ? respond(await shared.renew(call.value.caller, call.value.body.leases))
        : call.error;
    })
    .post("/capacity/release", async (ctx) => {
      const call = await callOf(ctx, leasesSchema, leasesBytesMax);
      return call.ok
        ? respond(await shared.release(call.value.caller, call.value.body.leases))
        : call.error;
    })
    .post("/capacity/leave", async (ctx) => {
      const call = await callOf(ctx, leaveSchema, acquireBytesMax);
      if (!call.ok) return call.error;
      return done(respond, await shared.leave(call.value.caller, call.value.body.queryId));
    })
    .route("/", reaperRoutes(deps, shared));
}

/** What the reaper asks and says. These calls are few: the registration is looked up before each. */
function reaperRoutes(deps: RouteDeps, shared: SharedCapacity): Hono<WorkerEnv> {
  const respond = responder(deps.log);

  /** The body of a registered caller. */
  const known = async <Schema extends InstanceSchema>(
    ctx: WorkerContext,
    schema: Schema,
  ): Promise<Result<z.output<Schema>, Response>> => {
    const call = await callOf(ctx, schema, acquireBytesMax);
    if (!call.ok) return call;
    const refusal = await unregistered(deps, call.value.caller);
    return refusal === undefined ? ok(call.value.body) : err(refusal);
  };

  return new Hono<WorkerEnv>()
    .get("/capacity/suspects", async (ctx) => {
      return (await headersRefused(deps, ctx)) ?? respond(await shared.suspects());
    })
    .get("/capacity/running", async (ctx) => {
      return (await headersRefused(deps, ctx)) ?? respond(await shared.running());
    })
    .post("/capacity/observed", async (ctx) => {
      const body = await known(ctx, observedSchema);
      return body.ok ? respond(await shared.observed(body.value)) : body.error;
    })
    .put("/capacity/running/:cluster", async (ctx) => {
      const body = await known(ctx, publishRunningSchema);
      if (!body.ok) return body.error;
      const published = await shared.publish(ctx.req.param("cluster"), body.value);
      if (published.ok && !published.value) return fencedOff();
      return done(respond, published);
    })
    .post("/sweep-lock/acquire", async (ctx) => {
      const body = await known(ctx, sweepLockSchema);
      if (!body.ok) return body.error;
      return respond(await shared.lock(body.value.instanceId, body.value.ttlSecs));
    })
    .post("/sweep-lock/renew", async (ctx) => {
      const body = await known(ctx, heldSweepLockSchema);
      if (!body.ok) return body.error;
      return respond(await shared.keepLock(body.value.instanceId, body.value.token));
    })
    .post("/sweep-lock/release", async (ctx) => {
      const body = await known(ctx, heldSweepLockSchema);
      if (!body.ok) return body.error;
      return done(respond, await shared.unlock(body.value.instanceId, body.value.token));
    });
}

type InstanceSchema = z.ZodType<{ readonly instanceId: string }>;

interface Call<Body> {
  readonly body: Body;
  readonly caller: Caller;
}

async function callOf<Schema extends InstanceSchema>(
  ctx: WorkerContext,
  schema: Schema,
  bytesMax: number,
): Promise<Result<Call<z.output<Schema>>, Response>> {
  const token = ctx.req.header(instanceTokenHeader);
  if (token === undefined) return err(notRegistered());
  const body = await readSmallJson(ctx.req.raw, bytesMax);
  if (!body.ok) return err(problemResponse(body.error));
  const parsed = schema.safeParse(body.value);
  if (!parsed.success) return err(invalidBody(parsed.error));
  const caller = { instance: parsed.data.instanceId, tokenHash: tokenHashOf(token) };
  return ok({ body: parsed.data, caller });
}

/** The refusal for a call without a body, whose caller stands in the headers. */
async function headersRefused(deps: RouteDeps, ctx: WorkerContext): Promise<Response | undefined> {
  const instance = ctx.req.header(instanceIdHeader);
  const token = ctx.req.header(instanceTokenHeader);
  if (instance === undefined || token === undefined) return notRegistered();
  return unregistered(deps, { instance, tokenHash: tokenHashOf(token) });
}

async function unregistered(
  { store, log }: RouteDeps,
  { instance, tokenHash = "" }: Caller,
): Promise<Response | undefined> {
  const name = await store.workers.nameOf(instance, tokenHash);
  if (!name.ok) return storeGone(log, name.error);
  return name.value === undefined ? notRegistered() : undefined;
}

type Respond = (outcome: Result<unknown, CapacityRefusal>) => Response;

function responder(log: ControlDeps["log"]): Respond {
  return (outcome) => {
    if (outcome.ok) return answerOf(outcome.value);
    switch (outcome.error.code) {
      case "refused":
        return notRegistered();
      case "busy":
        return tooBusy();
      case "unavailable":
        return storeGone(log, outcome.error);
    }
  };
}

/** 204 for what has no answer. */
function done(respond: Respond, outcome: Result<unknown, CapacityRefusal>): Response {
  return outcome.ok ? new Response(null, { status: 204 }) : respond(outcome);
}

/** 409: somebody else has the lock by now. */
function fencedOff(): Response {
  return problemResponse({
    status: 409,
    code: "fenced",
    title: "Conflict",
    detail: "The token is not that of the sweep lock's present holder.",
  });
}
