/** Objects of the configuration that have a name: clusters, groups, scripts, settings. One set of handlers; the configuration judges the content. */
import { z } from "zod";
import type { Expected, ObjectView, Written } from "../../config/configuration.ts";
import type { ControlDeps } from "../../deps.ts";
import type { DocumentKind, DocumentName } from "../../store/store.ts";
import { adminOf, type Admin, type AdminEnv } from "../auth/admin.ts";
import { freshnessHeaders, expectedOf, versionTag } from "../headers.ts";
import { pageOf } from "../paging.ts";
import { configRefused, missing } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import {
  documentSchema,
  pageQuery,
  pageSchema,
  unixMs,
  writtenSchema,
  writtenShape,
} from "../shapes.ts";
import { revisionText } from "@gateway/contract/revision.ts";
import type { Context } from "hono";

/** One kind of object as a resource. */
export interface Resource {
  /** Below `/admin`. */
  readonly path: string;
  readonly tag: string;
  readonly kind: DocumentKind;
  /** For sentences: `cluster`. */
  readonly what: string;
  readonly name: z.ZodType<string>;
  /** For the document; the configuration judges. */
  readonly body: z.ZodType;
}

const viewShape = {
  name: z.string(),
  version: z.int().meta({ description: "The ETag, without its quotes." }),
  updatedAt: unixMs,
  updatedBy: z.string(),
  body: documentSchema.meta({
    description: "As written; every secret is `{set: true}`, a reference stays a reference.",
  }),
} as const;

export const objectSchema = z.strictObject(viewShape);
const writtenObjectSchema = z.strictObject({ ...viewShape, ...writtenShape });

/** GET, PUT and DELETE of each object, and the list. */
export function objectRoutes(api: AdminApi, resource: Resource): void {
  listRoute(api, resource);
  getRoute(api, resource);
  putRoute(api, resource);
  deleteRoute(api, resource);
}

function listRoute(api: AdminApi, { path, tag, kind }: Resource): void {
  const { deps } = api;
  const responses = { 200: { description: "A page by name.", schema: pageSchema(objectSchema) } };
  const summary = `List ${tag}`;
  const operation = { tag, summary, role: "viewer", query: pageQuery, responses } as const;
  route(api, ["GET", path], operation, ({ query }) => {
    const page = pageOf(deps.config.list(kind), ({ name }) => name, query);
    if (!page.ok) return page.error;
    const { items, nextCursor } = page.value;
    const headers = freshnessHeaders(deps);
    return Response.json({ items: items.map(viewOf), nextCursor }, { headers });
  });
}

function getRoute(api: AdminApi, { path, tag, kind, what, name: nameSchema }: Resource): void {
  const operation = {
    tag,
    summary: `Read a ${what}`,
    role: "viewer",
    params: z.strictObject({ name: nameSchema }),
    responses: {
      200: { description: "The object; its ETag is the version.", schema: objectSchema },
    },
    refusals: [404],
  } as const;
  route(api, ["GET", `${path}/:name`], operation, ({ params: { name } }) =>
    readObject(api.deps, { kind, name }, what),
  );
}

function putRoute(api: AdminApi, resource: Resource): void {
  const { path, tag, kind, what, name: nameSchema } = resource;
  const operation = {
    tag,
    summary: `Create or replace a ${what}`,
    description: "A secret that is sent as `{set: true}` stays what it is.",
    role: "admin",
    params: z.strictObject({ name: nameSchema }),
    body: z.unknown(),
    bodyDocument: resource.body,
    precondition: "create",
    responses: {
      200: { description: "Replaced.", schema: writtenObjectSchema },
      201: { description: "Created; `Location` names it.", schema: writtenObjectSchema },
    },
    refusals: [404],
  } as const;
  route(api, ["PUT", `${path}/:name`], operation, ({ c, params: { name }, body }) => {
    const location = `/admin${path}/${name}`;
    return writeObject({ c, deps: api.deps, object: { kind, name }, what, location }, body);
  });
}

function deleteRoute(api: AdminApi, { path, tag, kind, what, name: nameSchema }: Resource): void {
  const operation = {
    tag,
    summary: `Delete a ${what}`,
    role: "admin",
    params: z.strictObject({ name: nameSchema }),
    precondition: "change",
    responses: { 200: { description: "Deleted.", schema: writtenSchema } },
    refusals: [404, 422],
  } as const;
  route(api, ["DELETE", `${path}/:name`], operation, ({ c, params: { name } }) =>
    deleteObject({ c, deps: api.deps, object: { kind, name }, what }),
  );
}

/** 200 with the ETag, or 404. */
export function readObject(deps: ControlDeps, object: DocumentName, what: string): Response {
  const view = deps.config.get(object);
  if (view === undefined) return missing(what);
  const headers = { ...freshnessHeaders(deps), etag: versionTag(view.version) };
  return Response.json(viewOf(view), { headers });
}

export interface ObjectWrite {
  readonly c: Context<AdminEnv>;
  readonly deps: ControlDeps;
  readonly object: DocumentName;
  readonly what: string;
}

/** 201 or 200 with `Location`, ETag and the revision. */
export async function writeObject(
  { c, deps, object, what, location }: ObjectWrite & { readonly location: string },
  body: unknown,
): Promise<Response> {
  const expected = expectedOf(c, "create");
  if (!expected.ok) return expected.error;
  const author = authorOf(adminOf(c));
  const written = await deps.config.put(object, body, expected.value, author);
  if (!written.ok) return configRefused(written.error, what);
  const { view } = written.value;
  const headers = { location, etag: versionTag(view.version) };
  const status = created(expected.value) ? 201 : 200;
  return Response.json({ ...viewOf(view), ...writtenView(written.value) }, { status, headers });
}

/** 200 with the revision. */
export async function deleteObject({ c, deps, object, what }: ObjectWrite): Promise<Response> {
  const expected = expectedOf(c, "change");
  if (!expected.ok) return expected.error;
  const removed = await deps.config.remove(object, expected.value, authorOf(adminOf(c)));
  return removed.ok
    ? Response.json(writtenView(removed.value))
    : configRefused(removed.error, what);
}

/** For the revision and the audit row of a configuration write. */
export function authorOf({ name, address }: Admin): { by: string; address: string } {
  return { by: name, address };
}

export function writtenView({ revision, changed }: Written) {
  return { revision: revisionText(revision), changed };
}

function viewOf({ name, version, updatedAt, updatedBy, body }: ObjectView) {
  return { name, version, updatedAt, updatedBy, body };
}

function created(expected: Expected): boolean {
  return expected === "absent";
}
