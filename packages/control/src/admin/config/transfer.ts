/**
 * `/admin/config/…`: the whole configuration in and out, as JSON in the form of the file.
 *
 * Comparing needs the role admin although it writes nothing: whether a guessed secret equals the one
 * that is set is not for everybody to ask.
 */
import { z } from "zod";
import { adminOf } from "../auth/admin.ts";
import { differenceSchema, documentSchema, writtenSchema } from "../shapes.ts";
import { freshnessHeaders } from "../headers.ts";
import { authorOf, writtenView } from "./objects.ts";
import { configRefused } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";

const tag = "config";
const what = "configuration";
/** A whole configuration may be larger than an object. */
export const fileBytesMax = 4_194_304;

export function transferRoutes(api: AdminApi): void {
  exportRoute(api);
  importRoute(api);
  compareRoute(api);
  newEpochRoute(api);
}

function exportRoute(api: AdminApi): void {
  const { deps } = api;
  const operation = {
    tag,
    summary: "The configuration in the form of the file",
    description: "Every secret is `{set: true}`, which an import takes as: keep it.",
    role: "viewer",
    responses: { 200: { description: "The file, as JSON.", schema: documentSchema } },
  } as const;
  route(api, ["GET", "/config/export"], operation, () =>
    Response.json(deps.config.export(), { headers: freshnessHeaders(deps) }),
  );
}

function importRoute(api: AdminApi): void {
  const operation = {
    tag,
    summary: "Replace the whole configuration",
    role: "admin",
    body: z.unknown(),
    bodyDocument: documentSchema,
    bodyBytesMax: fileBytesMax,
    responses: { 200: { description: "Replaced.", schema: writtenSchema } },
    refusals: [404, 412],
  } as const;
  route(api, ["POST", "/config/import"], operation, async ({ c, body }) => {
    const written = await api.deps.config.import(body, authorOf(adminOf(c)));
    return written.ok
      ? Response.json(writtenView(written.value))
      : configRefused(written.error, what);
  });
}

function compareRoute(api: AdminApi): void {
  const operation = {
    tag,
    summary: "What an import of this file would change",
    role: "admin",
    body: z.unknown(),
    bodyDocument: documentSchema,
    bodyBytesMax: fileBytesMax,
    responses: {
      200: {
        description: "Object by object; nothing is written.",
        schema: z.strictObject({ items: z.array(differenceSchema) }),
      },
    },
    refusals: [404, 412],
  } as const;
  route(api, ["POST", "/config/compare"], operation, async ({ body }) => {
    const found = await api.deps.config.compare(body);
    return found.ok ? Response.json({ items: found.value }) : configRefused(found.error, what);
  });
}

function newEpochRoute(api: AdminApi): void {
  const operation = {
    tag,
    summary: "Begin a new log with the same content",
    description: "After an older backup was restored: workers that hold a later revision follow.",
    role: "admin",
    responses: { 200: { description: "Begun.", schema: writtenSchema } },
    refusals: [404, 412, 415, 422],
  } as const;
  route(api, ["POST", "/config/new-epoch"], operation, async ({ c }) => {
    const written = await api.deps.config.newEpoch(authorOf(adminOf(c)));
    return written.ok
      ? Response.json(writtenView(written.value))
      : configRefused(written.error, what);
  });
}
