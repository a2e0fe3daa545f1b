/**
 * `/admin/drills`: whether a drill may begin here. Nothing is broken by this process: what it does is to say no where
 * the operator did not take drills by the config, and to leave a row of who began which.
 */
import { drillRequestSchema } from "@gateway/contract/drillApi.ts";
import { noted } from "../audit.ts";
import { adminOf } from "../auth/admin.ts";
import { refuse } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";

export function drillRoutes(api: AdminApi): void {
  const { deps } = api;
  route(
    api,
    ["POST", "/drills"],
    {
      tag: "drills",
      summary: "Say that a drill begins",
      description:
        "Asked by `gateway drill` before each drill. Refused (409, `noDrills`) unless the config of this control plane says `gateway.drills: true`, as that of a staging fleet may.",
      role: "admin",
      body: drillRequestSchema,
      responses: { 200: { description: "It may begin.", schema: drillRequestSchema } },
      refusals: [409],
    },
    async ({ c, body: { drill } }) => {
      if (!deps.drills) {
        const detail = "This fleet takes no drills: its config does not say gateway.drills.";
        return refuse(409, { code: "noDrills", detail });
      }
      const { name: by, address } = adminOf(c);
      deps.log.write("warn", "drill.begun", { drill, by });
      const deed = { by, address, action: "drill", target: `drill/${drill}` };
      return (await noted(deps, deed)) ?? Response.json({ drill });
    },
  );
}
