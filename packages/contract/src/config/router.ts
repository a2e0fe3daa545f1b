/**
 * Routers: one ordered list, the first that matches names the group. Beside them their conditions:
 * the same questions without a target, for `compound`.
 *
 * Shapes only. That groups exist and regular expressions compile is checked in
 * core/snapshot/check.ts; how they match is in core/route.
 */
import { z } from "zod";
import { scriptName } from "./script.ts";

/** Source: the keys of `gateway.frontends`. */
const frontendKind = z.enum([
  "trinoHttp",
  "postgresWire",
  "mysqlWire",
  "flightSql",
  "snowflakeHttp",
  "clickhouseHttp",
  "mcp",
]);

/** Longest pattern; a longer one is a mistake and would compile to a large program. */
const regexLengthMax = 10_000;

const text = z.string().min(1);
const groupName = z.string().min(1);

const target = groupName.meta({
  title: "Target group",
  description: "Cluster group the query goes to.",
});

const headerName = text.meta({
  title: "Header",
  description:
    "Name of an HTTP header, in any case. Other protocols have no headers and never match.",
  examples: ["X-Trino-Source"],
});

const regex = text.max(regexLengthMax).meta({
  title: "Regular expression",
  description:
    "Searched for anywhere in the first 65,536 characters of the client's SQL, in linear time: no back-references, no look-around.",
  examples: ["^\\s*insert\\b"],
});

const caseSensitive = z.boolean().default(false).meta({
  title: "Case counts",
  description: "Tell upper from lower case; SQL does not, so neither does a rule unless told.",
});

const tags = z
  .record(text, z.string().nullable())
  .refine((all) => Object.keys(all).length > 0, "must name at least one tag")
  .meta({
    title: "Tags",
    description: "Tags the query must have, all of them; null accepts any value.",
    examples: [{ team: "finance", batch: null }],
  });

const combine = z.enum(["all", "any"]).meta({
  title: "Combine",
  description: "Whether all conditions must hold or one is enough.",
});

const protocolCondition = z
  .strictObject({
    type: z.literal("protocolBased"),
    protocols: z.array(frontendKind).min(1).meta({
      title: "Protocols",
      description: "Holds for queries that came in over one of these frontends.",
    }),
  })
  .meta({ title: "Protocol condition", description: "Asks which frontend the query came over." });

const headerCondition = z
  .strictObject({
    type: z.literal("header"),
    headerName,
    headerValues: z.array(z.string()).min(1).meta({
      title: "Values",
      description: "Holds when the header has exactly one of these values.",
    }),
  })
  .meta({ title: "Header condition", description: "Asks for the value of an HTTP header." });

const userGroupCondition = z
  .strictObject({
    type: z.literal("userGroup"),
    users: z
      .array(text)
      .default([])
      .meta({ title: "Users", description: "Holds for these users." }),
    groups: z.array(text).default([]).meta({
      title: "User groups",
      description: "Holds for members of one of these user groups.",
    }),
  })
  .meta({ title: "User condition", description: "Asks who the user is." });

const queryRegexCondition = z
  .strictObject({ type: z.literal("queryRegex"), regex, caseSensitive })
  .meta({ title: "SQL condition", description: "Asks whether the SQL matches." });

const tagsCondition = z
  .strictObject({ type: z.literal("tags"), tags })
  .meta({ title: "Tags condition", description: "Asks for the query's tags." });

const compoundCondition = z
  .strictObject({
    type: z.literal("compound"),
    combine,
    get conditions(): z.ZodType<readonly ConditionConfig[]> {
      return conditions;
    },
  })
  .meta({ title: "Compound condition", description: "Combines conditions." });

const scriptCondition = z.strictObject({ type: z.literal("script"), script: scriptName }).meta({
  title: "Script condition",
  description: "Asks a script of the use match. One that fails refuses the query.",
});

const anyCondition = z
  .discriminatedUnion("type", [
    protocolCondition,
    headerCondition,
    userGroupCondition,
    queryRegexCondition,
    tagsCondition,
    compoundCondition,
    scriptCondition,
  ])
  .meta({ id: "RouterCondition", title: "Condition", description: "A question about a query." });

/** Conditions of a compound, and of a guard. */
export const conditions: z.ZodType<readonly ConditionConfig[]> = z
  .array(anyCondition)
  .min(1)
  .meta({ title: "Conditions", description: "Routers without a target." });

/** A router without a target, as parsed. */
export type ConditionConfig =
  | z.output<typeof protocolCondition>
  | z.output<typeof headerCondition>
  | z.output<typeof userGroupCondition>
  | z.output<typeof queryRegexCondition>
  | z.output<typeof tagsCondition>
  | z.output<typeof scriptCondition>
  | {
      readonly type: "compound";
      readonly combine: "all" | "any";
      readonly conditions: readonly ConditionConfig[];
    };

