/** The trail of what admins did. Writes of the configuration carry their row with them; all others call `noted`. */
import type { Json } from "@gateway/contract/canonical.ts";
import { z } from "zod";
import type { ControlDeps } from "../deps.ts";
import { unavailable } from "./refuse.ts";
import { listed } from "./paging.ts";
import { route, type AdminApi } from "./route.ts";
import { pageSchema, pageShape, plainText, unixMs, unixMsParameter } from "./shapes.ts";

export interface Deed {
  /** Name of the admin; for a login or a set-up, the user it is about. */
  readonly by: string;
  readonly address: string;
  readonly action: string;
  readonly target: string;
  /** Names only; no value of a secret, no SQL. */
  readonly detail?: Json;
}

/**
 * Writes the row; a response when it could not be written. The deed is done by then, so the caller
 * is told 503: it is not known to be recorded.
 */
export async function noted(deps: ControlDeps, deed: Deed): Promise<Response | undefined> {
  const { detail = {}, ...more } = deed;
  const written = await deps.store.audit.append({ at: deps.clock.unixMs(), ...more, detail });
  if (written.ok) return undefined;
  const { action, target } = deed;
  deps.log.write("error", "admin.auditLost", { action, target, code: written.error.detail });
  return unavailable();
}

const rowSchema = z.strictObject({
  id: z.string(),
  at: unixMs,
  by: z.string(),
  address: z.string().optional(),
  action: z.string(),
  target: z.string(),
  detail: z.unknown(),
});

const query = z.strictObject({
  ...pageShape,
  by: plainText.optional(),
  action: plainText.optional(),
  target: plainText.optional(),
  from: unixMsParameter.optional(),
  to: unixMsParameter.optional(),
});

/** `/admin/audit` */
export function auditRoutes(api: AdminApi): void {
  const { store } = api.deps;
  route(
    api,
    ["GET", "/audit"],
    {
      tag: "audit",
      summary: "Who did what, newest first",
      role: "admin",
      query,
      responses: { 200: { description: "A page of rows.", schema: pageSchema(rowSchema) } },
    },
    async ({ query: { limit, cursor, ...filter } }) =>
      listed(await store.audit.list(filter, { limit, cursor }), (row) => row),
  );
}
