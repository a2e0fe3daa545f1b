/**
 * Guard rails: what a statement may be before it takes a slot. One ordered list; each guard says for which
 * groups and queries it holds, what it asks for, and what happens otherwise.
 *
 * Shapes only. That groups exist and regular expressions compile is checked in core/snapshot/check.ts; how
 * statements are judged is in core/guard.
 */
import { z } from "zod";
import { policyServerParts } from "./policyServer.ts";
import { conditions } from "./router.ts";
import { scriptName } from "./script.ts";

/** Kinds of statements that a guard can name: those that reach an engine. Ends of transactions are never judged. */
export const guardedKinds = [
  "select",
  "show",
  "describe",
  "explain",
  "insert",
  "update",
  "delete",
  "merge",
  "ddl",
  "copy",
  "call",
  "execute",
  "set",
  "kill",
] as const;

export type GuardedKind = (typeof guardedKinds)[number];

const guardsMax = 1_000;
const regexLengthMax = 10_000;

const text = z.string().min(1);

/** What every guard has. */
const scope = {
  name: text.max(100).meta({
    title: "Name",
    description: "Of the guard, once in the list: records and warnings name it.",
    examples: ["reportsOnlyRead"],
  }),
  clusterGroups: z
    .array(text)
    .min(1)
    .optional()
    .meta({
      title: "Cluster groups",
      description: "Groups whose queries it judges. Absent means all.",
      examples: [["reports"]],
    }),
  conditions: conditions.optional().meta({
    title: "Conditions",
    description:
      "Routers without a target, all of which must hold for the guard to judge a query. Absent means every query.",
  }),
  message: text.max(1_000).optional().meta({
    title: "Message",
    description: "What a client reads who is refused or warned, instead of the guard's own words.",
  }),
};

const action = z.enum(["deny", "warn"]).default("deny").meta({
  title: "Action",
  description:
    "Refuse the statement, or let it run with a warning. Clients of PostgreSQL, MySQL, Trino and MCP are shown it; the protocols of Flight SQL, Snowflake and ClickHouse have no place for it. Both stand in the query's record.",
});

const readOnly = z.strictObject({ type: z.literal("readOnly"), ...scope, action }).meta({
  title: "Read-only guard",
  description:
    "Lets through what is known to read (and transactions around it). A text that engines may read in two ways does not pass. Functions that write are not known; the rights of the engine's user are the last word.",
});

const kinds = z.array(z.enum(guardedKinds)).min(1);

const statementKinds = z
  .strictObject({
    type: z.literal("statementKinds"),
    ...scope,
    action,
    allow: kinds.optional().meta({
      title: "Allowed kinds",
      description: "Only these kinds of statements pass. Exactly one of allow and deny is given.",
      examples: [["select", "show", "describe", "explain"]],
    }),
    deny: kinds.optional().meta({
      title: "Denied kinds",
      description:
        "All known kinds pass but these. A statement whose kind is not known never passes.",
      examples: [["ddl", "copy"]],
    }),
  })
  .superRefine(({ allow, deny }, context) => {
    if ((allow === undefined) === (deny === undefined)) {
      context.addIssue({
        code: "custom",
        path: ["allow"],
        message: "either allow or deny is required",
      });
    }
  })
  .meta({
    title: "Kinds guard",
    description:
      "Judges the kind of a statement. A query that also writes (in its WITH, by INTO, under EXPLAIN ANALYZE) needs the kinds of what it does.",
  });

const queryRegex = z
  .strictObject({
    type: z.literal("queryRegex"),
    ...scope,
    action,
    regex: text.max(regexLengthMax).meta({
      title: "Regular expression",
      description:
        "A statement in whose client's text it matches does not pass; comments and strings are text, too. Linear time: no back-references, no look-around. A text beyond 65,536 characters can not be searched and does not pass either.",
      examples: ["\\bcross\\s+join\\b"],
    }),
    caseSensitive: z.boolean().default(false).meta({
      title: "Case counts",
      description: "Tell upper from lower case; SQL does not, so neither does a guard unless told.",
    }),
  })
  .meta({ title: "SQL guard", description: "Judges the text of a statement." });

