/** Translation between the client's SQL and the engine's, and the scripts that change a statement before and after it. */
import { z } from "zod";
import { pythonScriptsSchema } from "./pythonScript.ts";
import { scriptName } from "./script.ts";

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
    mode: z.enum(["off", "bestEffort", "strict"]).default("off").meta({
      title: "Mode",
      description:
        "off: engines are sent the client's own statement. bestEffort: one of another dialect is translated, and sent as it is where it is not understood. strict: it is translated where all that it is made of was tested for the two dialects, and refused otherwise.",
    }),
    errorOnUnsupported: z.boolean().default(false).meta({
      title: "Error on unsupported",
      description:
        "Under bestEffort: a statement that can not be translated is refused instead of sent as it is. Under strict it always is.",
    }),
    clusterGroups: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .meta({
        title: "Cluster groups",
        description:
          "Groups whose statements are translated. Absent means all. None may be under accessControl.",
        examples: [["reports"]],
      }),
    schemaResolutionTimeoutMs: z.int().min(1).max(60_000).optional().meta({
      title: "Schema resolution",
      description:
        "How long the catalogProvider may take to tell the types of a statement's columns, which say what becomes of a division. Beyond it bestEffort goes on without them, and strict refuses what hangs on them. Absent: types are not looked up.",
      "x-unit": "milliseconds",
    }),
    pythonScripts: z
      .never("belongs to one process: it stands in that process's own file")
      .optional()
      .meta({
        title: "Python scripts",
        description: "Refused: they stand in the file of the process that runs them.",
      }),
    scripts: z.array(rewrite).max(100).default([]).meta({
      title: "Scripts",
      description:
        "Asked in order, after the cluster is known. Policies have judged what the client sent, and do not see what these write.",
    }),
  })
  .meta({ title: "Translation", description: "How a statement is changed for its engine." });

/** As a process's own file has it. */
export const translationFileSchema = z
  .strictObject({ ...translationSchema.shape, pythonScripts: pythonScriptsSchema })
  .meta({ title: "Translation", description: "How a statement is changed for its engine." });

export type TranslationConfig = z.output<typeof translationSchema>;
