/** `/admin/users`: who may use this API. A new password, role or state ends the user's sessions. */
import { z } from "zod";
import type { ControlDeps } from "../../deps.ts";
import type { AdminUser } from "../../store/store.ts";
import { noted } from "../audit.ts";
import { adminOf } from "../auth/admin.ts";
import { listed } from "../paging.ts";
import { expectedOf, expectedVersion, versionTag } from "../headers.ts";
import { invalid, lostUpdate, missing, refuse, unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { pageQuery, pageSchema } from "../shapes.ts";
import { newPassword, roleSchema, userName, userSchema, userView } from "./userShapes.ts";

const tag = "users";
const params = z.strictObject({ name: userName });

const putSchema = z.strictObject({
  role: roleSchema,
  password: newPassword.optional().meta({ description: "Absent keeps the one that is set." }),
  disabled: z.boolean().default(false),
});
type Put = z.output<typeof putSchema>;

export function userRoutes(api: AdminApi): void {
  readRoutes(api);
  putRoute(api);
  deleteRoute(api);
}

function readRoutes(api: AdminApi): void {
  const { users } = api.deps.store;
  route(
    api,
    ["GET", "/users"],
    {
      tag,
      summary: "List users of the admin API",
      role: "admin",
      query: pageQuery,
      responses: { 200: { description: "A page by name.", schema: pageSchema(userSchema) } },
    },
    async ({ query: { limit, cursor } }) => listed(await users.list({ limit, cursor }), userView),
  );
  route(
    api,
    ["GET", "/users/:name"],
    {
      tag,
      summary: "Read a user",
      role: "admin",
      params,
      responses: { 200: { description: "The user; its ETag is the version.", schema: userSchema } },
      refusals: [404],
    },
    async ({ params: { name } }) => {
      const found = await users.get(name);
      if (!found.ok) return unavailable();
      if (found.value === undefined) return missing("user");
      const headers = { etag: versionTag(found.value.version) };
      return Response.json(userView(found.value), { headers });
    },
  );
}

function putRoute(api: AdminApi): void {
  const { deps } = api;
  const operation = {
    tag,
    summary: "Create or change a user",
    role: "admin",
    params,
    body: putSchema,
    precondition: "create",
    responses: {
      200: { description: "Changed.", schema: userSchema },
      201: { description: "Created; `Location` names it.", schema: userSchema },
    },
    refusals: [404, 409],
  } as const;
  route(api, ["PUT", "/users/:name"], operation, async ({ c, params: { name }, body }) => {
    const expected = expectedOf(c, "create");
    if (!expected.ok) return expected.error;
    const found = await deps.store.users.get(name);
    if (!found.ok) return unavailable();
    const there = found.value;
    const version = expected.value === "absent" ? undefined : expected.value.version;
    if (there?.version !== version) return lostUpdate(there?.version);
    const user = await userOf(deps, name, body, there);
    if (user === undefined)
      return invalid([{ path: "password", reason: "required for a new user" }]);

    const written = await deps.store.users.put(user, version);
    if (!written.ok) return unavailable();
    if (written.value !== "written") return notWritten(deps, name, written.value);
    const ended = there === undefined ? undefined : await deps.store.users.removeSessionsOf(name);
    const { name: by, address } = adminOf(c);
    const detail = {
      role: user.role,
      disabled: user.disabled,
      password: body.password !== undefined,
    };
    const action = there === undefined ? "create" : "put";
    const lost = await noted(deps, { by, address, action, target: `user/${name}`, detail });
    if (ended?.ok === false) return unavailable();
    const headers = { location: `/admin/users/${name}`, etag: versionTag(user.version) };
    const status = there === undefined ? 201 : 200;
    return lost ?? Response.json(userView(user), { status, headers });
  });
}

function deleteRoute(api: AdminApi): void {
  const { deps } = api;
  const operation = {
    tag,
    summary: "Delete a user and its sessions",
    role: "admin",
    params,
    precondition: "change",
    responses: { 204: { description: "Deleted." } },
    refusals: [404, 409],
  } as const;
  route(api, ["DELETE", "/users/:name"], operation, async ({ c, params: { name } }) => {
    const version = expectedVersion(c);
    if (!version.ok) return version.error;
    const removed = await deps.store.users.remove(name, version.value);
    if (!removed.ok) return unavailable();
    if (removed.value === "missing") return missing("user");
    if (removed.value !== "removed") return notWritten(deps, name, removed.value);
    const { name: by, address } = adminOf(c);
    const lost = await noted(deps, { by, address, action: "delete", target: `user/${name}` });
    return lost ?? c.body(null, 204);
  });
}

/** The user as it will be; undefined for a new one without a password. */
async function userOf(
  { clock, passwords }: ControlDeps,
  name: string,
  { role, password, disabled }: Put,
  there: AdminUser | undefined,
): Promise<AdminUser | undefined> {
  const passwordHash =
    password === undefined ? there?.passwordHash : await passwords.hash(password);
  if (passwordHash === undefined) return undefined;
  const updatedAt = clock.unixMs();
  const version = (there?.version ?? 0) + 1;
  const createdAt = there?.createdAt ?? updatedAt;
  return { name, role, passwordHash, disabled, version, createdAt, updatedAt };
}

async function notWritten(
  { store }: ControlDeps,
  name: string,
  why: "moved" | "lastAdmin",
): Promise<Response> {
  if (why === "lastAdmin") {
    const detail = "Without this user nobody could administer the gateway.";
    return refuse(409, { code: "lastAdmin", detail });
  }
  const found = await store.users.get(name);
  return found.ok ? lostUpdate(found.value?.version) : unavailable();
}
