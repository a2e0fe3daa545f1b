/**
 * One way to declare a route, so that none can be without a role, a limit or its page in the OpenAPI
 * document: guard, parameters, body, handler, in this order. An anonymous caller learns nothing from
 * the shape of a refusal, because the guard is first.
 */
import type { Context, Hono, MiddlewareHandler } from "hono";
import { describeRoute, resolver, validator } from "hono-openapi";
import type { z } from "zod";
import type { ControlDeps } from "../deps.ts";
import { readJson } from "../http/body.ts";
import { problemResponse, problemType } from "../problem.ts";
import type { AdminRole } from "../store/store.ts";
import { allows, type AdminEnv } from "./auth/admin.ts";
import type { Access } from "./auth/authenticate.ts";
import { fromOurPage } from "./auth/sameSite.ts";
import { badRequest, invalid, refuse, unavailable } from "./refuse.ts";
import { problemSchema } from "./shapes.ts";

/** Largest body of a route that does not say otherwise. */
const bodyBytesMax = 1_048_576;

/** What every resource of the admin API is mounted on. */
export interface AdminApi {
  readonly app: Hono<AdminEnv>;
  readonly deps: ControlDeps;
  readonly access: Access;
}

export type Method = "GET" | "PUT" | "POST" | "DELETE";

/** One response, as the OpenAPI document describes it. */
export interface ResponsePage {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Default JSON. */
  readonly contentType?: string;
}

export interface Operation<Params, Query, Body> {
  /** Resource, as the document groups them. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Least role; `anyone` needs no login. */
  readonly role: AdminRole | "anyone";
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** What the document says of a body that `body` leaves to the configuration to judge. */
  readonly bodyDocument?: z.ZodType;
  /** Default 1 MiB. */
  readonly bodyBytesMax?: number;
  /** Headers of `headers.ts` that the handler looks at. */
  readonly precondition?: "create" | "change";
  readonly responses: Readonly<Record<number, ResponsePage>>;
  /** Refusals that the handler answers itself, beside those that follow from the rest. */
  readonly refusals?: readonly number[];
}

