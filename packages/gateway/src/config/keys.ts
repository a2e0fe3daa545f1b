/** Which keys a place of the config may hold, found in the JSON Schema made from the zod schemas. */

/** The part of JSON Schema that zod writes. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly const?: unknown;
  readonly [key: string]: unknown;
}

/** Known keys at `path`; where alternatives exist, the one whose fixed values fit `input` is taken. */
export function keysAt(
  schema: JsonSchema,
  path: readonly PropertyKey[],
  input: unknown,
): readonly string[] {
  let places: readonly JsonSchema[] = [schema];
  let value = input;
  for (const part of path) {
    places = alternatives(places, value).flatMap((place) => childOf(place, part));
    value = valueOf(value, part);
  }
  return alternatives(places, value).flatMap((place) => Object.keys(place.properties ?? {}));
}

function alternatives(places: readonly JsonSchema[], value: unknown): readonly JsonSchema[] {
  return places.flatMap((place) => {
    const branches = [...(place.anyOf ?? []), ...(place.oneOf ?? []), ...(place.allOf ?? [])];
    if (branches.length === 0) return [place];
    const open = alternatives(branches, value);
    const fitting = open.filter((branch) => fits(branch, value));
    return fitting.length > 0 ? fitting : open;
  });
}

function fits(branch: JsonSchema, value: unknown): boolean {
  const fixed = Object.entries(branch.properties ?? {}).filter(([, field]) => "const" in field);
  return fixed.every(([key, field]) => valueOf(value, key) === field.const);
}

function childOf(place: JsonSchema, part: PropertyKey): readonly JsonSchema[] {
  if (typeof part === "number") return isSchema(place.items) ? [place.items] : [];
  const named = place.properties?.[String(part)];
  if (named !== undefined) return [named];
  return isSchema(place.additionalProperties) ? [place.additionalProperties] : [];
}

function isSchema(value: JsonSchema | boolean | undefined): value is JsonSchema {
  return typeof value === "object";
}

function valueOf(value: unknown, part: PropertyKey): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Readonly<Record<PropertyKey, unknown>>)[part];
}
