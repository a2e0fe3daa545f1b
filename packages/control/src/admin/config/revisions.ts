/** `/admin/revisions`: the log of the configuration; a difference of two; an older content as a new revision. */
import { revisionText } from "@gateway/contract/revision.ts";
import { z } from "zod";
import type { StoredRevision } from "../../store/store.ts";
import { adminOf } from "../auth/admin.ts";
import {
  differenceSchema,
  pageQuery,
  pageSchema,
  positionOf,
  positionSchema,
  unixMs,
  writtenSchema,
} from "../shapes.ts";
import { authorOf, writtenView } from "./objects.ts";
import { configRefused, missing, unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";

const tag = "revisions";
const what = "revision";

const revisionSchema = z.strictObject({
  revision: z.string().meta({ description: "`epoch.sequence.hash`" }),
  epoch: z.int(),
  sequence: z.int(),
  hash: z.string(),
  schemaVersion: z.int(),
  createdAt: unixMs,
  createdBy: z.string(),
  summary: z.string(),
});

export function revisionRoutes(api: AdminApi): void {
  listRoute(api);
  diffRoute(api);
  getRoute(api);
  rollbackRoute(api);
}

function listRoute(api: AdminApi): void {
  const operation = {
    tag,
    summary: "List revisions, newest first",
    role: "viewer",
    query: pageQuery,
    responses: { 200: { description: "A page of revisions.", schema: pageSchema(revisionSchema) } },
    refusals: [404, 422],
  } as const;
  route(api, ["GET", "/revisions"], operation, async ({ query: { limit, cursor } }) => {
    const page = await api.deps.config.revisions({ limit, cursor });
    if (!page.ok) return configRefused(page.error, what);
    const { items, nextCursor } = page.value;
    return Response.json({ items: items.map(viewOf), nextCursor });
  });
}

function diffRoute(api: AdminApi): void {
  const operation = {
    tag,
    summary: "What differs from one revision to another",
    role: "viewer",
    query: z.strictObject({ from: positionSchema, to: positionSchema }),
    responses: {
      200: {
        description: "Object by object; a secret shows `{set: true}` on both sides.",
        schema: z.strictObject({ items: z.array(differenceSchema) }),
      },
    },
    refusals: [404, 422],
  } as const;
  route(api, ["GET", "/revisions/diff"], operation, async ({ query: { from, to } }) => {
    const found = await api.deps.config.diff(positionOf(from), positionOf(to));
    return found.ok ? Response.json({ items: found.value }) : configRefused(found.error, what);
  });
}

function getRoute(api: AdminApi): void {
  const operation = {
    tag,
    summary: "Read a revision's place in the log",
    role: "viewer",
    params: z.strictObject({ position: positionSchema }),
    responses: {
      200: { description: "The revision, without its content.", schema: revisionSchema },
    },
    refusals: [404],
  } as const;
  route(api, ["GET", "/revisions/:position"], operation, async ({ params: { position } }) => {
    const found = await api.deps.store.config.revision(positionOf(position));
    if (!found.ok) return unavailable();
    return found.value === undefined ? missing(what) : Response.json(viewOf(found.value));
  });
}

function rollbackRoute(api: AdminApi): void {
  const operation = {
    tag,
    summary: "Make the content of an older revision a new one",
    role: "admin",
    params: z.strictObject({ position: positionSchema }),
    responses: { 200: { description: "Rolled back.", schema: writtenSchema } },
    refusals: [404, 412, 415, 422],
  } as const;
  const path = "/revisions/:position/rollback";
  route(api, ["POST", path], operation, async ({ c, params: { position } }) => {
    const author = authorOf(adminOf(c));
    const written = await api.deps.config.rollback(positionOf(position), author);
    return written.ok
      ? Response.json(writtenView(written.value))
      : configRefused(written.error, what);
  });
}

function viewOf({
  revision,
  schemaVersion,
  createdAt,
  createdBy,
  summary,
}: Omit<StoredRevision, "sealed">) {
  const { epoch, sequence, hash } = revision;
  const text = revisionText(revision);
  return { revision: text, epoch, sequence, hash, schemaVersion, createdAt, createdBy, summary };
}
