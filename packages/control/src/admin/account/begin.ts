/** Begins a session: its row, its line in the trail, its cookie. However somebody proved who they are. */
import type { Context } from "hono";
import { tokenHashOf } from "../../http/secretCompare.ts";
import type { AdminUser } from "../../store/store.ts";
import { noted } from "../audit.ts";
import { sessionAgeMsMax, setSessionCookie } from "../auth/cookie.ts";
import { unavailable } from "../refuse.ts";
import type { AdminApi } from "../route.ts";

const sessionBytes = 32;

/** `how`: of the trail. A response where no session could be begun; the cookie is set only where one was. */
export async function beginSession(
  { deps }: AdminApi,
  c: Context,
  { name }: Pick<AdminUser, "name">,
  how: "password" | "link" | "oidc",
): Promise<Response | undefined> {
  const { address, secure } = deps.caller(c.req.raw);
  const value = Buffer.from(deps.randomBytes(sessionBytes)).toString("base64url");
  const nowUnixMs = deps.clock.unixMs();
  const added = await deps.store.users.addSession({
    idHash: tokenHashOf(value),
    user: name,
    createdAt: nowUnixMs,
    lastSeenAt: nowUnixMs,
    expiresAt: nowUnixMs + sessionAgeMsMax,
    address,
  });
  if (!added.ok) return unavailable();
  const detail = how === "password" ? {} : { how };
  const deed = { by: name, address, action: "login", target: `user/${name}`, detail };
  const lost = await noted(deps, deed);
  if (lost !== undefined) return lost;
  setSessionCookie(c, value, secure);
  return undefined;
}
