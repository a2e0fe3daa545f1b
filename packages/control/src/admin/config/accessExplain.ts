/** `/admin/access-explain`: what access control makes of a statement that nobody runs, also under a policy that nobody has saved. */
import { accessActions } from "@gateway/contract/config/accessControl.ts";
import { attributeName } from "@gateway/contract/config/attribute.ts";
import type { TableJudgement } from "@gateway/core/police/known/judged.ts";
import { z } from "zod";
import { objectName } from "../../config/objects.ts";
import { invalid, missing, refuse } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { documentSchema } from "../shapes.ts";

const text = z.string().max(1_024);
const texts = z.array(text).max(1_000).default([]);
const textMap = z.record(text, text).default({});

const dialects = ["trino", "postgres", "mysql", "duckdb", "clickhouse", "generic"] as const;

const askedSchema = z.strictObject({
  sql: z.string().max(1_000_000),
  user: text.default("anonymous"),
  groups: texts,
  roles: texts,
  attributes: z.record(attributeName, z.union([text, z.array(text).max(1_000)])).default({}),
  settings: textMap.meta({
    description: "Parameters of the session, by names in lower case; for policy servers.",
  }),
  dialect: z.enum(dialects).default("trino").meta({
    description: "How the text is read: that of the client.",
  }),
  catalog: text.optional(),
  schema: text.optional(),
  group: objectName.optional().meta({
    description: "The cluster group. Absent: where frontend, tags and headers would route it.",
  }),
  frontend: text.default("trinoHttp"),
  tags: textMap,
  headers: textMap,
  accessControl: documentSchema.optional().meta({
    description:
      "A setting of that name in place of the saved one. It is judged as a write would be.",
  }),
});

const answerSchema = z.strictObject({
  group: z.string().optional().meta({ description: "Absent when the query would not be routed." }),
  decision: z.enum(["allowed", "denied", "unavailable", "uncontrolled"]).meta({
    description:
      "unavailable: nobody could decide, and a query would be told to come back. uncontrolled: the group is not under access control.",
  }),
  sql: z.string().optional().meta({ description: "What would be sent on." }),
  refusal: z
    .strictObject({ code: z.string(), message: z.string(), hint: z.string().optional() })
    .optional(),
  tables: z.array(
    z.strictObject({
      table: z.string(),
      action: z.enum(accessActions),
      touched: z
        .strictObject({
          named: z.array(z.string()),
          unresolved: z.array(z.string()),
          prefixes: z.array(z.string()),
          all: z.boolean(),
        })
        .optional()
        .meta({
          description:
            "Columns that the statement touches at this place: of this table, of this or another one, names before a dot that are other tables' and may be columns, and whether whole rows are touched.",
        }),
      decision: z.enum(["allow", "deny", "unavailable"]),
      rule: z.string().optional(),
      reason: z.string().optional().meta({ description: "Why an answer could not be used." }),
      rowFilter: z.string().optional(),
      columns: z
        .array(z.strictObject({ name: z.string(), mask: z.string().optional() }))
        .optional()
        .meta({ description: "Absent: all are shown." }),
    }),
  ),
  engines: z.array(z.string()).optional().meta({
    description:
      "Dialects of engines in which the text was proven as well. Absent: this process serves none of them.",
  }),
});

export function accessExplainRoute(api: AdminApi): void {
  const operation = {
    tag: "dry runs",
    summary: "What access control makes of a statement, and why",
    role: "operator",
    body: askedSchema,
    responses: { 200: { description: "The decision and the new text.", schema: answerSchema } },
    refusals: [404, 422, 501],
  } as const;
  route(api, ["POST", "/access-explain"], operation, async ({ body }) => {
    const { deps } = api;
    if (deps.explainAccess === undefined) {
      const detail = "This control plane runs as a function, where nothing reads SQL.";
      return refuse(501, { code: "notHere", detail });
    }
    const { group: named, catalog, schema, ...rest } = body;
    const groups = deps.config.current()?.body.clusterGroups ?? {};
    if (named !== undefined && !Object.hasOwn(groups, named)) return missing("cluster group");
    const routed = named === undefined ? await deps.explainRoute(body) : undefined;
    const group = named ?? routed?.group ?? routed?.undecided;
    if (group === undefined) {
      return Response.json({ decision: "denied", refusal: routed?.refusal, tables: [] });
    }
    const answer = await deps.explainAccess({ ...rest, catalog, schema }, group);
    switch (answer.kind) {
      case "faults":
        return invalid(answer.faults);
      case "uncontrolled":
        return Response.json({ group, decision: "uncontrolled", tables: [] });
      case "explained": {
        const { decision, sql, refusal, tables, engines } = answer;
        const shown = tables.map(shownTable);
        return Response.json({ group, decision, sql, refusal, tables: shown, engines });
      }
    }
  });
}

function shownTable({ table, action, touched, decision }: TableJudgement): object {
  const { kind } = decision;
  const place = { table, action, touched, decision: kind };
  switch (kind) {
    case "unavailable":
      return place;
    case "deny":
      return { ...place, rule: decision.rule, reason: decision.reason };
    case "allow": {
      const { rule, view } = decision;
      const { rows: rowFilter, columns } = view ?? {};
      return { ...place, rule, rowFilter, columns };
    }
  }
}
