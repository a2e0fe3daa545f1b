/**
 * `/admin/queries/running` and cancel: queries of this process, and those that live workers reported
 * with their last heartbeat. One that began after its worker's last heartbeat is not known yet.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { liveQuerySchema } from "@gateway/contract/studioApi.ts";
import { z } from "zod";
import type { ControlDeps } from "../../deps.ts";
import type { StoreUnavailable, WorkerRow } from "../../store/store.ts";
import { statusOf } from "../../worker/status.ts";
import { noted } from "../audit.ts";
import { adminOf, allows } from "../auth/admin.ts";
import { pageOf } from "../paging.ts";
import { missing, unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { pageQuery, pageSchema, plainText } from "../shapes.ts";

/** Pages of workers that one answer looks through: a fleet of 10,000. */
const workerPagesMax = 10;
const workerPageSize = 1_000;

/** Lives (here or on a worker): `requested`. Has a record: its status. Neither: 404. */
const cancelStates = ["requested", "cancelled", "finished", "failed", "denied"] as const;

const runningSchema = liveQuerySchema.omit({ key: true });

type Running = z.output<typeof runningSchema>;

/** To be mounted before `/queries/:id`. */
export function runningQueryRoutes(api: AdminApi): void {
  listRoute(api);
  cancelRoute(api);
}

function listRoute(api: AdminApi): void {
  route(
    api,
    ["GET", "/queries/running"],
    {
      tag: "queries",
      summary: "Queries that run or wait, here and on workers",
      role: "viewer",
      query: pageQuery,
      responses: { 200: { description: "A page by id.", schema: pageSchema(runningSchema) } },
    },
    async ({ c, query }) => {
      const workers = await liveWorkers(api.deps);
      if (!workers.ok) return unavailable();
      const withSql = allows(adminOf(c).role, "operator");
      const all = [...localQueries(api.deps, withSql), ...workers.value.flatMap(reportedBy)];
      const page = pageOf(all, keyOf, query);
      return page.ok ? Response.json(page.value) : page.error;
    },
  );
}

function cancelRoute(api: AdminApi): void {
  const { deps } = api;
  const answer = z.strictObject({ id: z.string(), state: z.enum(cancelStates) });
  route(
    api,
    ["POST", "/queries/:id/cancel"],
    {
      tag: "queries",
      summary: "End a query",
      role: "operator",
      params: z.strictObject({ id: plainText.max(128) }),
      responses: {
        200: { description: "It has ended; the state says as what.", schema: answer },
        202: {
          description:
            "It is told to end: here at once, on a worker with its next heartbeat. Its slot is taken until the engine has ended it; asked again then, this says what it came to.",
          schema: answer,
        },
      },
      refusals: [404, 415],
    },
    async ({ c, params: { id } }) => {
      const { name: by, address } = adminOf(c);
      const deed = { by, address, action: "cancel", target: `query/${id}` };
      if (deps.queries?.cancel(id) === true) {
        return (await noted(deps, deed)) ?? requested(id);
      }
      const workers = await liveWorkers(deps);
      if (!workers.ok) return unavailable();
      const worker = workers.value.find(({ queries }) => queries.some((one) => one.id === id));
      if (worker === undefined) return await endedAs(deps, id);
      const wish = { queryId: id, requestedBy: by, requestedAt: deps.clock.unixMs() };
      const asked = await deps.store.workers.requestCancel(wish);
      if (!asked.ok) return unavailable();
      const lost = await noted(deps, { ...deed, detail: { worker: worker.name } });
      return lost ?? requested(id);
    },
  );
}

function requested(id: string): Response {
  return Response.json({ id, state: "requested" }, { status: 202 });
}

/** The outcome of the query, from its record; a query without a record was never here. */
async function endedAs({ store }: ControlDeps, id: string): Promise<Response> {
  const found = await store.records.get(id);
  if (!found.ok) return unavailable();
  if (found.value === undefined) return missing("running query");
  return Response.json({ id, state: found.value.status });
}

/** Two processes may claim one id; both are shown. */
function keyOf({ id, instanceId = "" }: Running): string {
  return JSON.stringify([id, instanceId]);
}

function localQueries({ queries }: ControlDeps, withSql: boolean): readonly Running[] {
  return (queries?.list() ?? []).map(({ sql, ...query }) => ({
    ...query,
    ...(withSql ? { sql } : {}),
  }));
}

function reportedBy({ name, instanceId, queries }: WorkerRow): readonly Running[] {
  return queries.map((query) => ({ ...query, worker: name, instanceId }));
}

/** What an offline worker said last is no sign that it still runs. */
async function liveWorkers({
  store,
  clock,
}: ControlDeps): Promise<Result<readonly WorkerRow[], StoreUnavailable>> {
  const workers: WorkerRow[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < workerPagesMax; pages += 1) {
    const page = await store.workers.list({ limit: workerPageSize, cursor });
    if (!page.ok) return err(page.error);
    workers.push(...page.value.items);
    cursor = page.value.nextCursor;
    if (cursor === undefined) break;
  }
  const nowUnixMs = clock.unixMs();
  return ok(workers.filter((worker) => statusOf(worker, nowUnixMs) !== "offline"));
}
