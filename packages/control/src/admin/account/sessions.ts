/** `/admin/sessions`: who is logged in. A session's id is the hash of its cookie, which opens nothing. */
import { z } from "zod";
import type { AdminSession } from "../../store/store.ts";
import { noted } from "../audit.ts";
import { adminOf } from "../auth/admin.ts";
import { listed } from "../paging.ts";
import { missing, unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { pageQuery, pageSchema, unixMs } from "../shapes.ts";

const tag = "sessions";
const sessionId = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits");

const sessionSchema = z.strictObject({
  id: sessionId,
  user: z.string(),
  address: z.string(),
  createdAt: unixMs,
  lastSeenAt: unixMs,
  expiresAt: unixMs,
  own: z.boolean().meta({ description: "True for the session of this request." }),
});

export function sessionRoutes(api: AdminApi): void {
  const { deps } = api;
  const { users } = deps.store;
  route(
    api,
    ["GET", "/sessions"],
    {
      tag,
      summary: "List sessions, newest first",
      role: "admin",
      query: pageQuery,
      responses: { 200: { description: "A page of sessions.", schema: pageSchema(sessionSchema) } },
    },
    async ({ c, query: { limit, cursor } }) =>
      listed(await users.sessions({ limit, cursor }), ({ idHash: id, ...more }: AdminSession) => ({
        id,
        ...more,
        own: id === adminOf(c).sessionHash,
      })),
  );
  route(
    api,
    ["DELETE", "/sessions/:id"],
    {
      tag,
      summary: "End a session",
      role: "admin",
      params: z.strictObject({ id: sessionId }),
      responses: { 204: { description: "Ended." } },
      refusals: [404],
    },
    async ({ c, params: { id } }) => {
      const removed = await users.removeSession(id);
      if (!removed.ok) return unavailable();
      if (!removed.value) return missing("session");
      const { name: by, address } = adminOf(c);
      const lost = await noted(deps, { by, address, action: "delete", target: `session/${id}` });
      return lost ?? c.body(null, 204);
    },
  );
}
