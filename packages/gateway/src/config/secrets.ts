/** Replaces every `{ secretRef }` of a parsed document by what it points to. The result never leaves the process. */
import { readFileSync } from "node:fs";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { textOf, type ConfigProblem } from "./report.ts";

/** A file of secrets is a line or a key, not a database. */
const secretBytesMax = 65_536;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Resolves all references of `input`, or lists every one that can not be resolved. */
export function resolveSecrets(
  input: unknown,
  environment: Environment,
): Result<unknown, readonly ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  const resolved = walk(input, [], (reference, path) => {
    const secret = lookUp(reference, environment);
    if (secret.ok) return secret.value;
    problems.push({ path: textOf(path), reason: secret.error });
    return undefined;
  });
  return problems.length > 0 ? err(problems) : ok(resolved);
}

type Path = readonly (string | number)[];

function walk(
  value: unknown,
  path: Path,
  replace: (reference: string, path: Path) => string | undefined,
): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => walk(item, [...path, index], replace));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const only = entries.length === 1 ? entries[0] : undefined;
  if (only !== undefined && only[0] === "secretRef" && typeof only[1] === "string") {
    return replace(only[1], path);
  }
  return Object.fromEntries(
    entries.map(([key, item]) => [key, walk(item, [...path, key], replace)]),
  );
}

function lookUp(reference: string, environment: Environment): Result<string, string> {
  const colon = reference.indexOf(":");
  const place = reference.slice(colon + 1);
  if (reference.startsWith("env:")) {
    const value = environment[place];
    return value === undefined || value === ""
      ? err(`the environment variable ${place} is not set`)
      : ok(value);
  }
  try {
    const bytes = readFileSync(place);
    if (bytes.length > secretBytesMax)
      return err(`${place} is larger than ${secretBytesMax} bytes`);
    const text = bytes.toString("utf8").replace(/\r?\n$/, "");
    return text === "" ? err(`${place} is empty`) : ok(text);
  } catch {
    return err(`${place} can not be read`);
  }
}
