/**
 * What objects of the configuration may name on this host: secret references and file paths.
 *
 * Whoever may edit objects reaches neither the process's own secrets nor the host's files. What the
 * config file itself names in its objects is allowed, because whoever wrote the file owns the host.
 */
import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { fileSchema } from "@gateway/control/config/objects.ts";
import type { ConfigFault } from "@gateway/control/config/configuration.ts";
import { placesAt, type JsonSchema, type Path } from "@gateway/control/config/keys.ts";
import { textOf } from "@gateway/control/config/report.ts";
import { referenceAllowed } from "@gateway/control/secret/references.ts";
import { z } from "zod";

/** The part of the config that says so. Named by its shape: a function has no config file, and must not reach its schema. */
export interface LimitsConfig {
  readonly gateway: {
    readonly secrets: { readonly allow: readonly string[] };
    readonly files: { readonly allow: readonly string[] };
  };
}

export interface ObjectLimits {
  /** Patterns of references that objects may hold. */
  readonly secretRefsAllowed: readonly string[];
  /** Faults of a configuration in the form of the file. */
  readonly judge: (file: unknown) => readonly ConfigFault[];
  /** Whether this process resolves the reference. */
  readonly resolves: (reference: string) => boolean;
}

/** `document`: the config file as written. */
export function objectLimits({ gateway }: LimitsConfig, document: unknown): ObjectLimits {
  const { gateway: own, ...objects } = isMap(document) ? document : {};
  const denied = new Set(references(own));
  const secretRefsAllowed = [...gateway.secrets.allow, ...references(objects)];
  const folders = gateway.files.allow;
  const pathsInFile = new Set(filePaths(objects).map(({ value }) => value));
  return {
    secretRefsAllowed,
    judge: (file) => [
      ...referencePaths(file).flatMap(({ path, value }) =>
        denied.has(value) ? [{ path, reason: `${value} is a secret of the gateway itself` }] : [],
      ),
      ...filePaths(file).flatMap(({ path, value }) =>
        pathsInFile.has(value) || isInside(value, folders)
          ? []
          : [{ path, reason: `is not in a folder of gateway.files.allow: ${value}` }],
      ),
    ],
    resolves: (reference) => {
      if (denied.has(reference) || !referenceAllowed(reference, secretRefsAllowed)) return false;
      // A link inside an allowed folder may lead anywhere.
      const real = realReference(reference);
      return real === reference || (!denied.has(real) && referenceAllowed(real, secretRefsAllowed));
    },
  };
}

interface Found {
  readonly path: string;
  readonly value: string;
}

let jsonSchema: JsonSchema | undefined;

/** Texts that the schema marks as paths of this host; `:memory:` is none. */
function filePaths(file: unknown): readonly Found[] {
  jsonSchema ??= z.toJSONSchema(fileSchema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  const schema = jsonSchema;
  return texts(file, []).flatMap(({ path, value }) => {
    const marked = placesAt(schema, path, file).some((place) => place["x-file-path"] === true);
    return marked && value !== ":memory:" ? [{ path: textOf(path), value }] : [];
  });
}

function referencePaths(file: unknown): readonly Found[] {
  return texts(file, []).flatMap(({ path, value }) =>
    path.at(-1) === "secretRef" ? [{ path: textOf(path), value }] : [],
  );
}

function references(file: unknown): readonly string[] {
  return referencePaths(file).map(({ value }) => value);
}

function texts(
  value: unknown,
  path: Path,
): readonly { readonly path: Path; readonly value: string }[] {
  if (typeof value === "string") return [{ path, value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => texts(item, [...path, index]));
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => texts(item, [...path, key]));
}

function isInside(path: string, folders: readonly string[]): boolean {
  const real = realPath(resolve(path));
  return folders.some((folder) => {
    const rest = relative(realPath(folder), real);
    return rest === "" || (!rest.startsWith("..") && !isAbsolute(rest));
  });
}

function realReference(reference: string): string {
  return reference.startsWith("file:") ? `file:${realPath(reference.slice(5))}` : reference;
}

/** Follows links; of a file that does not exist yet, those of the folder it would lie in. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = resolve(path, "..");
    return parent === path ? path : resolve(realPath(parent), relative(parent, path));
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