const protocolBased = z
  .strictObject({
    type: z.literal("protocolBased"),
    protocols: z
      .strictObject({
        trinoHttp: target.optional(),
        postgresWire: target.optional(),
        mysqlWire: target.optional(),
        flightSql: target.optional(),
        snowflakeHttp: target.optional(),
        clickhouseHttp: target.optional(),
        mcp: target.optional(),
      })
      .meta({ title: "Protocols", description: "Target group by frontend." }),
  })
  .meta({ title: "Protocol router", description: "Routes by the frontend the query came over." });

const header = z
  .strictObject({
    type: z.literal("header"),
    headerName,
    headerValueToGroup: z.record(z.string(), groupName).meta({
      title: "Groups by value",
      description: "Target group by the header's exact value.",
      examples: [{ airflow: "batch" }],
    }),
  })
  .meta({ title: "Header router", description: "Routes by the value of an HTTP header." });

const userGroup = z
  .strictObject({
    type: z.literal("userGroup"),
    userToGroup: z.record(text, groupName).default({}).meta({
      title: "Groups by user",
      description: "Target group by user name; goes before the user's groups.",
    }),
    groupToGroup: z.record(text, groupName).default({}).meta({
      title: "Groups by user group",
      description:
        "Target group by the user's group. Of several that match the first by name counts, because identity providers give no order.",
    }),
  })
  .meta({ title: "User router", description: "Routes by who the user is." });

const queryRegexRule = z
  .strictObject({
    regex,
    caseSensitive,
    action: z.enum(["route", "deny"]).default("route").meta({
      title: "Action",
      description:
        "Route the query, or refuse it. A refusal is a guide for honest clients: SQL has many ways to say the same, so what must not happen belongs into the engine's rights.",
    }),
    targetGroup: target.optional(),
    error: text.max(1_000).optional().meta({
      title: "Error",
      description: "What a refused client reads.",
    }),
  })
  .superRefine((rule, context) => {
    const wrong = (key: string, message: string) =>
      context.addIssue({ code: "custom", path: [key], message });
    if (rule.action === "route" && rule.targetGroup === undefined) {
      wrong("targetGroup", "required unless action is deny");
    }
    if (rule.action === "deny" && rule.targetGroup !== undefined) {
      wrong("targetGroup", "must be absent when action is deny");
    }
    if (rule.action === "route" && rule.error !== undefined) {
      wrong("error", "must be absent unless action is deny");
    }
  })
  .meta({ title: "SQL rule", description: "What to do with SQL that matches." });

const queryRegex = z
  .strictObject({
    type: z.literal("queryRegex"),
    rules: z.array(queryRegexRule).min(1).meta({
      title: "Rules",
      description: "Tried in order; the first that matches counts.",
    }),
  })
  .meta({ title: "SQL router", description: "Routes or refuses by the text of the SQL." });

const tagsRouter = z
  .strictObject({
    type: z.literal("tags"),
    rules: z
      .array(
        z
          .strictObject({ tags, targetGroup: target })
          .meta({ title: "Tags rule", description: "Where a query with these tags goes." }),
      )
      .min(1)
      .meta({ title: "Rules", description: "Tried in order; the first that matches counts." }),
  })
  .meta({ title: "Tags router", description: "Routes by the query's tags." });

const compound = z
  .strictObject({
    type: z.literal("compound"),
    combine,
    conditions,
    targetGroup: target,
  })
  .meta({ title: "Compound router", description: "Routes by several conditions together." });

const scriptRouter = z
  .strictObject({
    type: z.literal("script"),
    script: scriptName,
    targetGroups: z
      .array(groupName)
      .min(1)
      .meta({
        title: "Target groups",
        description: "Groups that the script may name; another one is a failure of it.",
        examples: [["lab", "batch"]],
      }),
  })
  .meta({
    title: "Script router",
    description:
      "Routes or refuses by a script of the use route. One that fails refuses the query: the next router is not asked.",
  });

export const routerSchema = z
  .discriminatedUnion("type", [
    protocolBased,
    header,
    userGroup,
    queryRegex,
    tagsRouter,
    compound,
    scriptRouter,
  ])
  .meta({ title: "Router", description: "One question and the groups its answers lead to." });

/** A router as parsed. */
export type RouterConfig = z.output<typeof routerSchema>;

/** The root key `routers`. */
export const routersSchema = z.array(routerSchema).max(10_000).default([]).meta({
  title: "Routers",
  description: "Tried in order; the first that matches names the cluster group.",
});