const requirePredicate = z
  .strictObject({
    type: z.literal("requirePredicate"),
    ...scope,
    action,
    tables: z
      .array(text.max(500))
      .min(1)
      .max(1_000)
      .meta({
        title: "Tables",
        description:
          "Names with as many parts as needed, separated by dots; * stands for any characters within a part. A statement's table is meant when its name ends in these parts, in any case, or when it has fewer parts and they are the last of these.",
        examples: [["sales.orders", "events_*"]],
      }),
    columns: z
      .array(text.max(500))
      .min(1)
      .max(100)
      .optional()
      .meta({
        title: "Columns",
        description:
          "One of these must stand in the WHERE of the query block that reads the table, in each branch of an OR. Absent: the block must have a WHERE that names some column.",
        examples: [["order_day"]],
      }),
  })
  .meta({
    title: "Predicate guard",
    description:
      "Asks that big tables are read, updated and deleted from with a condition. A text that is not understood does not pass. Views, functions and names in strings are other ways to the same rows: this guides honest clients, and engine rights hold the others.",
  });

const timeLimit = z
  .strictObject({
    type: z.literal("timeLimit"),
    ...scope,
    maxExecutionSecs: z.int().min(1).max(31_536_000).meta({
      title: "Execution time",
      description: "A query is ended after it, if its group does not end it earlier.",
      "x-unit": "seconds",
    }),
  })
  .meta({
    title: "Time guard",
    description: "A shorter time limit than the group's, for some of its queries.",
  });

const rowLimit = z
  .strictObject({
    type: z.literal("rowLimit"),
    ...scope,
    action: z.enum(["deny", "rewrite"]).default("deny").meta({
      title: "Action",
      description:
        "deny: a result with more rows is ended with an error. rewrite: a query gets a LIMIT, or a lower one; a query in which its place is not found is refused, and results of other statements are ended as under deny.",
    }),
    maxRows: z.int().min(1).max(1_000_000_000).meta({
      title: "Rows",
      description: "Most rows of one result.",
      "x-unit": "rows",
    }),
  })
  .meta({ title: "Row guard", description: "Limits the rows of a result." });

const maxScanBytes = z
  .strictObject({
    type: z.literal("maxScanBytes"),
    ...scope,
    action,
    maxBytes: z
      .int()
      .min(1)
      .meta({
        title: "Bytes",
        description: "Most bytes that the engine says a statement may read.",
        "x-unit": "bytes",
        examples: [10_737_418_240],
      }),
    whenUnknown: z.enum(["deny", "allow"]).default("deny").meta({
      title: "Without an estimate",
      description:
        "Do as the action says with a statement whose reading the engine can not estimate, or let it run.",
    }),
  })
  .meta({
    title: "Scan guard",
    description:
      "Asks the engine, on the slot, how many bytes a statement would read. Groups it judges have clusters of the engines postgresql and trino only.",
  });

/** Engines that say before a statement runs how much it would read. */
export const scanEstimatingEngines: ReadonlySet<string> = new Set(["postgresql", "trino"]);

/** A limit of what statements read, by their engine's own estimate. */
export type ScanGuardConfig = z.output<typeof maxScanBytes>;

const script = z.strictObject({ type: z.literal("script"), ...scope, script: scriptName }).meta({
  title: "Script guard",
  description:
    "Lets through what a script of the use judge does not refuse; the script says whether it denies or warns. A script that fails refuses, and so does a text beyond 65,536 characters, which it can not see whole.",
});

const { url, credentials, caFile, isSafe, safe } = policyServerParts;

/** What of its caller a web service may be told. */
export const toldOfCallers = ["user", "groups", "roles"] as const;

