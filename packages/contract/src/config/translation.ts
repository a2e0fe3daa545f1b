/** Translation between the client's SQL and the engine's, and the scripts that change a statement before and after it. */
import { z } from "zod";
import { builtWords, notBuilt } from "./notBuilt.ts";
import { scriptName } from "./script.ts";

const later = "translation between SQL dialects";

const rewrite = z
  .strictObject({
    script: scriptName,
    when: z.enum(["before", "after"]).meta({
      title: "When",
      description:
        "before: it is given the statement in the client's dialect. after: in the words of the engine.",
    }),
    clusterGroups: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .meta({
        title: "Cluster groups",
        description: "Groups whose statements it changes. Absent means all.",
        examples: [["reports"]],
      }),
  })
  .meta({
    title: "Rewrite",
    description:
      "A script of the use rewrite. What it writes has to be one statement of the same kind that takes the same parameters; one that fails refuses the query.",
  });

export const translationSchema = z
  .strictObject({
    mode: builtWords(["off"], { bestEffort: later, strict: later }).default("off").meta({
      title: "Mode",
      description: "off: engines are sent the client's own statement.",
    }),
    errorOnUnsupported: notBuilt(later).optional(),
    schemaResolutionTimeoutMs: notBuilt(later).optional(),
    pythonScripts: notBuilt(
      "scripts in Python; scripts in JavaScript stand at the key scripts",
    ).optional(),
    scripts: z.array(rewrite).max(100).default([]).meta({
      title: "Scripts",
      description:
        "Asked in order, after the cluster is known. Policies have judged what the client sent, and do not see what these write.",
    }),
  })
  .meta({ title: "Translation", description: "How a statement is changed for its engine." });

export type TranslationConfig = z.output<typeof translationSchema>;
