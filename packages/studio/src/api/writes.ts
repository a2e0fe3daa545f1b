/**
 * Every request of Studio that is more than a reading, by its route of the admin API. `write` takes no other, so this is
 * the whole list of what a page can change; `npm run test:studio` reads it, and fails when no case has met one of them.
 */
import { request, step, type Expected } from "./client.ts";

export const writeRoutes = [
  "POST /setup",
  "POST /login",
  "POST /logout",
  "PUT /users/:name",
  "DELETE /users/:name",
  "DELETE /sessions/:id",
  "PUT /clusters/:name",
  "DELETE /clusters/:name",
  "POST /clusters/:name/test",
  "PUT /groups/:name",
  "DELETE /groups/:name",
  "PUT /settings/:name",
  "DELETE /settings/:name",
  "PUT /scripts/:name",
  "DELETE /scripts/:name",
  "PUT /routing",
  "POST /revisions/:position/rollback",
  "POST /queries/:id/cancel",
  "DELETE /workers/:instanceId",
  "POST /capacity/suspects/:lease/free",
  "POST /run",
  // These change nothing, and are written because their questions are long.
  "POST /run-tables",
  "POST /script-test",
  "POST /route-explain",
  "POST /access-explain",
] as const;
export type WriteRoute = (typeof writeRoutes)[number];

export interface Write {
  /** What stands for the route's parameters, in their order. */
  readonly names?: readonly string[];
  readonly body?: unknown;
  readonly expected?: Expected;
  readonly signal?: AbortSignal;
}

/** Refusals are thrown as an `ApiError`. */
export async function write<Answer>(route: WriteRoute, options: Write = {}): Promise<Answer> {
  const response = await send(route, options);
  if (response.status === 204) return undefined as Answer;
  return (await response.json()) as Answer;
}

/** The same, with an answer that is read while it comes. */
export function send(route: WriteRoute, { names = [], ...options }: Write): Promise<Response> {
  const [method, pattern = ""] = route.split(" ");
  let at = 0;
  const path = pattern.replaceAll(/:\w+/g, () => step(names[at++] ?? ""));
  return request(path, { ...options, method: method as "PUT" | "POST" | "DELETE" });
}
