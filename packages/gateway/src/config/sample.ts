/** A value that fits a JSON Schema, to stand where a wrong one was taken out. */
import { branchesOf, fixedValues, type JsonSchema } from "@gateway/control/config/keys.ts";

/** The simplest value there is; undefined for what nobody may write. Patterns are not followed. */
export function sampleOf(root: JsonSchema, schema: JsonSchema): unknown {
  if (schema.default !== undefined) return schema.default;
  const place = branchesOf(root, schema).find((branch) => branch["x-not-built"] !== true);
  if (place === undefined) return undefined;
  const [fixed] = fixedValues(place);
  if (fixed !== undefined) return fixed;
  switch (place.type) {
    case "string":
      return place["format"] === "uri" ? "http://localhost" : "any";
    case "integer":
    case "number":
      return numberIn(place);
    case "boolean":
      return false;
    case "array":
      return listIn(root, place);
    case "object":
      return mapIn(root, place);
    default:
      return undefined;
  }
}

function numberIn({ minimum, maximum }: JsonSchema): number {
  const atLeast = typeof minimum === "number" ? Math.max(minimum, 0) : 0;
  return typeof maximum === "number" ? Math.min(atLeast, maximum) : atLeast;
}

function listIn(root: JsonSchema, { items, minItems }: JsonSchema): readonly unknown[] {
  const item = typeof items === "object" ? sampleOf(root, items) : "any";
  return typeof minItems === "number" && minItems > 0 ? [item] : [];
}

function mapIn(root: JsonSchema, { required, properties }: JsonSchema): unknown {
  return Object.fromEntries(
    (required ?? []).map((key) => [key, sampleOf(root, properties?.[key] ?? {})]),
  );
}