/** When a web service is asked: about the client's text before a slot is taken, and about what its engine is sent. */
export const guardStages = ["before", "after"] as const;

const webhook = z
  .strictObject({
    type: z.literal("webhook"),
    ...scope,
    url: url.meta({
      title: "Address",
      description: "Where each question is sent by POST, as JSON.",
      examples: ["https://guards.internal/judge"],
    }),
    credentials,
    caFile,
    statement: z.enum(["digest", "text"]).default("digest").meta({
      title: "Statement",
      description:
        "digest: the service is told the statement without its values. text: it is told the whole text, up to 65,536 characters; a longer one is refused.",
    }),
    caller: z
      .array(z.enum(toldOfCallers))
      .default(["user", "groups"])
      .meta({
        title: "Caller",
        description: "What the service is told of whoever asks; nothing else of the identity.",
        examples: [["groups"]],
      }),
    stages: z
      .array(z.enum(guardStages))
      .min(1)
      .default(["before"])
      .meta({
        title: "Stages",
        description:
          "before: about the client's statement, before it takes a slot. after: about what its engine is sent, on the slot.",
        examples: [["before", "after"]],
      }),
    rewrites: z.boolean().default(false).meta({
      title: "May rewrite",
      description:
        "Takes the answer rewrite at the stage before: one statement of the same kind and with the same parameters, which all other guards and accessControl then judge. Otherwise that answer is none.",
    }),
    onError: z.enum(["deny", "warn"]).default("deny").meta({
      title: "Without an answer",
      description:
        "Refuse the statement, or let it run with a warning, where the service can not be asked or says nothing that can be used.",
    }),
    timeoutMs: z.int().min(50).max(60_000).default(2_000).meta({
      title: "Timeout",
      description: "How long an answer may take, with the wait for a free connection.",
      "x-unit": "milliseconds",
    }),
    maxConcurrent: z.int().min(1).max(256).default(16).meta({
      title: "Questions at once",
      description:
        "Most questions of one process that are open; further ones wait within their timeout.",
    }),
    cacheTtlMs: z.int().min(0).max(300_000).default(0).meta({
      title: "Cache",
      description: "How old an answer to the same question may be; 0 remembers nothing.",
      "x-unit": "milliseconds",
    }),
  })
  .refine(isSafe, safe)
  .refine(({ rewrites, statement }) => !rewrites || statement === "text", {
    path: ["rewrites"],
    error: "needs statement: text, because a digest can not be rewritten",
  })
  .refine(({ rewrites, stages }) => !rewrites || stages.includes("before"), {
    path: ["rewrites"],
    error: "needs the stage before: behind it accessControl has judged already",
  })
  .meta({
    title: "Web service guard",
    description:
      "Asks a web service about each statement, which answers allow, deny, warn or, where it may, rewrite.",
  });

/** A guard that asks a web service. */
export type WebhookConfig = z.output<typeof webhook>;

export const guardSchema = z
  .discriminatedUnion("type", [
    readOnly,
    statementKinds,
    queryRegex,
    requirePredicate,
    timeLimit,
    rowLimit,
    maxScanBytes,
    script,
    webhook,
  ])
  .meta({ title: "Guard", description: "One thing that is asked of statements." });

/** A guard as parsed; the schema refuses the kinds that do not exist. */
export type GuardConfig = z.output<typeof guardSchema>;

/** The root key `guardrails`. */
export const guardrailsSchema = z
  .strictObject({
    guards: z.array(guardSchema).max(guardsMax).default([]).meta({
      title: "Guards",
      description:
        "Asked in order, all of them. The first that refuses ends it; of several limits the lowest holds.",
    }),
  })
  .meta({
    title: "Guard rails",
    description: "What statements are refused, warned of or limited before they take a slot.",
  });

export type GuardrailsConfig = z.output<typeof guardrailsSchema>;
