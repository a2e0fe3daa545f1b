/** For tests of config schemas: which fields would have no name in forms and in the reference. */

interface Schema {
  readonly [key: string]: unknown;
}

/** Paths of properties and union members without a title or a description, in a JSON Schema made by zod. */
export function fieldsWithoutTitle(schema: Schema, path = ""): readonly string[] {
  const properties = Object.entries(recordOf(schema["properties"])).flatMap(([name, field]) => [
    ...unnamed(field, `${path}.${name}`),
    ...fieldsWithoutTitle(field, `${path}.${name}`),
  ]);
  const members = ["oneOf", "anyOf"].flatMap((key) =>
    listOf(schema[key]).flatMap((member, index) => [
      ...unnamed(member, `${path}#${index}`),
      ...fieldsWithoutTitle(member, `${path}#${index}`),
    ]),
  );
  const definitions = Object.entries(recordOf(schema["$defs"])).flatMap(([name, definition]) =>
    fieldsWithoutTitle(definition, `$${name}`),
  );
  const items = isSchema(schema["items"]) ? fieldsWithoutTitle(schema["items"], `${path}[]`) : [];
  return [...properties, ...members, ...definitions, ...items];
}

function unnamed(field: Schema, path: string): readonly string[] {
  // The discriminator of a union is named by the union's member, a reference by what it refers to.
  const exempt = "const" in field || "$ref" in field;
  return exempt || (isText(field["title"]) && isText(field["description"])) ? [] : [path];
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

function recordOf(value: unknown): Readonly<Record<string, Schema>> {
  return isSchema(value) ? (value as Readonly<Record<string, Schema>>) : {};
}
