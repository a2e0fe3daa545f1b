/**
 * `/admin/capacity/suspects`: slots whose lease ran out while the engine has not yet said that it runs nothing
 * under it. Where the engine can not say, an admin looks and frees the slot by hand.
 */
import { z } from "zod";
import { noted } from "../audit.ts";
import { adminOf } from "../auth/admin.ts";
import { pageOf } from "../paging.ts";
import { missing, unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { pageQuery, pageSchema, plainText } from "../shapes.ts";

const suspectSchema = z.strictObject({
  lease: z.string(),
  cluster: z.string(),
  group: z.string(),
  slot: z.int(),
  instance: z.string().meta({
    description:
      "Whose lease it was. The engine may show its statements by `gateway/<instance>/<lease>/`.",
  }),
  expiredForMs: z.number(),
  holder: z.enum(["alive", "dead", "silent"]),
  silentForMs: z.number(),
});

const freedSchema = z.strictObject({ lease: z.string(), state: z.literal("freed") });

/** List and free. Empty where no worker is served. */
export function suspectRoutes(api: AdminApi): void {
  listRoute(api);
  freeRoute(api);
}

function listRoute(api: AdminApi): void {
  route(
    api,
    ["GET", "/capacity/suspects"],
    {
      tag: "capacity",
      summary: "Slots of which it is not known whether their statement still runs",
      role: "viewer",
      query: pageQuery,
      responses: { 200: { description: "A page by lease.", schema: pageSchema(suspectSchema) } },
    },
    async ({ query }) => {
      const found = await api.deps.workerApi?.capacity?.suspects();
      if (found?.ok === false) return unavailable();
      const page = pageOf(found?.value.suspects ?? [], ({ lease }) => lease, query);
      return page.ok ? Response.json(page.value) : page.error;
    },
  );
}

function freeRoute(api: AdminApi): void {
  const { deps } = api;
  route(
    api,
    ["POST", "/capacity/suspects/:lease/free"],
    {
      tag: "capacity",
      summary: "Give a suspect slot again",
      description:
        "For a slot whose engine can neither list nor limit its statements. Look first: while the statement still runs, the cluster runs one more than its cap.",
      role: "admin",
      params: z.strictObject({ lease: plainText.max(64) }),
      responses: { 200: { description: "It is free.", schema: freedSchema } },
      refusals: [404, 415],
    },
    async ({ c, params: { lease } }) => {
      const shared = deps.workerApi?.capacity;
      const found = await shared?.suspects();
      if (found?.ok === false) return unavailable();
      const suspect = found?.value.suspects.find((one) => one.lease === lease);
      if (shared === undefined || suspect === undefined) return missing("suspect slot");
      const { cluster, group, slot, instance } = suspect;
      const freed = await shared.freeByHand({ cluster, slot, lease });
      if (!freed.ok) return unavailable();
      if (!freed.value) return missing("suspect slot");
      const { name: by, address } = adminOf(c);
      const detail = { cluster, group, slot, instance };
      const deed = { by, address, action: "free", target: `slot/${lease}`, detail };
      return (await noted(deps, deed)) ?? Response.json({ lease, state: "freed" });
    },
  );
}
