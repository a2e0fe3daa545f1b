/**
 * What a place of the config may hold, found in the JSON Schema made from the zod schemas.
 *
 * It only looks; whether a value is right is zod's business.
 */

/** The part of JSON Schema that zod writes, and our own marks. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly [key: string]: unknown;
}

export type Path = readonly PropertyKey[];

/**
 * The schemas that describe the value of `input` at `path`; none for a place nothing describes.
 * Where alternatives exist, those whose fixed values fit `input` are taken.
 */
export function placesAt(root: JsonSchema, path: Path, input: unknown): readonly JsonSchema[] {
  let places: readonly JsonSchema[] = [root];
  let value = input;
  for (const part of path) {
    places = alternatives(root, places, value).flatMap((place) => childOf(place, part));
    value = childValue(value, part);
  }
  return places.map((place) => resolved(root, place));
}

/** The known and built keys at `path`, in the order of the schema. */
export function keysAt(root: JsonSchema, path: Path, input: unknown): readonly string[] {
  const places = alternatives(root, placesAt(root, path, input), valueAt(input, path));
  return places.flatMap((place) =>
    Object.entries(place.properties ?? {}).flatMap(([key, field]) =>
      "x-not-built" in field ? [] : [key],
    ),
  );
}

/** The built values that the discriminator at `path` may have. */
export function kindsAt(root: JsonSchema, path: Path, input: unknown): readonly string[] {
  const key = String(path.at(-1));
  const parents = placesAt(root, path.slice(0, -1), input);
  const fields = parents
    .flatMap((parent) => branchesOf(root, parent))
    .filter((branch) => !("x-not-built" in branch))
    .flatMap((branch) => fixedValues(branch.properties?.[key]));
  return [...new Set(fields.map(String))];
}

/** The value of `input` at `path`; undefined where there is none. */
export function valueAt(input: unknown, path: Path): unknown {
  return path.reduce<unknown>(childValue, input);
}

/** Follows a reference into `$defs`; zod writes one where a schema holds itself. */
export function resolved(root: JsonSchema, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  if (schema.$ref === "#") return root;
  const { $ref, ...beside } = schema;
  return { ...root.$defs?.[$ref.replace("#/$defs/", "")], ...beside };
}

/** The members of a union, of unions in it too; the schema itself when it is none. A schema stays as it is from here on. */
export function branchesOf(root: JsonSchema, schema: JsonSchema): readonly JsonSchema[] {
  let known = branches.get(root);
  if (known === undefined) branches.set(root, (known = new WeakMap()));
  let found = known.get(schema);
  if (found === undefined) known.set(schema, (found = branchesIn(root, schema)));
  return found;
}

/** By root: whoever walks a large configuration asks of the same few schemas at each of its objects. */
const branches = new WeakMap<JsonSchema, WeakMap<JsonSchema, readonly JsonSchema[]>>();

function branchesIn(root: JsonSchema, schema: JsonSchema): readonly JsonSchema[] {
  const place = resolved(root, schema);
  const members = [...(place.anyOf ?? []), ...(place.oneOf ?? []), ...(place.allOf ?? [])];
  if (members.length === 0) return [place];
  return members.flatMap((member) => branchesOf(root, member));
}

/** The values a field is tied to: one or several words, or none at all for a free field. */
export function fixedValues(field: JsonSchema | undefined): readonly unknown[] {
  if (field === undefined) return [];
  return "const" in field ? [field.const] : (field.enum ?? []);
}

/** The members of unions among `places` that fit `value`; all of them where none does. */
export function alternatives(
  root: JsonSchema,
  places: readonly JsonSchema[],
  value: unknown,
): readonly JsonSchema[] {
  return places.flatMap((place) => {
    const members = branchesOf(root, place);
    const fitting = members.filter((member) => fits(member, value));
    return fitting.length > 0 ? fitting : members;
  });
}

/** False only where a field tied to one value has another, or where the schema wants an object and finds none. */
function fits(branch: JsonSchema, value: unknown): boolean {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  if (branch.type !== undefined && value !== undefined && (branch.type === "object") !== isMap) {
    return false;
  }
  return tiedFields(branch).every(([key, field]) => childValue(value, key) === field.const);
}

const tied = new WeakMap<JsonSchema, readonly (readonly [string, JsonSchema])[]>();

function tiedFields(branch: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  let fields = tied.get(branch);
  if (fields === undefined) {
    fields = Object.entries(branch.properties ?? {}).filter(([, field]) => "const" in field);
    tied.set(branch, fields);
  }
  return fields;
}

/** The schemas of a child, by one member of a union; none where nothing describes it. */
export function childOf(place: JsonSchema, part: PropertyKey): readonly JsonSchema[] {
  if (typeof part === "number") return isSchema(place.items) ? [place.items] : [];
  const name = String(part);
  const fields = place.properties ?? {};
  const named = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (named !== undefined) return [named];
  return isSchema(place.additionalProperties) ? [place.additionalProperties] : [];
}

function isSchema(value: JsonSchema | boolean | undefined): value is JsonSchema {
  return typeof value === "object";
}

function childValue(value: unknown, part: PropertyKey): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
  return (value as Readonly<Record<PropertyKey, unknown>>)[part];
}
