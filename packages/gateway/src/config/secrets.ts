/**
 * Replaces every `{ secretRef }` of a parsed document by what it points to.
 *
 * Only where the schema marks a secret: a tag that happens to be called `secretRef` stays a tag.
 * The result never leaves the process, and no problem repeats a value that was read.
 */
import type { SecretConfig } from "@gateway/contract/config/secret.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { readBounded } from "./file.ts";
import { placesAt, type JsonSchema, type Path } from "@gateway/control/config/keys.ts";
import { rootJsonSchema } from "./load.ts";
import { textOf, type ConfigProblem } from "@gateway/control/config/check/report.ts";

/** A file of secrets is a line or a key, not a database. */
const secretBytesMax = 65_536;

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a document is described by, and which of its references may be followed. */
export interface ReferenceRules {
  readonly schema: JsonSchema;
  readonly resolves: (reference: string) => boolean;
}

/** Resolves all references of `input`, or lists every one that can not be resolved. A config file may refer to anything. */
export function resolveSecrets(
  input: unknown,
  environment: Environment,
  { schema, resolves }: ReferenceRules = { schema: rootJsonSchema(), resolves: () => true },
): Result<unknown, readonly ConfigProblem[]> {
  const isSecret = (path: Path): boolean =>
    placesAt(schema, path, input).some((place) => place["x-secret"] === true);

  const problems: ConfigProblem[] = [];
  const resolve = (value: unknown, path: Path): unknown => {
    const reference = referenceOf(value);
    if (reference === undefined || !isSecret(path)) return mapChildren(value, path, resolve);
    const secret = resolves(reference)
      ? lookUp(reference, environment)
      : err(`${reference} is not allowed by gateway.secrets.allow`);
    if (secret.ok) return secret.value;
    problems.push({ path: textOf(path), reason: secret.error });
    return undefined;
  };
  const resolved = resolve(input, []);
  return problems.length > 0 ? err(problems) : ok(resolved);
}

function mapChildren(
  value: unknown,
  path: Path,
  map: (child: unknown, path: Path) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map((item, index) => map(item, [...path, index]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, map(item, [...path, key])]),
  );
}

function referenceOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const [only, ...more] = Object.entries(value);
  if (only === undefined || more.length > 0 || only[0] !== "secretRef") return undefined;
  return typeof only[1] === "string" ? only[1] : undefined;
}

function lookUp(reference: string, environment: Environment): Result<string, string> {
  const place = reference.slice(reference.indexOf(":") + 1);
  if (reference.startsWith("env:")) {
    const value = Object.hasOwn(environment, place) ? environment[place] : undefined;
    return value === undefined || value === ""
      ? err(`the environment variable ${place} is not set`)
      : ok(value);
  }
  const read = readBounded(place, secretBytesMax);
  if (!read.ok) {
    return read.error.kind === "tooLarge"
      ? err(`${place} is larger than ${secretBytesMax} bytes`)
      : err(`${place} can not be read (${read.error.code})`);
  }
  const text = new TextDecoder().decode(read.value).replace(/\r?\n$/, "");
  return text === "" ? err(`${place} is empty`) : ok(text);
}

/** A secret of a config whose references are resolved. One that is still a reference is a bug. */
export function plainSecret(secret: SecretConfig): Secret {
  if (typeof secret === "string") return new Secret(secret);
  throw new Error("a secret is still a reference");
}

/** One secret or a list of them, as a list. */
export function plainSecrets(secrets: SecretConfig | readonly SecretConfig[]): readonly Secret[] {
  return isList(secrets) ? secrets.map(plainSecret) : [plainSecret(secrets)];
}

function isList(value: SecretConfig | readonly SecretConfig[]): value is readonly SecretConfig[] {
  return Array.isArray(value);
}
