/**
 * From the text of a config file to a config, or to every problem it has, found in one run.
 *
 * Opens nothing and resolves no secret: `validate` uses exactly this.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import { readBounded } from "./file.ts";
import type { JsonSchema } from "@gateway/control/config/keys.ts";
import { issueText } from "@gateway/control/config/reason.ts";
import { withoutFaults } from "./repair.ts";
import { problemsOf, type ConfigProblem } from "@gateway/control/config/report.ts";
import { rootSchema, type RootConfig } from "./schema.ts";
import { meaningProblems } from "./together.ts";
import { controlPlaneProblems } from "./worker.ts";
import { parseYaml } from "./yaml.ts";

/** Thousands of clusters fit; more is not a config. */
const fileBytesMax = 8 * 1024 * 1024;

type Loaded = Result<RootConfig, readonly ConfigProblem[]>;

/** Reads and checks a file. */
export function loadConfig(file: string): Loaded {
  const document = loadDocument(file);
  return document.ok ? checkConfig(document.value) : document;
}

/** Reads a file as YAML, unchecked. */
export function loadDocument(file: string): Result<unknown, readonly ConfigProblem[]> {
  const read = readBounded(file, fileBytesMax);
  if (read.ok) {
    const parsed = parseYaml(read.value);
    return parsed.ok ? parsed : err(parsed.error.map((problem) => inFile(file, problem)));
  }
  const { error } = read;
  const reason =
    error.kind === "tooLarge"
      ? `is larger than ${fileBytesMax} bytes`
      : `can not be read (${error.code})`;
  return err([{ path: "", reason: `${file}: ${reason}` }]);
}

/** What is wrong with the file itself names it; what is wrong with a key names the key. */
function inFile(file: string, { path, reason }: ConfigProblem): ConfigProblem {
  return { path, reason: path === "" ? `${file}: ${reason}` : reason };
}

/** Checks the text of a config file. */
export function parseConfig(text: string): Loaded {
  const document = parseYaml(new TextEncoder().encode(text));
  return document.ok ? checkConfig(document.value) : document;
}

/** Checks a parsed document: shape first, then what the parts mean together. */
export function checkConfig(input: unknown): Loaded {
  const parsed = rootSchema.safeParse(input, { error: issueText });
  if (parsed.success) {
    const meaning = meaningProblems({ config: parsed.data, removed: [] }, input);
    const problems = controlPlaneProblems(input, meaning);
    return problems.length > 0 ? err(problems) : ok(parsed.data);
  }
  const json = rootJsonSchema();
  const shape = problemsOf(parsed.error.issues, json, input);
  // A slip in one place must not hide what is wrong in another until the next run.
  const repaired = withoutFaults({ schema: rootSchema, json }, input);
  const meaning = repaired === undefined ? [] : meaningProblems(repaired, input);
  return err(controlPlaneProblems(input, [...shape, ...meaning]));
}

let jsonSchema: JsonSchema | undefined;

/** The JSON Schema of the file, for editors, for the reference and for naming known keys. */
export function rootJsonSchema(): JsonSchema {
  jsonSchema ??= z.toJSONSchema(rootSchema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  return jsonSchema;
}
