/**
 * `/admin/run` and `/admin/run-tables`: a query of the signed-in user, under that user's own name, and what an
 * editor completes from. Off unless the configuration allows it.
 */
import {
  capabilitiesSchema,
  runEventSchema,
  runRequestSchema,
  runTablesRequestSchema,
  runTablesSchema,
} from "@gateway/contract/studioApi.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { noted } from "../audit.ts";
import { adminOf, allows, type Admin } from "../auth/admin.ts";
import { refuse } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import type { ControlDeps } from "../../deps.ts";
import { runStream } from "./stream.ts";

const tag = "run";
/** A viewer never runs anything. */
const role = "operator";
/** At once, of one user and of all. */
const runsPerUserMax = 4;
const runsMax = 32;
/** Time for a listing of tables. */
const tablesMsMax = 20_000;

export function runRoutes(api: AdminApi): void {
  capabilitiesRoute(api);
  const running = new Map<string, number>();
  runRoute(api, running);
  tablesRoute(api, running);
}

function capabilitiesRoute(api: AdminApi): void {
  const { deps } = api;
  route(
    api,
    ["GET", "/capabilities"],
    {
      tag: "status",
      summary: "What this control plane can do for a console",
      role: "viewer",
      responses: { 200: { description: "The list.", schema: capabilitiesSchema } },
    },
    ({ c }) => {
      const reason = whyNot(deps, adminOf(c));
      const { writes = false, maxRows = 0, maxBytes = 0, maxSecs = 0 } = deps.console ?? {};
      const run = { available: reason === undefined, reason, writes, maxRows, maxBytes };
      return Response.json({
        live: deps.host === "function" ? "poll" : "events",
        run: { ...run, timeoutSecs: maxSecs },
        testCluster: deps.testCluster !== undefined && allows(adminOf(c).role, role),
      });
    },
  );
}

function whyNot(
  { console: queries, queries: live }: ControlDeps,
  admin: Admin,
): string | undefined {
  if (live === undefined) return "This control plane runs no queries.";
  if (queries === undefined) return "gateway.adminApi.queryConsole is not enabled.";
  return allows(admin.role, role) ? undefined : `This needs the role ${role}.`;
}

function runRoute(api: AdminApi, running: Map<string, number>): void {
  const { deps } = api;
  const operation = {
    tag,
    summary: "Run a query under one's own name",
    description:
      "Routed, guarded, queued and recorded like a query of any client. `group` chooses the cluster group, if the user may use it. The user has no groups, roles and credential there, so a cluster that wants a client's credential refuses. Ends with the request.",
    role,
    body: runRequestSchema,
    responses: {
      200: {
        description: "A JSON object a line; `done` or `failed` is the last.",
        contentType: "application/x-ndjson",
        schema: runEventSchema,
      },
    },
    refusals: [429, 501],
  } as const;
  route(api, ["POST", "/run"], operation, async ({ c, body }) => {
    const admin = adminOf(c);
    const place = placeOf(deps, admin, running);
    if (place instanceof Response) return place;
    const { name: by, address } = admin;
    const target = `group/${body.group ?? "routed"}`;
    const detail = { explain: body.explain };
    const lost = await noted(deps, { by, address, action: "run", target, detail });
    if (lost !== undefined) {
      place.free();
      return lost;
    }
    const question = { ...body, user: by, address };
    const timeoutMs = Math.min(body.timeoutSecs, place.queries.maxSecs) * 1_000;
    const stream = runStream({
      clock: deps.clock,
      log: deps.log,
      timeoutMs,
      events: (signal) => place.queries.run(question, signal),
      closed: place.free,
    });
    return new Response(stream, {
      headers: { "content-type": "application/x-ndjson", "x-accel-buffering": "no" },
    });
  });
}

function tablesRoute(api: AdminApi, running: Map<string, number>): void {
  const { deps } = api;
  const operation = {
    tag,
    summary: "Tables of the place where one's queries go",
    description: "For completion. Takes a slot like a query.",
    role,
    body: runTablesRequestSchema,
    responses: { 200: { description: "The tables.", schema: runTablesSchema } },
    refusals: [409, 429, 501],
  } as const;
  route(api, ["POST", "/run-tables"], operation, async ({ c, body }) => {
    const admin = adminOf(c);
    const place = placeOf(deps, admin, running);
    if (place instanceof Response) return place;
    const limit = new AbortController();
    using _limit = deps.clock.timer(tablesMsMax, () => limit.abort(gatewayError("query.timeout")));
    try {
      const { name: user, address } = admin;
      const listed = await place.queries.tables({ ...body, user, address }, limit.signal);
      if (listed.ok) return Response.json(listed.value);
      const { code, message } = listed.error;
      return refuse(409, { code: "notListed", detail: `${code}: ${message}` });
    } finally {
      place.free();
    }
  });
}

/** A place among those that run, or why there is none. */
function placeOf(deps: ControlDeps, admin: Admin, running: Map<string, number>) {
  const { console: queries } = deps;
  if (queries === undefined) {
    const detail = whyNot(deps, admin) ?? "This control plane runs no queries of its users.";
    return refuse(501, { code: "notHere", detail });
  }
  const { name } = admin;
  const own = running.get(name) ?? 0;
  const all = [...running.values()].reduce((sum, count) => sum + count, 0);
  if (own >= runsPerUserMax || all >= runsMax) {
    const detail = `At most ${runsPerUserMax} queries of one user at once, ${runsMax} of all.`;
    return refuse(429, { code: "tooManyRuns", detail }, { "retry-after": "5" });
  }
  running.set(name, own + 1);
  let isFree = false;
  const free = (): void => {
    if (isFree) return;
    isFree = true;
    const left = (running.get(name) ?? 1) - 1;
    if (left > 0) running.set(name, left);
    else running.delete(name);
  };
  return { queries, free };
}
