/**
 * `/admin/queries` and `/admin/query-conflicts`: what ran. What runs is in runningQueries.ts.
 *
 * A viewer reads the history without texts: SQL holds personal data, and an engine's error quotes it.
 */
import { queryRecordSchema, queryStatuses, type QueryRecord } from "@gateway/contract/record.ts";
import { timelineStageSchema } from "@gateway/contract/studioApi.ts";
import { z } from "zod";
import { adminOf, allows, type Admin } from "../auth/admin.ts";
import { listed } from "../paging.ts";
import { missing, unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { timelineOf } from "./timeline.ts";
import { pageQuery, pageSchema, pageShape, plainText, unixMs, unixMsParameter } from "../shapes.ts";

/** Fields to equal, and the time of creation: from inclusive, to exclusive. */
export const historyFilterShape = {
  user: plainText.optional(),
  status: z.enum(queryStatuses).optional(),
  group: plainText.optional(),
  cluster: plainText.optional(),
  worker: plainText.optional(),
  frontend: plainText.optional(),
  errorCode: plainText.optional(),
  from: unixMsParameter.optional(),
  to: unixMsParameter.optional(),
};

const query = z.strictObject({ ...pageShape, ...historyFilterShape });

const conflictSchema = z.strictObject({
  proxyQueryId: z.string(),
  record: queryRecordSchema,
  worker: z.string().optional(),
  count: z.int(),
  firstAt: unixMs,
  lastAt: unixMs,
});

const detailSchema = queryRecordSchema.extend({ timeline: z.array(timelineStageSchema) });

const textNote = "Texts (SQL, error messages) are shown to operators and admins only.";

/** History and conflicts. To be mounted after the routes below `/queries/running`. */
export function queryRoutes(api: AdminApi): void {
  const { records } = api.deps.store;
  route(
    api,
    ["GET", "/queries"],
    {
      tag: "queries",
      summary: "The history, newest first",
      description: `Times are Unix milliseconds on createdAt, from inclusive, to exclusive. ${textNote}`,
      role: "viewer",
      query,
      responses: {
        200: { description: "A page of records.", schema: pageSchema(queryRecordSchema) },
      },
    },
    async ({ c, query: { limit, cursor, group: clusterGroup, ...equal } }) =>
      listed(await records.list({ ...equal, clusterGroup }, { limit, cursor }), (record) =>
        shownTo(adminOf(c), record),
      ),
  );
  route(
    api,
    ["GET", "/queries/:id"],
    {
      tag: "queries",
      summary: "One record with its routing trace",
      description: textNote,
      role: "viewer",
      params: z.strictObject({ id: plainText.max(128) }),
      responses: { 200: { description: "The record.", schema: detailSchema } },
      refusals: [404],
    },
    async ({ c, params: { id } }) => {
      const found = await records.get(id);
      if (!found.ok) return unavailable();
      if (found.value === undefined) return missing("record");
      const record = shownTo(adminOf(c), found.value);
      return Response.json({ ...record, timeline: timelineOf(found.value) });
    },
  );
  route(
    api,
    ["GET", "/query-conflicts"],
    {
      tag: "queries",
      summary: "Second, different records for an id that has one",
      description: textNote,
      role: "viewer",
      query: pageQuery,
      responses: {
        200: { description: "A page of conflicts.", schema: pageSchema(conflictSchema) },
      },
    },
    async ({ c, query: { limit, cursor } }) =>
      listed(await records.conflicts({ limit, cursor }), (conflict) => ({
        ...conflict,
        record: shownTo(adminOf(c), conflict.record),
      })),
  );
}

function shownTo(admin: Admin, record: QueryRecord): Partial<QueryRecord> {
  if (allows(admin.role, "operator")) return record;
  const {
    sql: _sql,
    translatedSql: _translatedSql,
    errorMessage: _errorMessage,
    ...shown
  } = record;
  return shown;
}
