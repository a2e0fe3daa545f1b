/**
 * What objects of the configuration may name on this host: secret references, file paths, libraries of drivers.
 *
 * Whoever may edit objects reaches neither the process's own secrets nor the host's files. What the
 * config file itself names in its objects is allowed, because whoever wrote the file owns the host.
 */
import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { fileJsonSchema } from "@gateway/control/config/fileJsonSchema.ts";
import type { ConfigFault } from "@gateway/control/config/configuration.ts";
import {
  alternatives,
  childOf,
  placesAt,
  resolved,
  type JsonSchema,
  type Path,
} from "@gateway/control/config/keys.ts";
import { textOf } from "@gateway/control/config/check/report.ts";
import { referenceAllowed } from "@gateway/control/config/secret/references.ts";

/**
 * The part of the config with these limits. It is named by its shape, because a function has no
 * config file and must not import its schema.
 */
export interface LimitsConfig {
  readonly gateway: {
    readonly secrets: { readonly allow: readonly string[] };
    readonly files: { readonly allow: readonly string[] };
    /** Absent where no native code is loaded. */
    readonly adbc?: {
      readonly libraries: readonly string[];
      /** Names of drivers that are there; absent: nobody said. */
      readonly drivers?: readonly string[] | undefined;
    };
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
  const drivers = gateway.adbc?.drivers;
  const pathsInFile = new Set(inFile.paths.map(({ value }) => value));
  const librariesInFile = new Set(inFile.libraries.map(({ value }) => value));
  const isThere = ({ value }: Found) =>
    drivers === undefined || value === ownDriver || drivers.includes(value);
  return {
    secretRefsAllowed,
    judge: (file) => {
      const { references, paths, libraries: named, drivers: byName } = namedIn(file);
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
        ...byName
          .filter((found) => !isThere(found))
          .map(({ path, value }) => ({
            path,
            reason: `is not among gateway.adbc.drivers: ${value}`,
          })),
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

/** Its library comes with the gateway. */
const ownDriver = "duckdb";

interface Found {
  readonly path: string;
  readonly value: string;
}

/** What an object names of this host, each with its place in the file. */
interface Named {
  readonly references: readonly Found[];
  /** `:memory:` is no path. */
  readonly paths: readonly Found[];
  /** Libraries of drivers, by path. */
  readonly libraries: readonly Found[];
  /** Drivers by name. */
  readonly drivers: readonly Found[];
}

/** Remembered by object: objects never change, and the next write of a large configuration has all but one in common with this one. */
const known = new WeakMap<object, Named & { readonly at: string }>();

function namedIn(file: unknown): Named {
  const references: Found[] = [];
  const paths: Found[] = [];
  const libraries: Found[] = [];
  const drivers: Found[] = [];
  for (const [path, part] of partsOf(file)) {
    const named = namedInPart(path, part);
    references.push(...named.references);
    paths.push(...named.paths);
    libraries.push(...named.libraries);
    drivers.push(...named.drivers);
  }
  return { references, paths, libraries, drivers };
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
  const whole = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), part);
  const walk: Walk = { at: [...path], references: [], paths: [], libraries: [], drivers: [] };
  look(walk, placesAt(fileJsonSchema(), path, whole), part);
  const { references, paths, libraries, drivers } = walk;
  return { references, paths, libraries, drivers };
}

/** Walks a part once, with the schemas of each value at hand: a large configuration has many texts. */
interface Walk {
  readonly at: PropertyKey[];
  readonly references: Found[];
  readonly paths: Found[];
  readonly libraries: Found[];
  readonly drivers: Found[];
}

function look(walk: Walk, places: readonly JsonSchema[], value: unknown): void {
  if (typeof value === "string") {
    lookAtText(walk, places, value);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const members = alternatives(fileJsonSchema(), places, value);
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys) {
    walk.at.push(key);
    look(walk, placesIn(members, key), (value as Readonly<Record<PropertyKey, unknown>>)[key]);
    walk.at.pop();
  }
}

/** Usually there is one schema, and then no list is made. */
function placesIn(members: readonly JsonSchema[], key: PropertyKey): readonly JsonSchema[] {
  const [first, second] = members;
  if (first === undefined) return members;
  if (second === undefined) return childOf(first, key);
  return members.flatMap((member) => childOf(member, key));
}

function lookAtText(walk: Walk, places: readonly JsonSchema[], value: string): void {
  const { at, references, paths, libraries, drivers } = walk;
  if (at.at(-1) === "secretRef") references.push({ path: textOf(at), value });
  if (isMarked(places, "x-file-path") && value !== ":memory:") {
    paths.push({ path: textOf(at), value });
  }
  if (isMarked(places, "x-library-path")) {
    const kind = value.includes("/") ? libraries : drivers;
    kind.push({ path: textOf(at), value });
  }
}

function isMarked(places: readonly JsonSchema[], mark: "x-file-path" | "x-library-path"): boolean {
  for (const place of places) if (resolved(fileJsonSchema(), place)[mark] === true) return true;
  return false;
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

/** Follows links. For a file that does not exist yet, those of the folder it would lie in. */
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
