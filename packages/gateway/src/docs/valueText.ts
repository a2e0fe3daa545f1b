/** What may stand at a key, in a few words, read from its JSON Schema. */
import { branchesOf, resolved, type JsonSchema } from "@gateway/control/config/keys.ts";
import { code, linkTo } from "./markdown.ts";

/** `whole number of seconds, 1 to 3600`. Objects are named by the heading of their own section. */
export function valueText(root: JsonSchema, schema: JsonSchema): string {
  if (isNamed(schema)) return linkTo(definitionName(schema.$ref));
  const place = resolved(root, schema);
  const unit = typeof place["x-unit"] === "string" ? place["x-unit"] : undefined;
  // How a reference to a secret is written is said once, at the top of the page.
  return place["x-secret"] === true ? "secret text" : plainText(root, place, unit);
}

/** What a key has when it is not written; `required` names the keys of its object that must be. */
export function defaultText(schema: JsonSchema, isRequired: boolean): string {
  const { default: value } = schema;
  if (value !== undefined && JSON.stringify(value) !== "{}") return code(JSON.stringify(value));
  return isRequired ? "required" : "–";
}

function plainText(root: JsonSchema, place: JsonSchema, unit: string | undefined): string {
  if ("const" in place) return code(String(place.const));
  if (place.enum !== undefined) return place.enum.map((word) => code(String(word))).join(", ");
  const branches = branchesOf(root, place).filter((branch) => branch["x-not-built"] !== true);
  if (branches.length > 1) {
    return [...new Set(branches.map((branch) => plainText(root, branch, unit)))].join(" or ");
  }
  if (typeof place.type === "object") {
    return place.type.map((type) => plainText(root, { ...place, type }, unit)).join(" or ");
  }
  switch (place.type) {
    case "integer":
      return `whole number${ofUnit(unit)}${rangeText(place)}`;
    case "number":
      return `number${ofUnit(unit)}${rangeText(place)}`;
    case "boolean":
      return "`true` or `false`";
    case "null":
      return "`null`";
    case "string":
      return stringText(place);
    case "array":
      return listText(root, place);
    case "object":
      return mapText(root, place);
    default:
      return "any value";
  }
}

function stringText({ format, maxLength }: JsonSchema): string {
  if (format === "uri") return "URL";
  return typeof maxLength === "number" ? `text, at most ${maxLength} characters` : "text";
}

function listText(root: JsonSchema, { items, minItems, maxItems }: JsonSchema): string {
  const item = typeof items === "object" ? valueText(root, items) : "any value";
  const atLeast = typeof minItems === "number" && minItems > 0 ? `, at least ${minItems}` : "";
  const atMost = typeof maxItems === "number" ? `, at most ${maxItems}` : "";
  return `list of ${item}${atLeast}${atMost}`;
}

function mapText(root: JsonSchema, { properties, additionalProperties }: JsonSchema): string {
  const names = Object.entries(properties ?? {}).flatMap(([name, field]) =>
    field["x-not-built"] === true ? [] : [name],
  );
  if (names.length > 0) return `map of ${names.map((name) => code(name)).join(", ")}`;
  if (typeof additionalProperties !== "object") return "map";
  return `map of names to ${valueText(root, additionalProperties)}`;
}

function ofUnit(unit: string | undefined): string {
  return unit === undefined ? "" : ` of ${unit}`;
}

/** A bound beyond these is only the range of a JavaScript number and tells a reader nothing. */
const boundMax = Number.MAX_SAFE_INTEGER;

function rangeText({ minimum, maximum }: JsonSchema): string {
  const low = typeof minimum === "number" && minimum > -boundMax ? minimum : undefined;
  const high = typeof maximum === "number" && maximum < boundMax ? maximum : undefined;
  if (low !== undefined && high !== undefined) return `, ${low} to ${high}`;
  if (low !== undefined) return `, at least ${low}`;
  return high === undefined ? "" : `, at most ${high}`;
}

/** True for a reference to a schema with a name of its own; others are numbered, and written out where they are used. */
export function isNamed(schema: JsonSchema): schema is JsonSchema & { readonly $ref: string } {
  return schema.$ref !== undefined && !definitionName(schema.$ref).startsWith("__");
}

/** The name of a schema that holds itself. */
export function definitionName(reference: string): string {
  return reference.replace("#/$defs/", "");
}
