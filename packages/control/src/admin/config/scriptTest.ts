/** `/admin/script-test`: runs a script on an example, in the sandbox that queries use. It need not be in the configuration. */
import { scriptSchema, scriptUses } from "@gateway/contract/config/script.ts";
import type { ScriptQuery } from "@gateway/contract/script.ts";
import { z } from "zod";
import { refuse } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";

const text = z.string().max(1_024);
const texts = z.array(text).max(1_000).default([]);
const textMap = z.record(text, text).default({});

/** What a script is given; whatever is left out is as of a plain query. */
const querySchema = z.strictObject({
  sql: z.string().max(65_536).default("SELECT 1"),
  sqlLength: z.int().min(0).optional(),
  kind: text.default("select"),
  parameters: z.int().min(0).default(0),
  user: text.default("anonymous"),
  groups: texts,
  roles: texts,
  tags: textMap,
  protocol: text.default("trinoHttp"),
  clientAddress: text.default("127.0.0.1"),
  headers: textMap,
  catalog: text.nullable().default(null),
  schema: text.nullable().default(null),
  dialect: text.default("trino"),
  group: text.nullable().default(null),
});

const askedSchema = z.strictObject({
  use: z.enum(scriptUses),
  source: scriptSchema.shape.source,
  query: querySchema.prefault({}),
  beside: z
    .union([
      z.array(z.strictObject({ cluster: text, engine: text, running: z.int().min(0).default(0) })),
      z.strictObject({
        when: z.enum(["before", "after"]),
        cluster: text,
        engine: text,
        dialect: text,
      }),
    ])
    .optional()
    .meta({ description: "Second argument: the members for order, the place for rewrite." }),
});

const answerSchema = z.union([
  z.strictObject({ answered: z.literal(true), answer: z.unknown(), tookMs: z.number() }),
  z.strictObject({
    answered: z.literal(false),
    reason: z
      .enum(["compile", "time", "memory", "threw", "answer", "lost", "busy"])
      .meta({ description: "What a query would have been refused for." }),
    detail: z.string(),
    line: z.int().optional().meta({ description: "In the source, from 1." }),
  }),
]);

export function scriptTestRoute(api: AdminApi): void {
  const operation = {
    tag: "dry runs",
    summary: "What a script answers to an example",
    role: "operator",
    body: askedSchema,
    responses: { 200: { description: "Its answer, or how it fails.", schema: answerSchema } },
    refusals: [501],
  } as const;
  route(api, ["POST", "/script-test"], operation, async ({ body }) => {
    const { scripts: sandboxes, clock } = api.deps;
    if (sandboxes === undefined) {
      const detail = "This control plane runs as a function, where no script runs.";
      return refuse(501, { code: "notHere", detail });
    }
    const { use, source, beside } = body;
    const opened = await sandboxes.open({ test: { use, source } });
    if (!opened.ok) {
      const [fault] = opened.error;
      const { detail, line } = fault ?? { detail: "It does not compile." };
      return Response.json({ answered: false, reason: "compile", detail, line });
    }
    await using scripts = opened.value;
    const { sql, sqlLength = sql.length } = body.query;
    const query: ScriptQuery = { ...body.query, sqlLength };
    const startedMs = clock.nowMs();
    const answer = await scripts.ask(use, "test", { query, beside });
    const tookMs = clock.nowMs() - startedMs;
    if (answer.ok) return Response.json({ answered: true, answer: answer.value, tookMs });
    const { code: reason, detail, line } = answer.error;
    return Response.json({ answered: false, reason, detail, line });
  });
}
