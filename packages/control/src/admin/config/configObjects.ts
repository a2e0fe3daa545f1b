/** `/admin/clusters`, `/admin/groups`, `/admin/scripts`, `/admin/settings`, `/admin/routing`: the configuration, object by object. */
import { groupSchema } from "@gateway/contract/config/group.ts";
import { routersSchema } from "@gateway/contract/config/router.ts";
import { scriptSchema } from "@gateway/contract/config/script.ts";
import { z } from "zod";
import { settingNames } from "../../config/file.ts";
import { clusterSchema, fallbackSchema, objectName } from "../../config/objects.ts";
import { deleteObject, objectRoutes, objectSchema, readObject, writeObject } from "./objects.ts";
import { route, type AdminApi } from "../route.ts";
import { documentSchema, writtenSchema, writtenShape } from "../shapes.ts";

const routingSchema = z
  .strictObject({ routers: routersSchema, routingFallback: fallbackSchema.optional() })
  .meta({ title: "Routing", description: "The routers in their order, and the fallback group." });

/** Every object of the configuration as a resource. */
export function configObjectRoutes(api: AdminApi): void {
  objectRoutes(api, {
    path: "/clusters",
    tag: "clusters",
    kind: "cluster",
    what: "cluster",
    name: objectName,
    body: clusterSchema,
  });
  objectRoutes(api, {
    path: "/groups",
    tag: "groups",
    kind: "clusterGroup",
    what: "cluster group",
    name: objectName,
    body: groupSchema,
  });
  objectRoutes(api, {
    path: "/scripts",
    tag: "scripts",
    kind: "script",
    what: "script",
    name: objectName,
    body: scriptSchema,
  });
  objectRoutes(api, {
    path: "/settings",
    tag: "settings",
    kind: "setting",
    what: "setting",
    name: z.enum(settingNames),
    body: documentSchema,
  });
  routingRoutes(api);
}

/** Routers are tried in order, so they and the fallback are one document with one version. */
function routingRoutes(api: AdminApi): void {
  const { deps } = api;
  const object = { kind: "routing", name: "routing" } as const;
  const what = "routing document";
  const location = "/admin/routing";
  const written = objectSchema.extend(writtenShape);
  route(
    api,
    ["GET", "/routing"],
    {
      tag: "routing",
      summary: "Read the routers and the fallback",
      role: "viewer",
      responses: { 200: { description: "The document.", schema: objectSchema } },
      refusals: [404],
    },
    () => readObject(deps, object, what),
  );
  route(
    api,
    ["PUT", "/routing"],
    {
      tag: "routing",
      summary: "Replace the routers and the fallback",
      role: "admin",
      body: z.unknown(),
      bodyDocument: routingSchema,
      precondition: "create",
      responses: {
        200: { description: "Replaced.", schema: written },
        201: { description: "Created.", schema: written },
      },
      refusals: [404],
    },
    ({ c, body }) => writeObject({ c, deps, object, what, location }, body),
  );
  route(
    api,
    ["DELETE", "/routing"],
    {
      tag: "routing",
      summary: "Delete all routers and the fallback",
      role: "admin",
      precondition: "change",
      responses: { 200: { description: "Deleted.", schema: writtenSchema } },
      refusals: [404, 422],
    },
    ({ c }) => deleteObject({ c, deps, object, what }),
  );
}
