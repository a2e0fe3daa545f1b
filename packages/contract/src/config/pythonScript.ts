/**
 * Python that rewrites statements in one process: files that stand beside that process and nowhere else, so no snapshot
 * carries them and no admin API writes them. How they are limited is in packages/gateway/src/host/python.
 */
import { z } from "zod";

/** Files of a process: each is compiled, and held as code, by the program that runs it. */
export const pythonScriptsMax = 20;
/** Bytes of a file. */
export const pythonSourceBytesMax = 100_000;

const pythonScript = z
  .strictObject({
    file: z
      .string()
      .startsWith("/", "must be an absolute path")
      .meta({
        title: "File",
        description:
          "Python that defines the function rewrite(query, place). Read once, at the start.",
        examples: ["/etc/gateway/current.py"],
        "x-file-path": true,
      }),
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
        description:
          "Groups whose statements it changes. Absent means all. Statements of a group under accessControl are refused instead.",
        examples: [["reports"]],
      }),
  })
  .meta({
    title: "Python script",
    description:
      "A file of Python that rewrites statements of this process, in a process of its own for each statement that can open, reach and start nothing.",
  });

export const pythonScriptsSchema = z.array(pythonScript).max(pythonScriptsMax).default([]).meta({
  title: "Python scripts",
  description:
    "Asked in order, after the scripts of the configuration. They belong to this process alone: a worker's file may hold them, a snapshot never does. Needs Linux on x86-64 or arm64 and python3 (3.9 or newer) with ctypes; where they can not be limited the start is refused. Changes need a restart.",
});

export type PythonScriptConfig = z.output<typeof pythonScript>;
