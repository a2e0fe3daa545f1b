/**
 * Scripts: JavaScript by name, each for one place that asks a question of it. What a script is given and may answer
 * is in ../script.ts.
 *
 * Shapes only. That a source compiles is found by the sandbox (packages/sql/src/script); that who refers to a script
 * names one of the right use is checked in core/snapshot/check.ts.
 */
import { z } from "zod";

/** The place that a script is for, which is also the name of the function that its source has to define. */
export const scriptUses = ["route", "match", "order", "judge", "rewrite"] as const;
export type ScriptUse = (typeof scriptUses)[number];

/** Characters of a source. */
const sourceLengthMax = 100_000;
/** Scripts of a configuration: each that is used keeps a sandbox of some 100 KB. */
export const scriptsMax = 100;

export const scriptSchema = z
  .strictObject({
    use: z.enum(scriptUses).meta({
      title: "Use",
      description:
        "Which question it answers, and the name of the function that the source defines: route (a router), match (a condition), order (a strategy), judge (a guard), rewrite (before or after translation).",
    }),
    source: z
      .string()
      .min(1)
      .max(sourceLengthMax)
      .meta({
        title: "Source",
        description:
          "JavaScript, always strict. It runs anew for each call and keeps nothing: no time, no chance, no host, 50 ms and 32 MB.",
        examples: ['function route({ tags }) {\n  return tags.team === "lab" ? "lab" : null;\n}\n'],
      }),
  })
  .meta({ title: "Script", description: "JavaScript that answers one question about a query." });

/** A script as parsed. */
export type ScriptConfig = z.output<typeof scriptSchema>;

/** `script` of whatever refers to one. */
export const scriptName = z
  .string()
  .min(1)
  .meta({
    title: "Script",
    description: "Name of a script of the right use.",
    examples: ["byTeam"],
  });
