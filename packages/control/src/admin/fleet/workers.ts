/** `/admin/workers`: the registry, with the queries that each worker reported last. */
import { workerStatuses } from "@gateway/contract/workerApi.ts";
import { z } from "zod";
import type { WorkerRow } from "../../store/store.ts";
import { statusOf } from "../../worker/status.ts";
import { noted } from "../audit.ts";
import { adminOf } from "../auth/admin.ts";
import { listed } from "../paging.ts";
import { missing, refuse, unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { pageQuery, pageSchema, plainText, unixMs } from "../shapes.ts";

const reportedSchema = z.strictObject({
  id: z.string(),
  group: z.string().optional(),
  cluster: z.string().optional(),
  state: z.enum(["queued", "running"]),
  since: unixMs,
});

const workerShape = {
  instanceId: z.string(),
  name: z.string(),
  status: z.enum(workerStatuses).meta({
    description: "As reported; offline after three missed heartbeats.",
  }),
  labels: z.record(z.string(), z.string()),
  version: z.string(),
  schemaVersions: z.array(z.int()),
  heartbeatIntervalSecs: z.int(),
  activeRevision: z.string().optional(),
  downloadedRevision: z.string().optional(),
  configSource: z.enum(["controlPlane", "disk", "peer"]).optional(),
  stale: z.boolean(),
  lastError: z.string().optional(),
  coordination: z.enum(["controlPlane", "local"]).optional().meta({
    description: "local: it applies the caps to itself alone.",
  }),
  queryCount: z.int(),
  registeredAt: unixMs,
  lastSeenAt: unixMs,
} as const;

const workerSchema = z.strictObject(workerShape);
const workerDetailSchema = z.strictObject({ ...workerShape, queries: z.array(reportedSchema) });
const params = z.strictObject({ instanceId: plainText.max(64) });

/** List, detail, removal. */
export function workerRoutes(api: AdminApi): void {
  readRoutes(api);
  removeRoute(api);
}

function readRoutes(api: AdminApi): void {
  const { store, clock } = api.deps;
  route(
    api,
    ["GET", "/workers"],
    {
      tag: "workers",
      summary: "List workers",
      role: "viewer",
      query: pageQuery,
      responses: { 200: { description: "A page by name.", schema: pageSchema(workerSchema) } },
    },
    async ({ query: { limit, cursor } }) =>
      listed(await store.workers.list({ limit, cursor }), (row) => viewOf(row, clock.unixMs())),
  );
  route(
    api,
    ["GET", "/workers/:instanceId"],
    {
      tag: "workers",
      summary: "Read a worker and the queries it runs",
      role: "viewer",
      params,
      responses: { 200: { description: "The instance.", schema: workerDetailSchema } },
      refusals: [404],
    },
    async ({ params: { instanceId } }) => {
      const found = await store.workers.get(instanceId);
      if (!found.ok) return unavailable();
      if (found.value === undefined) return missing("worker");
      const { queries } = found.value;
      return Response.json({ ...viewOf(found.value, clock.unixMs()), queries });
    },
  );
}

function removeRoute(api: AdminApi): void {
  const { store, clock } = api.deps;
  route(
    api,
    ["DELETE", "/workers/:instanceId"],
    {
      tag: "workers",
      summary: "Forget a worker that is offline",
      role: "operator",
      params,
      responses: { 204: { description: "Forgotten." } },
      refusals: [404, 409],
    },
    async ({ c, params: { instanceId } }) => {
      const found = await store.workers.get(instanceId);
      if (!found.ok) return unavailable();
      if (found.value === undefined) return missing("worker");
      // Its token would be gone, and a worker that lives could not report any more.
      if (statusOf(found.value, clock.unixMs()) !== "offline") {
        return refuse(409, { code: "workerAlive", detail: "The worker still reports." });
      }
      const removed = await store.workers.remove(instanceId);
      if (!removed.ok) return unavailable();
      if (!removed.value) return missing("worker");
      const { name: by, address } = adminOf(c);
      const detail = { name: found.value.name };
      const target = `worker/${instanceId}`;
      const lost = await noted(api.deps, { by, address, action: "delete", target, detail });
      return lost ?? c.body(null, 204);
    },
  );
}

/** Without the hash of the token. */
function viewOf(row: WorkerRow, nowUnixMs: number) {
  const { tokenHash: _tokenHash, queries, ...shown } = row;
  return { ...shown, status: statusOf(row, nowUnixMs), queryCount: queries.length };
}
