/**
 * What objects of the configuration may name on this host: secret references, file paths, libraries of drivers.
 *
 * Whoever may edit objects reaches neither the process's own secrets nor the host's files. What the
 * config file itself names in its objects is allowed, because whoever wrote the file owns the host.
 */
import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { fileJsonSchema } from "@gateway/control/config/objects.ts";
import type { ConfigFault } from "@gateway/control/config/configuration.ts";
import { placesAt, type Path } from "@gateway/control/config/keys.ts";
import { textOf } from "@gateway/control/config/report.ts";
import { referenceAllowed } from "@gateway/control/secret/references.ts";

/** The part of the config that says so. Named by its shape: a function has no config file, and must not reach its schema. */
export interface LimitsConfig {
  readonly gateway: {
    readonly secrets: { readonly allow: readonly string[] };
    readonly files: { readonly allow: readonly string[] };
    /** Absent where no native code is loaded. */
    readonly adbc?: { readonly libraries: readonly string[] };
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
  const denied = new Set(namedIn({ gateway: own }).references.map(({ value }) => value));
  const inFile = namedIn(objects);
  const refsInFile = inFile.references.map(({ value }) => value);
  const secretRefsAllowed = [...gateway.secrets.allow, ...refsInFile];
  const folders = gateway.files.allow;
  const libraries = gateway.adbc?.libraries ?? [];
  const pathsInFile = new Set(inFile.paths.map(({ value }) => value));
  const librariesInFile = new Set(inFile.libraries.map(({ value }) => value));
  return {
    secretRefsAllowed,
    judge: (file) => {
      const { references, paths, libraries: named } = namedIn(file);
      return [
        ...references.flatMap(({ path, value }) =>
          denied.has(value) ? [{ path, reason: `${value} is a secret of the gateway itself` }] : [],
        ),
        ...paths.flatMap(({ path, value }) =>
          pathsInFile.has(value) || isInside(value, folders)
            ? []
            : [{ path, reason: `is not in a folder of gateway.files.allow: ${value}` }],
        ),
        ...named.flatMap(({ path, value }) =>
          librariesInFile.has(value) || isInside(value, libraries)
            ? []
            : [{ path, reason: `is not among gateway.adbc.libraries: ${value}` }],
        ),
      ];
    },
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

/** What an object names of this host, each with its place in the file. */
interface Named {
  readonly references: readonly Found[];
  /** `:memory:` is none. */
  readonly paths: readonly Found[];
  /** Of drivers, by path; a driver's name is none. */
  readonly libraries: readonly Found[];
}

/** Objects never change, and of a large configuration all but one are the same at the next write. */
const known = new WeakMap<object, Named & { readonly at: string }>();

function namedIn(file: unknown): Named {
  const references: Found[] = [];
  const paths: Found[] = [];
  const libraries: Found[] = [];
  for (const [path, part] of partsOf(file)) {
    const named = namedInPart(path, part);
    references.push(...named.references);
    paths.push(...named.paths);
    libraries.push(...named.libraries);
  }
  return { references, paths, libraries };
}

/** Each cluster and group, and each other key of the root. */
function* partsOf(file: unknown): Generator<readonly [Path, unknown]> {
  if (!isMap(file)) return;
  for (const [key, value] of Object.entries(file)) {
    if ((key === "clusters" || key === "clusterGroups") && isMap(value)) {
      for (const [name, body] of Object.entries(value)) yield [[key, name], body];
    } else {
      yield [[key], value];
    }
  }
}

function namedInPart(path: Path, part: unknown): Named {
  if (typeof part !== "object" || part === null) return namedAt(path, part);
  const at = textOf(path);
  const before = known.get(part);
  if (before?.at === at) return before;
  const named = { ...namedAt(path, part), at };
  known.set(part, named);
  return named;
}

function namedAt(path: Path, part: unknown): Named {
  const found = texts(part, path);
  const whole = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), part);
  const isMarked = (at: Path, mark: "x-file-path" | "x-library-path"): boolean =>
    placesAt(fileJsonSchema(), at, whole).some((place) => place[mark] === true);
  return {
    references: found
      .filter(({ path: at }) => at.at(-1) === "secretRef")
      .map(({ path: at, value }) => ({ path: textOf(at), value })),
    paths: found
      .filter(({ path: at, value }) => value !== ":memory:" && isMarked(at, "x-file-path"))
      .map(({ path: at, value }) => ({ path: textOf(at), value })),
    libraries: found
      .filter(({ path: at, value }) => value.includes("/") && isMarked(at, "x-library-path"))
      .map(({ path: at, value }) => ({ path: textOf(at), value })),
  };
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
