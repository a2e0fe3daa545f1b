/**
 * Access control: which tables, rows and columns a caller may see and change. Decisions are written into the
 * statement before it takes a slot.
 *
 * Shapes only; what rules say of groups and expressions is checked in core/snapshot, and how statements are read and
 * rewritten is in core/police.
 */
import { z } from "zod";
import { policyServers } from "./policyServer.ts";

/** What a statement does with a table. A MERGE and whatever else is not named here is refused. */
export const accessActions = ["select", "insert", "update", "delete", "ddl"] as const;

const text = z.string().min(1);
const names = z.array(text.max(500)).min(1).max(1_000);

const expression = text.max(10_000);

const values =
  "${user} stands for the caller's name, ${groups} and ${roles} for lists in brackets, each as strings; ${attributes.NAME} for the caller's attribute, as a list behind IN. A rule that asks for one that the caller does not have denies.";

const rule = z
  .strictObject({
    name: text.max(100).meta({
      title: "Name",
      description: "Of the rule, once in the list: records and refusals name it.",
      examples: ["ownRegion"],
    }),
    users: names.optional().meta({
      title: "Users",
      description: "Callers by name. A rule without users, groups and roles is for everybody.",
    }),
    groups: names.optional().meta({
      title: "Groups",
      description: "Callers who are in one of these groups.",
      examples: [["analysts"]],
    }),
    roles: names.optional().meta({
      title: "Roles",
      description: "Callers who have one of these roles.",
    }),
    tables: names.meta({
      title: "Tables",
      description:
        "Names divided by dots; * stands for any ASCII characters within a part, and case never counts. A table is meant when the last parts of its whole name fit.",
      examples: [["sales.orders", "public_*.*"]],
    }),
    actions: z.array(z.enum(accessActions)).min(1).default(["select"]).meta({
      title: "Actions",
      description:
        "What the rule is about. ddl is CREATE TABLE, DROP TABLE and TRUNCATE. An UPDATE or a DELETE also needs to see the whole table.",
    }),
    effect: z.enum(["allow", "deny"]).default("allow").meta({
      title: "Effect",
      description: "The first rule that fits the caller, the table and the action decides.",
    }),
    rowFilter: expression.optional().meta({
      title: "Row filter",
      description: `A condition of the table's own columns, in the engine's SQL, without subqueries. ${values}`,
      examples: ["region = 'EU' AND owner = ${user}"],
    }),
    columns: z
      .array(text.max(200))
      .min(1)
      .max(2_000)
      .optional()
      .meta({
        title: "Columns",
        description: "The columns that are shown, in this order. Absent: all of them.",
        examples: [["id", "region", "email"]],
      }),
    masks: z
      .record(text.max(200), expression)
      .optional()
      .meta({
        title: "Masks",
        description: `What is shown in place of a column: an expression of the table's own columns, in the engine's SQL, without subqueries. Each column stands in columns, too; without columns, all that the catalogProvider knows are shown, with these masks. ${values}`,
        examples: [{ email: "'hidden'" }],
      }),
  })
  .superRefine(({ actions, effect, rowFilter, columns, masks }, context) => {
    const problem = (path: string, message: string): void => {
      context.addIssue({ code: "custom", path: [path], message });
    };
    const narrows = [
      ["rowFilter", rowFilter],
      ["columns", columns],
      ["masks", masks],
    ] as const;
    for (const [key, value] of narrows) {
      if (value === undefined) continue;
      if (effect === "deny") problem(key, "a rule that denies shows nothing");
      else if (actions.some((action) => action !== "select")) {
        problem(key, "only a rule whose actions are [select] can narrow what is shown");
      }
    }
    for (const name of Object.keys(masks ?? {})) {
      if (columns?.includes(name) === false) problem("masks", `${name} must stand in columns`);
    }
    if (columns !== undefined && new Set(columns).size < columns.length) {
      problem("columns", "a column is there twice");
    }
  })
  .meta({ title: "Rule", description: "Who may do what with which tables, and what is shown." });

export type AccessRule = z.output<typeof rule>;

/** What every source of decisions shares. */
const common = {
  clusterGroups: names.optional().meta({
    title: "Cluster groups",
    description: "Groups whose statements are controlled. Absent means all.",
  }),
  defaultCatalog: text.max(200).optional().meta({
    title: "Default catalog",
    description: "Completes the names of tables where the session has no catalog.",
  }),
  defaultSchema: text
    .max(200)
    .optional()
    .meta({
      title: "Default schema",
      description: "Completes the names of tables where the session has no schema.",
      examples: ["main"],
    }),
  views: z.enum(["asTables", "deny"]).default("asTables").meta({
    title: "Views",
    description:
      "asTables: a view is a name like others, and shows what it shows. deny: a statement is refused where it names what the catalogProvider does not know as a table.",
  }),
  functions: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/))
    .max(1_000)
    .default([])
    .meta({
      title: "Functions",
      description:
        "Functions that statements may call beside those that are known to touch their arguments alone. One that reads tables or files by name, or runs SQL, is a way around every rule.",
    }),
} as const;

const rules = z
  .strictObject({
    provider: z.literal("rules").meta({
      title: "Provider",
      description: "The rules of this configuration decide.",
    }),
    ...common,
    rules: z.array(rule).min(1).max(10_000).meta({
      title: "Rules",
      description: "Asked in order. A table that no rule allows is denied.",
    }),
  })
  .meta({ title: "Rules", description: "Access control by rules of this configuration." });

/** What every policy server is asked with. */
const asked = {
  ...common,
  nameParts: z.int().min(1).max(3).default(2).meta({
    title: "Parts of names",
    description:
      "Names of tables are completed to this many parts before the server is asked: 2 adds the schema, 3 the catalog as well.",
  }),
  columns: z.boolean().default(false).meta({
    title: "Columns",
    description:
      "The server is also told which columns of the table a statement touches. A decision is then remembered for one set of columns, not for all statements over a table.",
  }),
  settings: z
    .array(z.string().regex(/^[a-z][a-z0-9_.]{0,99}$/, "must be a setting's name in lower case"))
    .max(50)
    .default([])
    .meta({
      title: "Settings",
      description:
        "Parameters of the session that the server is told, where the client set them. They are the client's own words: a policy may narrow by them, never grant.",
      examples: [["application_name"]],
    }),
} as const;

const opaProvider = z
  .strictObject({
    provider: z.literal("opa").meta({
      title: "Provider",
      description: "An Open Policy Agent decides.",
    }),
    ...asked,
    opa: policyServers.opa,
  })
  .meta({ title: "Open Policy Agent", description: "Access control by an Open Policy Agent." });

const cerbosProvider = z
  .strictObject({
    provider: z.literal("cerbos").meta({
      title: "Provider",
      description: "Cerbos decides: its plan for the table is the row filter. It masks no columns.",
    }),
    ...asked,
    cerbos: policyServers.cerbos,
  })
  .meta({ title: "Cerbos", description: "Access control by Cerbos." });

export const accessControlSchema = z
  .discriminatedUnion("provider", [rules, opaProvider, cerbosProvider])
  .meta({
    title: "Access control",
    description: "Which tables, rows and columns a caller may see and change.",
  });

export type AccessControlConfig = z.output<typeof accessControlSchema>;
