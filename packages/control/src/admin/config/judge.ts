/** Dry runs: `/admin/validate`, `/admin/route-explain`, `/admin/clusters/{name}/test`. None writes the configuration. */
import { z } from "zod";
import { objectName } from "../../config/objects.ts";
import { documentKinds } from "../../store/store.ts";
import { noted } from "../audit.ts";
import { adminOf } from "../auth/admin.ts";
import { missing, refuse } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { faultSchema } from "../shapes.ts";
import { fileBytesMax } from "./transfer.ts";

const tag = "dry runs";

const validateSchema = z
  .union([
    z.strictObject({ file: z.unknown() }),
    z.strictObject({
      kind: z.enum(documentKinds),
      name: objectName,
      body: z.unknown(),
    }),
  ])
  .meta({ description: "One object, or a whole file." });

const text = z.string().max(1_024);
const texts = z.array(text).max(1_000).default([]);
const textMap = z.record(text, text).default({});

const questionSchema = z.strictObject({
  sql: z.string().max(1_000_000),
  user: text.default("anonymous"),
  groups: texts,
  roles: texts,
  frontend: text.default("trinoHttp"),
  tags: textMap,
  headers: textMap,
});

const answerSchema = z.strictObject({
  group: z
    .string()
    .optional()
    .meta({ description: "Absent when the query would be refused, or when it is undecided." }),
  refusal: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  undecided: z.string().optional().meta({
    description:
      "The group that the allow lists open first, where OpenFGA has a say and could not be asked here.",
  }),
  trace: z.array(z.strictObject({ step: z.string(), outcome: z.string() })),
});

export function judgeRoutes(api: AdminApi): void {
  validateRoute(api);
  explainRoute(api);
  testRoute(api);
}

function validateRoute(api: AdminApi): void {
  const operation = {
    tag,
    summary: "What a write would be refused for",
    role: "operator",
    body: validateSchema,
    bodyBytesMax: fileBytesMax,
    responses: {
      200: {
        description: "Valid when there are no faults.",
        schema: z.strictObject({ valid: z.boolean(), faults: z.array(faultSchema) }),
      },
    },
  } as const;
  route(api, ["POST", "/validate"], operation, async ({ body }) => {
    const { config } = api.deps;
    const faults =
      "file" in body
        ? await config.validate(undefined, body.file)
        : await config.validate({ kind: body.kind, name: body.name }, body.body);
    return Response.json({ valid: faults.length === 0, faults });
  });
}

function explainRoute(api: AdminApi): void {
  const operation = {
    tag,
    summary: "Where a query would go, and why",
    role: "operator",
    body: questionSchema,
    responses: { 200: { description: "The decision with its trace.", schema: answerSchema } },
  } as const;
  route(api, ["POST", "/route-explain"], operation, async ({ body }) => {
    const { group, refusal, undecided, trace } = await api.deps.explainRoute(body);
    return Response.json({ group, refusal, undecided, trace });
  });
}

function testRoute(api: AdminApi): void {
  const { deps } = api;
  const operation = {
    tag: "clusters",
    summary: "Open a cluster for a moment and ask it for a sign of life",
    role: "operator",
    params: z.strictObject({ name: objectName }),
    responses: {
      200: {
        description: "Whether it answered.",
        schema: z.union([
          z.strictObject({ reached: z.literal(true), tookMs: z.number() }),
          z.strictObject({ reached: z.literal(false), reason: z.string() }),
        ]),
      },
    },
    refusals: [404, 415, 501],
  } as const;
  route(api, ["POST", "/clusters/:name/test"], operation, async ({ c, params: { name } }) => {
    if (deps.testCluster === undefined) {
      const detail = "This control plane runs as a function, where no engine can be loaded.";
      return refuse(501, { code: "notHere", detail });
    }
    // The built body, because a view has no secrets to connect with.
    const clusters = deps.config.current()?.body.clusters ?? {};
    if (!Object.hasOwn(clusters, name)) return missing("cluster");
    const tested = await deps.testCluster(name, clusters[name]);
    const { name: by, address } = adminOf(c);
    const detail = { reached: tested.ok };
    const target = `cluster/${name}`;
    const lost = await noted(deps, { by, address, action: "test", target, detail });
    if (lost !== undefined) return lost;
    return Response.json(
      tested.ok
        ? { reached: true, tookMs: tested.value.tookMs }
        : { reached: false, reason: tested.error },
    );
  });
}
