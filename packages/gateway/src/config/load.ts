/**
 * From the text of a config file to a config, or to every problem it has, found in one run.
 *
 * Opens nothing and resolves no secret: `validate` uses exactly this.
 */
import { readFileSync } from "node:fs";
import { checkSnapshot } from "@gateway/core/snapshot/check.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import type { JsonSchema } from "./keys.ts";
import { problemsOf, textOf, type ConfigProblem } from "./report.ts";
import { safetyProblems } from "./rules.ts";
import { rootSchema, type RootConfig } from "./schema.ts";
import { controlPlaneKeys, isWorker } from "./worker.ts";

type Loaded = Result<RootConfig, readonly ConfigProblem[]>;

/** Reads and checks a file. */
export function loadConfig(file: string): Loaded {
  const document = loadDocument(file);
  return document.ok ? checkConfig(document.value) : document;
}

/** Reads a file as YAML, unchecked. */
export function loadDocument(file: string): Result<unknown, readonly ConfigProblem[]> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return err([{ path: "", reason: `${file}: can not be read (${code})` }]);
  }
  return parseYaml(text);
}

/** Checks the text of a config file. */
export function parseConfig(text: string): Loaded {
  const document = parseYaml(text);
  return document.ok ? checkConfig(document.value) : document;
}

function parseYaml(text: string): Result<unknown, readonly ConfigProblem[]> {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    prettyErrors: false,
  });
  if (document.errors.length > 0) {
    return err(
      document.errors.map((error) => {
        const { line, col } = lines.linePos(error.pos[0]);
        return { path: "", reason: `line ${line}, column ${col}: ${firstLine(error.message)}` };
      }),
    );
  }
  try {
    // The count of aliases is limited, so a small file can not grow into a large document.
    return ok((document.toJS({ maxAliasCount: 100 }) as unknown) ?? {});
  } catch {
    return err([{ path: "", reason: "the file uses too many YAML aliases" }]);
  }
}

/** Checks a parsed document: shape first, then what the parts mean together. */
export function checkConfig(input: unknown): Loaded {
  const foreign = isWorker(input) ? controlPlaneKeys(input) : [];
  const parsed = rootSchema.safeParse(input);
  if (!parsed.success) {
    return err([...foreign, ...problemsOf(parsed.error.issues, rootJsonSchema(), input)]);
  }
  const config = parsed.data;
  const together = checkSnapshot(config).map(({ path, reason }) => ({
    path: textOf(path),
    reason,
  }));
  const problems = [...foreign, ...together, ...safetyProblems(config)];
  return problems.length > 0 ? err(problems) : ok(config);
}

/** The JSON Schema of the file, for editors and for naming known keys. */
export function rootJsonSchema(): JsonSchema {
  return z.toJSONSchema(rootSchema, { io: "input", unrepresentable: "any" }) as JsonSchema;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
