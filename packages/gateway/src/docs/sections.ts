/**
 * Breaks the JSON Schema of the config into tables a person can read.
 *
 * A small object is written out in the table of the object that holds it (`tls.certFile`), a larger
 * one gets a section of its own. It knows nothing of Markdown's layout of a page.
 */
import {
  branchesOf,
  fixedValues,
  resolved,
  type JsonSchema,
} from "@gateway/control/config/keys.ts";
import { code, linkTo } from "./markdown.ts";
import { defaultText, isNamed, valueText } from "./valueText.ts";

/** One key. */
export interface Row {
  /** From the section's object on: `tls.certFile`. */
  readonly key: string;
  readonly title: string;
  readonly value: string;
  readonly default: string;
  readonly description: string;
}

/** One object of the config, or a choice between kinds of objects. */
export interface Section {
  readonly heading: string;
  readonly description: string;
  /** What there is to choose from; each kind has a section of its own. */
  readonly kinds: readonly Kind[];
  readonly rows: readonly Row[];
  /** Keys, kinds and words that are known and refused, each with the part that is missing. */
  readonly refused: readonly string[];
}

export interface Kind {
  readonly heading: string;
  readonly description: string;
}

/** The heading of the section that is no path. */
export const fileHeading = "The file";

/** An object with more keys than this has its own section. */
const inlineRowsMax = 4;

/** What a value adds to the pages: to the table it is in, and below it. */
interface Found {
  readonly rows: readonly Row[];
  readonly refused: readonly string[];
  /** Sections below, in the order of the keys that lead to them. */
  readonly sections: readonly Section[];
}

/** All sections of the file, the root first, then each as the keys above lead to it. */
export function sectionsOf(root: JsonSchema): readonly Section[] {
  const file = foundIn(root, root, "", "");
  const first = sectionFrom(fileHeading, root, file);
  const definitions = Object.entries(root.$defs ?? {})
    .filter(([name]) => !name.startsWith("__"))
    .flatMap(([name, schema]) => choiceSections(root, schema, name));
  return [first, ...file.sections, ...definitions];
}

/** `prefix` stands before keys in the table (`tls.`), `path` leads to the object from the root. */
function foundIn(root: JsonSchema, object: JsonSchema, path: string, prefix: string): Found {
  const fields = Object.entries(object.properties ?? {});
  return merged(
    fields.map(([key, schema]) => {
      const below = path === "" ? key : `${path}.${key}`;
      const isRequired = object.required?.includes(key) ?? false;
      return foundAt(root, schema, { path: below, key: `${prefix}${key}`, isRequired });
    }),
  );
}

/** A key of the config, as a table shows it. */
interface Field {
  readonly path: string;
  readonly key: string;
  readonly isRequired: boolean;
}

function foundAt(root: JsonSchema, schema: JsonSchema, field: Field): Found {
  if (schema["x-not-built"] === true) {
    return { rows: [], refused: [`${code(field.key)}: ${reasonOf(schema)}`], sections: [] };
  }
  const own = rowOf(root, schema, field);
  const inner = innerOf(root, schema);
  if (inner === undefined) {
    return { rows: [own], refused: refusedWords(root, schema, field.key), sections: [] };
  }

  const path = `${field.path}${inner.step}`;
  const key = `${field.key}${inner.step}`;
  const isChoice = discriminatorOf(root, inner.schema) !== undefined;
  const written = isChoice
    ? choiceRows(root, inner.schema, { ...field, path, key })
    : foundIn(root, inner.schema, path, `${key}.`);
  if (written.rows.length <= inlineRowsMax && written.sections.length === 0) {
    return isChoice ? written : { ...written, rows: [own, ...written.rows] };
  }
  const sections = isChoice
    ? choiceSections(root, inner.schema, path)
    : objectSections(root, inner.schema, path, path);
  return { rows: [{ ...own, value: `see ${linkTo(path)}` }], refused: [], sections };
}

/** The objects a value is, or is a map or list of; undefined for values without keys. */
function innerOf(
  root: JsonSchema,
  schema: JsonSchema,
): { readonly step: string; readonly schema: JsonSchema } | undefined {
  if (isNamed(schema)) return undefined;
  const target = resolved(root, schema);
  if (hasKeys(root, target)) return { step: "", schema: target };
  const { items, additionalProperties } = target;
  if (typeof items === "object" && !isNamed(items) && hasKeys(root, items)) {
    return { step: "[]", schema: resolved(root, items) };
  }
  if (typeof additionalProperties === "object" && hasKeys(root, additionalProperties)) {
    return { step: ".<name>", schema: resolved(root, additionalProperties) };
  }
  return undefined;
}

/** True for an object with fixed keys, and for a choice between such objects. A secret is text that may also be an object. */
function hasKeys(root: JsonSchema, schema: JsonSchema): boolean {
  return branchesOf(root, schema).every(({ properties }) => properties !== undefined);
}

/** The key whose fixed value tells the members of a union apart. */
function discriminatorOf(root: JsonSchema, schema: JsonSchema): string | undefined {
  if (schema.oneOf === undefined && schema.anyOf === undefined) return undefined;
  const [first, ...others] = branchesOf(root, schema);
  return Object.keys(first?.properties ?? {}).find((key) =>
    [first, ...others].every((branch) => fixedValues(branch?.properties?.[key]).length > 0),
  );
}