/** A request that came through. */
export interface Asked<Params, Query, Body> {
  readonly c: Context<AdminEnv>;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

/** Adds a route. `path` is below `/admin`. */
export function route<Params, Query, Body>(
  api: AdminApi,
  [method, path]: readonly [Method, string],
  operation: Operation<Params, Query, Body>,
  handle: (asked: Asked<Params, Query, Body>) => Response | Promise<Response>,
): void {
  const { params, query } = operation;
  const handlers: MiddlewareHandler<AdminEnv>[] = [
    describeRoute(pageOf(operation)),
    guard(api, operation.role),
  ];
  // Their types only repeat what `Operation` says of parameters.
  if (params !== undefined)
    handlers.push(validator("param", params, parameterHook) as MiddlewareHandler);
  if (query !== undefined)
    handlers.push(validator("query", query, parameterHook) as MiddlewareHandler);
  api.app.on(method, [path], ...handlers, async (c: Context<AdminEnv>) => {
    const body = operation.body === undefined ? noBody : await bodyOf(c, operation, operation.body);
    if (body instanceof Response) return body;
    return handle({
      c,
      // Absent schemas have the type `unknown`, for which undefined is a value.
      params: (params === undefined ? undefined : c.req.valid("param" as never)) as Params,
      query: (query === undefined ? undefined : c.req.valid("query" as never)) as Query,
      body: body.value as Body,
    });
  });
}

const noBody = { value: undefined };

async function bodyOf<Body>(
  c: Context,
  operation: { readonly bodyBytesMax?: number },
  schema: z.ZodType<Body>,
): Promise<{ readonly value: Body } | Response> {
  const bytesMax = operation.bodyBytesMax ?? bodyBytesMax;
  const read = await readJson(c.req.raw, { bytesMax });
  if (!read.ok) return problemResponse(read.error);
  const parsed = schema.safeParse(read.value);
  return parsed.success ? { value: parsed.data } : invalid(faultsOf(parsed.error));
}

function guard({ access, deps }: AdminApi, role: AdminRole | "anyone") {
  return async (c: Context<AdminEnv>, next: () => Promise<void>): Promise<Response | void> => {
    const reads = c.req.method === "GET" || c.req.method === "HEAD";
    if (role === "anyone") return reads || fromOurPage(c, false) ? next() : foreignPage();
    const found = await access.authenticate(c);
    if (!found.ok) return found.error;
    const admin = found.value;
    if (!reads && !fromOurPage(c, admin.via === "session")) return foreignPage();
    // A form of another page can send a POST without asking, but never with this type.
    if (c.req.method === "POST" && admin.via === "session" && !isJson(c)) return notJson();
    if (!allows(admin.role, role)) {
      return refuse(403, { code: "forbidden", detail: `This needs the role ${role}.` });
    }
    if (!reads && !admin.confirmed) return unavailable();
    c.set("admin", admin);
    // Nothing runs between the requests of a function, so what it serves may be old.
    if (deps.host === "function") await deps.config.refresh();
    return next();
  };
}

function foreignPage(): Response {
  const detail = "A browser sent this from a page of another site.";
  return refuse(403, { code: "foreignPage", detail });
}

function isJson(c: Context): boolean {
  return /^application\/json\s*(?:;|$)/i.test(c.req.header("content-type") ?? "");
}

function notJson(): Response {
  const detail = "A write with a session cookie must be application/json.";
  return refuse(415, { code: "unsupportedBody", detail });
}

function parameterHook(
  result:
    | { readonly success: true }
    | { readonly success: false; readonly error: readonly Issue[] },
): Response | undefined {
  return result.success
    ? undefined
    : badRequest("A parameter is not valid.", faultsOf({ issues: result.error }));
}

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** zod's messages name shapes and never the value. */
function faultsOf({ issues }: { readonly issues: readonly Issue[] }) {
  return issues.map(({ path = [], message }) => ({
    path: path.map((step) => String(typeof step === "object" ? step.key : step)).join("."),
    reason: message,
  }));
}

/** The operation's page in the OpenAPI document. */
function pageOf<Params, Query, Body>(operation: Operation<Params, Query, Body>) {
  const { tag, summary, description, role, precondition } = operation;
  const statuses = refusalsOf(operation);
  const refusals = statuses.map((status) => [String(status), refusalPage] as const);
  const responses = Object.entries(operation.responses).map(
    ([status, page]) => [status, contentPage(page)] as const,
  );
  const body = operation.bodyDocument ?? operation.body;
  return {
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(role === "anyone"
      ? { security: [] }
      : { "x-role": role, security: [{ basic: [] }, { session: [] }] }),
    ...(precondition === undefined ? {} : { parameters: preconditionPages(precondition) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: resolver(body, { io: "input" }) } },
          },
        }),
    responses: Object.fromEntries([...responses, ...refusals]),
  };
}

function refusalsOf<Params, Query, Body>(
  operation: Operation<Params, Query, Body>,
): readonly number[] {
  const { role, params, query, body, precondition, refusals = [] } = operation;
  const all = [
    ...when(role !== "anyone", 401, 403, 429, 503),
    ...when(params !== undefined || query !== undefined || precondition !== undefined, 400),
    ...when(body !== undefined, 400, 413, 415, 422),
    ...when(precondition !== undefined, 412, 428),
    ...refusals,
    500,
  ];
  return [...new Set(all)].toSorted((a, b) => a - b);
}

function when(condition: boolean, ...statuses: readonly number[]): readonly number[] {
  return condition ? statuses : [];
}

const refusalPage = {
  description: "Refused; the problem says why.",
  content: { [problemType]: { schema: resolver(problemSchema) } },
};

function contentPage({ description, schema, contentType = "application/json" }: ResponsePage) {
  if (schema === undefined) return { description };
  return { description, content: { [contentType]: { schema: resolver(schema) } } };
}

function preconditionPages(may: "create" | "change") {
  const match = {
    in: "header" as const,
    name: "If-Match",
    description: "The ETag that was read; a write without it is refused.",
    schema: { type: "string" as const, pattern: '^"[0-9]{1,15}"$' },
    example: '"1"',
  };
  const noneMatch = {
    in: "header" as const,
    name: "If-None-Match",
    description: "`*` creates what does not exist yet; instead of If-Match.",
    schema: { type: "string" as const, enum: ["*"] },
  };
  return may === "change" ? [match] : [match, noneMatch];
}
