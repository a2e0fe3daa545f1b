/**
 * `/admin/login`, `/admin/logout`, `/admin/me` for Studio, and `/admin/setup` for the first admin.
 *
 * There is no default password: an empty store takes one user for the one-time token that the host
 * printed, and never again.
 */
import type { Context } from "hono";
import { z } from "zod";
import { tokenHashOf } from "../../http/secretCompare.ts";
import type { AdminUser } from "../../store/store.ts";
import { noted } from "../audit.ts";
import { adminOf } from "../auth/admin.ts";
import { clearSessionCookie } from "../auth/cookie.ts";
import { invalid, refuse, unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { plainText } from "../shapes.ts";
import { beginSession } from "./begin.ts";
import {
  newPassword,
  roleSchema,
  triedPassword,
  userName,
  userSchema,
  userView,
} from "./userShapes.ts";

const tag = "login";

const meSchema = z.strictObject({
  name: z.string(),
  role: roleSchema,
  via: z.enum(["basic", "session"]),
});

export function loginRoutes(api: AdminApi): void {
  loginRoute(api);
  logoutRoute(api);
  meRoute(api);
  setupRoutes(api);
}

function loginRoute(api: AdminApi): void {
  const { deps, access } = api;
  route(
    api,
    ["POST", "/login"],
    {
      tag,
      summary: "Log in: sets the session cookie",
      role: "anyone",
      body: z.strictObject({ name: plainText.max(256), password: triedPassword }),
      responses: { 200: { description: "Logged in.", schema: meSchema } },
      refusals: [401, 403, 429, 503],
    },
    async ({ c, body: { name, password } }) => {
      const { address } = deps.caller(c.req.raw);
      const verified = await access.passwords.verify({ name, password, address });
      if (!verified.ok) return access.refused(c, verified.error);
      // A session is a row, and a row needs the database.
      if (!verified.value.confirmed) return unavailable();
      const { user } = verified.value;
      const refused = await beginSession(api, c, user, "password");
      return refused ?? c.json({ name: user.name, role: user.role, via: "session" });
    },
  );
}

function logoutRoute(api: AdminApi): void {
  const { deps } = api;
  route(
    api,
    ["POST", "/logout"],
    {
      tag,
      summary: "End this session",
      role: "viewer",
      responses: { 204: { description: "Logged out." } },
      refusals: [415],
    },
    async ({ c }) => {
      const { name: by, address, sessionHash } = adminOf(c);
      clearSessionCookie(c, deps.caller(c.req.raw).secure);
      if (sessionHash === undefined) return c.body(null, 204);
      const removed = await deps.store.users.removeSession(sessionHash);
      if (!removed.ok) return unavailable();
      const lost = await noted(deps, { by, address, action: "logout", target: `user/${by}` });
      return lost ?? c.body(null, 204);
    },
  );
}

function meRoute(api: AdminApi): void {
  route(
    api,
    ["GET", "/me"],
    {
      tag,
      summary: "Who I am here",
      role: "viewer",
      responses: { 200: { description: "The user of this request.", schema: meSchema } },
    },
    ({ c }) => {
      const { name, role, via } = adminOf(c);
      return Response.json({ name, role, via });
    },
  );
}

function setupRoutes(api: AdminApi): void {
  const { deps } = api;
  route(
    api,
    ["GET", "/setup"],
    {
      tag,
      summary: "Whether the first admin is still to be made",
      role: "anyone",
      responses: {
        200: { description: "The state.", schema: z.strictObject({ needed: z.boolean() }) },
      },
      refusals: [503],
    },
    async () => {
      const count = await deps.store.users.count();
      return count.ok ? Response.json({ needed: count.value === 0 }) : unavailable();
    },
  );
  route(
    api,
    ["POST", "/setup"],
    {
      tag,
      summary: "Make the first admin with the one-time token",
      role: "anyone",
      body: z.strictObject({ token: triedPassword, name: userName, password: newPassword }),
      responses: { 201: { description: "Made; log in now.", schema: userSchema } },
      refusals: [403, 429, 503],
    },
    ({ c, body }) => redeem(api, c, body),
  );
}

/** The token is a password that everybody may try, so it is throttled like one; under a name no user can have. */
const setupName = ":setup";

async function redeem(
  { deps, access }: AdminApi,
  c: Context,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<Response> {
  const { address } = deps.caller(c.req.raw);
  if (token === password) {
    return invalid([{ path: "password", reason: "must not be the token" }]);
  }
  const held = await access.passwords.hold(address, setupName);
  if (!held.ok) return access.refused(c, held.error);
  using _attempt = held.value;
  // An answer before the hash: once there are users nobody can make this process hash for nothing.
  const count = await deps.store.users.count();
  if (!count.ok) return unavailable();
  const user = count.value > 0 ? undefined : await firstAdmin(deps, name, password);
  const redeemed =
    user !== undefined && (await deps.store.users.redeemSetup(tokenHashOf(token), user));
  if (user !== undefined && redeemed !== false && redeemed.ok && redeemed.value) {
    const lost = await noted(deps, { by: name, address, action: "setup", target: `user/${name}` });
    return lost ?? Response.json(userView(user), { status: 201 });
  }
  if (redeemed !== false && !redeemed.ok) return unavailable();
  const retryAfterMs = access.passwords.failed(address, setupName);
  if (retryAfterMs > 0) return access.refused(c, { code: "throttled", retryAfterMs });
  const detail = "The token is wrong or was used already.";
  return refuse(403, { code: "setupRefused", detail });
}

async function firstAdmin(
  { clock, passwords }: AdminApi["deps"],
  name: string,
  password: string,
): Promise<AdminUser> {
  const passwordHash = await passwords.hash(password);
  const createdAt = clock.unixMs();
  const times = { createdAt, updatedAt: createdAt };
  return { name, role: "admin", passwordHash, disabled: false, version: 1, ...times };
}
