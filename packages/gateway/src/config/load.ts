/**
 * From the text of a config file to a config, or to every problem it has, found in one run.
 *
 * Opens nothing and resolves no secret: `validate` uses exactly this.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import { readBounded } from "./file.ts";
import type { JsonSchema } from "@gateway/control/config/keys.ts";
import { issueText } from "@gateway/control/config/check/reason.ts";
import { packedSchema } from "@gateway/control/config/packedSchema.ts";
import { withoutFaults } from "./repair.ts";
import { lineOf, problemsOf, type ConfigProblem } from "@gateway/control/config/check/report.ts";
import { rootSchema, type RootConfig } from "./schema.ts";
import { meaningProblems } from "./together.ts";
import { controlPlaneProblems } from "./worker.ts";
import { positionsIn, type Position } from "./positions.ts";
import { parseYaml } from "./yaml.ts";

/** Thousands of clusters fit; more is not a config. */
const fileBytesMax = 8 * 1024 * 1024;

type Loaded = Result<RootConfig, readonly ConfigProblem[]>;

/** A file of YAML, unchecked. */
export interface ConfigFile {
  readonly document: unknown;
  /** The same problems, each with the file and the position in it: `gateway.yaml:3:5: clusters.a: reason`. */
  readonly placed: (problems: readonly ConfigProblem[]) => readonly ConfigProblem[];
}

/** Reads and checks a file. */
export function loadConfig(file: string): Loaded {
  const loaded = loadFile(file);
  if (!loaded.ok) return loaded;
  const config = checkConfig(loaded.value.document);
  return config.ok ? config : err(loaded.value.placed(config.error));
}

/** Reads a file as YAML, unchecked. */
export function loadDocument(file: string): Result<unknown, readonly ConfigProblem[]> {
  const loaded = loadFile(file);
  return loaded.ok ? ok(loaded.value.document) : loaded;
}

export function loadFile(file: string): Result<ConfigFile, readonly ConfigProblem[]> {
  const read = readBounded(file, fileBytesMax);
  if (read.ok) {
    const parsed = parseYaml(read.value);
    if (!parsed.ok) return err(parsed.error.map((problem) => inFile(file, problem, problem.at)));
    const placed: ConfigFile["placed"] = (problems) => {
      const positionOf = positionsIn(new TextDecoder().decode(read.value));
      return problems.map((problem) => inFile(file, problem, positionOf(problem.path)));
    };
    return ok({ document: parsed.value, placed });
  }
  const { error } = read;
  const reason =
    error.kind === "tooLarge"
      ? `is larger than ${fileBytesMax} bytes`
      : `can not be read (${error.code})`;
  return err([{ path: "", reason: `${file}: ${reason}` }]);
}

function inFile(
  file: string,
  problem: ConfigProblem,
  position: Position | undefined,
): ConfigProblem {
  const where = position === undefined ? file : `${file}:${position.line}:${position.column}`;
  return { path: "", reason: `${where}: ${lineOf(problem)}` };
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
  // One fault must not hide another until the next run.
  const repaired = withoutFaults({ schema: rootSchema, json }, input);
  const meaning = repaired === undefined ? [] : meaningProblems(repaired, input);
  return err(controlPlaneProblems(input, [...shape, ...meaning]));
}

/** What the function below answers, as a bundle has it: `packages/gateway/bin/jsonSchemas.mjs`. */
declare const rootJsonSchemaPacked: string | undefined;
let jsonSchema: JsonSchema | undefined;

/** The JSON Schema of the file, for editors, for the reference and for naming known keys. */
export function rootJsonSchema(): JsonSchema {
  jsonSchema ??=
    typeof rootJsonSchemaPacked === "string"
      ? packedSchema(rootJsonSchemaPacked)
      : (z.toJSONSchema(rootSchema, { io: "input", unrepresentable: "any" }) as JsonSchema);
  return jsonSchema;
}
