/**
 * JSON Schema, read as a form. Nothing here knows an engine or a router: a schema that the API serves tomorrow is
 * read like those of today, and what no control fits is edited as JSON.
 */
import { isObject, type Json, type JsonObject } from "../tool/json.ts";

export type Schema = JsonObject;

/** What kind of control a schema asks for. */
export type Kind =
  | { readonly kind: "object"; readonly properties: Readonly<Record<string, Schema>> }
  | { readonly kind: "map"; readonly values: Schema }
  | { readonly kind: "list"; readonly items: Schema; readonly min: number }
  | { readonly kind: "union"; readonly by: string; readonly options: readonly UnionOption[] }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  | { readonly kind: "text"; readonly suggestions: readonly string[]; readonly nullable: boolean }
  | { readonly kind: "number"; readonly integer: boolean }
  | { readonly kind: "boolean" }
  | { readonly kind: "secret" }
  | { readonly kind: "const"; readonly value: Json }
  | { readonly kind: "json" };

export interface UnionOption {
  /** Value of the property that tells options apart. */
  readonly value: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly built: boolean;
  readonly schema: Schema;
}

/** The schema that a `$ref` leads to, with what stands beside it; chains are followed as far as they go. */
export function resolved(schema: Schema, root: Schema): Schema {
  let at = schema;
  for (let steps = 0; steps < 16; steps += 1) {
    const { $ref: ref, ...beside } = at;
    if (typeof ref !== "string" || !ref.startsWith("#/")) return at;
    const target = ref
      .slice(2)
      .split("/")
      .reduce<Json | undefined>((value, key) => (isObject(value) ? value[key] : undefined), root);
    if (!isObject(target)) return beside;
    at = { ...target, ...beside };
  }
  return at;
}

/** `schema` is resolved. */
export function kindOf(schema: Schema, root: Schema): Kind {
  if (schema["x-secret"] === true) return { kind: "secret" };
  if (schema["const"] !== undefined) return { kind: "const", value: schema["const"] };
  const options = optionsOf(schema, root);
  if (options !== undefined) return options;
  const values = schema["enum"];
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) {
    return { kind: "choice", values };
  }
  return ofType(schema, root);
}

function ofType(schema: Schema, root: Schema): Kind {
  switch (schema["type"]) {
    case "object":
      return ofObject(schema);
    case "array":
      return isObject(schema["items"])
        ? {
            kind: "list",
            items: resolved(schema["items"], root),
            min: numberAt(schema, "minItems") ?? 0,
          }
        : { kind: "json" };
    case "boolean":
      return { kind: "boolean" };
    case "integer":
    case "number":
      return { kind: "number", integer: schema["type"] === "integer" };
    case "string":
      return { kind: "text", suggestions: [], nullable: false };
    default:
      return ofTypes(schema["type"]);
  }
}

/** Several types: where a text is one of them, a text is typed; what is written in another shows as JSON. */
function ofTypes(types: Json | undefined): Kind {
  const scalars: readonly Json[] = ["string", "number", "integer", "boolean", "null"];
  const all: readonly Json[] = Array.isArray(types) ? types : [];
  const typed = all.includes("string") && all.every((type) => scalars.includes(type));
  return typed
    ? { kind: "text", suggestions: [], nullable: all.includes("null") }
    : { kind: "json" };
}

function ofObject(schema: Schema): Kind {
  const { properties, additionalProperties } = schema;
  if (isObject(properties))
    return { kind: "object", properties: properties as Record<string, Schema> };
  if (isObject(additionalProperties) && Object.keys(additionalProperties).length > 0) {
    return { kind: "map", values: additionalProperties };
  }
  return { kind: "json" };
}

function optionsOf(schema: Schema, root: Schema): Kind | undefined {
  const all = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(all)) return undefined;
  const schemas = all.filter(isObject).map((each) => resolved(each, root));
  const by = discriminatorOf(schemas);
  if (by !== undefined)
    return { kind: "union", by, options: schemas.map((each) => optionOf(each, by)) };
  const types = new Set(schemas.map(({ type }) => type));
  types.delete("null");
  if (types.size === 1 && types.has("string")) {
    const suggestions = schemas.flatMap((each) =>
      Array.isArray(each["enum"]) ? (each["enum"] as readonly Json[]) : [],
    );
    const nullable = schemas.some(({ type }) => type === "null");
    return { kind: "text", suggestions: suggestions.map(String), nullable };
  }
  return { kind: "json" };
}

/** The one property that each of the objects requires with a text of its own. */
function discriminatorOf(schemas: readonly Schema[]): string | undefined {
  const [first] = schemas;
  const candidates = isObject(first?.["properties"]) ? Object.keys(first["properties"]) : [];
  return candidates.find((name) => {
    const values = schemas.map((schema) => constOf(schema, name));
    return values.every((value) => value !== undefined) && new Set(values).size === values.length;
  });
}

function constOf(schema: Schema, name: string): string | undefined {
  const properties = schema["properties"];
  const property = isObject(properties) ? properties[name] : undefined;
  const value = isObject(property) ? property["const"] : undefined;
  return typeof value === "string" ? value : undefined;
}

function optionOf(schema: Schema, by: string): UnionOption {
  const value = constOf(schema, by) ?? "";
  return {
    value,
    title: textAt(schema, "title") ?? value,
    description: textAt(schema, "description"),
    built: schema["x-not-built"] !== true,
    schema,
  };
}

export function textAt(schema: Schema, name: string): string | undefined {
  const value = schema[name];
  return typeof value === "string" ? value : undefined;
}

export function numberAt(schema: Schema, name: string): number | undefined {
  const value = schema[name];
  return typeof value === "number" ? value : undefined;
}

export function requiredOf(schema: Schema): ReadonlySet<string> {
  const names = schema["required"];
  return new Set(Array.isArray(names) ? names.map(String) : []);
}

/** `maxRunningQueries` → `Max running queries`, where a schema has no title. */
export function titleOf(schema: Schema, name: string): string {
  const title = textAt(schema, "title");
  if (title !== undefined) return title;
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a control shows while nothing is set: the default, or an example. */
export function placeholderOf(schema: Schema): string {
  const { default: standard, examples } = schema;
  if (typeof standard === "string" || typeof standard === "number") return String(standard);
  const [example] = Array.isArray(examples) ? (examples as readonly Json[]) : [];
  return typeof example === "string" || typeof example === "number" ? `e.g. ${example}` : "";
}

/** The least that a control of this schema can go on from. */
export function emptyOf(schema: Schema, root: Schema): Json {
  const kind = kindOf(schema, root);
  switch (kind.kind) {
    case "union": {
      const option = kind.options.find(({ built }) => built);
      return option === undefined ? {} : { [kind.by]: option.value };
    }
    case "list":
      return kind.min > 0 ? [emptyOf(kind.items, root)] : [];
    case "object":
    case "map":
    case "json":
      return {};
    case "choice":
      return kind.values[0] ?? "";
    case "number":
      return numberAt(schema, "minimum") ?? 0;
    case "boolean":
      return false;
    case "const":
      return kind.value;
    case "text":
    case "secret":
      return "";
  }
}