interface Variant {
  /** `type: weighted`. */
  readonly name: string;
  readonly kind: string;
  readonly object: JsonSchema;
  readonly built: boolean;
}

function variantsOf(root: JsonSchema, schema: JsonSchema): readonly Variant[] {
  const key = discriminatorOf(root, schema) ?? "";
  return branchesOf(root, schema).map((object) => {
    const kind = fixedValues(object.properties?.[key]).map(String).join(", ");
    return { name: `${key}: ${kind}`, kind, object, built: object["x-not-built"] !== true };
  });
}

/** A choice in the table of the object that holds it: the discriminator, then the keys of each kind. */
function choiceRows(root: JsonSchema, schema: JsonSchema, field: Field): Found {
  const key = discriminatorOf(root, schema) ?? "";
  const variants = variantsOf(root, schema);
  const built = variants.filter((variant) => variant.built);
  const discriminator: Row = {
    key: `${field.key}.${key}`,
    title: schema.title ?? "",
    value: built.map(({ kind }) => code(kind)).join(", "),
    default: defaultText({ default: valueIn(schema.default, key) }, field.isRequired),
    description: [
      schema.description ?? "",
      ...built.map(({ kind, object }) => `${code(kind)}: ${object.description ?? ""}`),
    ].join(" "),
  };
  const rest = built.map(({ name, object }) => {
    const found = foundIn(root, withoutKey(object, key), field.path, `${field.key}.`);
    const rows = found.rows.map((row) => ({
      ...row,
      description: `With ${code(name)}. ${row.description}`,
    }));
    return { ...found, rows };
  });
  const refused = refusedKinds(variants, `${field.key}.`);
  return merged([{ rows: [discriminator], refused, sections: [] }, ...rest]);
}

/** A section for the choice, and one for each kind. */
function choiceSections(root: JsonSchema, schema: JsonSchema, path: string): readonly Section[] {
  const variants = variantsOf(root, schema);
  const built = variants.filter((variant) => variant.built);
  const headingOf = ({ name }: Variant): string => `${path} (${name})`;
  const overview: Section = {
    heading: path,
    description: describe(schema),
    kinds: built.map((variant) => ({
      heading: headingOf(variant),
      description: describe(variant.object),
    })),
    rows: [],
    refused: refusedKinds(variants, ""),
  };
  const below = (pathOf: (variant: Variant) => string): readonly Section[] =>
    built.flatMap((variant) =>
      objectSections(root, variant.object, pathOf(variant), headingOf(variant)),
    );
  const plain = below(() => path);
  // Two kinds may hold different objects under the same key.
  const isClear = new Set(plain.map(({ heading }) => heading)).size === plain.length;
  const each = isClear ? plain : below(headingOf);
  return [overview, ...each];
}

function objectSections(
  root: JsonSchema,
  object: JsonSchema,
  path: string,
  heading: string,
): readonly Section[] {
  const found = foundIn(root, object, path, "");
  return [sectionFrom(heading, object, found), ...found.sections];
}

function sectionFrom(heading: string, object: JsonSchema, { rows, refused }: Found): Section {
  return { heading, description: describe(object), kinds: [], rows, refused };
}

function describe({ title, description }: JsonSchema): string {
  return [title, description].filter((text) => text !== undefined).join(". ");
}

function refusedKinds(variants: readonly Variant[], prefix: string): readonly string[] {
  return variants
    .filter(({ built }) => !built)
    .map(({ name, object }) => `${code(`${prefix}${name}`)}: ${reasonOf(object)}`);
}

/** Words of a choice, or of a list of such words, that are refused. */
function refusedWords(root: JsonSchema, schema: JsonSchema, key: string): readonly string[] {
  const target = resolved(root, schema);
  const { items, "x-not-built-words": later } = target;
  if (typeof items === "object") return refusedWords(root, items, `${key}[]`);
  if (typeof later !== "object" || later === null) return [];
  return Object.entries(later).map(([word, part]) => `${code(`${key}: ${word}`)}: ${part}`);
}

function rowOf(root: JsonSchema, schema: JsonSchema, { key, isRequired }: Field): Row {
  const { title, description = "", examples } = resolved(root, schema);
  const example = Array.isArray(examples) ? ` Example: ${code(JSON.stringify(examples[0]))}.` : "";
  return {
    key,
    // Only the key that tells kinds apart is fixed, and the kind is described as a whole.
    title: title ?? ("const" in schema ? "Kind" : ""),
    value: valueText(root, schema),
    default: defaultText(schema, isRequired),
    description: `${description}${example}`.trim(),
  };
}

/** The part that is missing, out of `Refused. Not built yet: the part.` */
function reasonOf({ description = "" }: JsonSchema): string {
  return description.replace(/^.*?Not built yet: /, "").replace(/\.$/, "");
}

function withoutKey(object: JsonSchema, key: string): JsonSchema {
  const { [key]: _gone, ...properties } = object.properties ?? {};
  return { ...object, properties };
}

function valueIn(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

function merged(found: readonly Found[]): Found {
  return {
    rows: found.flatMap(({ rows }) => rows),
    refused: found.flatMap(({ refused }) => refused),
    sections: found.flatMap(({ sections }) => sections),
  };
}
