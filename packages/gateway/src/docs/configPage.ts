/** `docs/reference/config.md`: every key of the config file. */
import type { JsonSchema } from "@gateway/control/config/keys.ts";
import { code, linkTo, page, table } from "./markdown.ts";
import { fileHeading, sectionsOf, type Section } from "./sections.ts";

const header = ["Key", "Name", "Value", "Default", "Meaning"];

const introduction = [
  "The file is YAML. An unknown key is an error, and so is a key whose part is not built yet. Keys of",
  "a table stand below the path in its heading; `<name>` is a name of your choice, `[]` an entry of a",
  "list. A default of `–` means that the key may be left out and nothing takes its place; a key that",
  "is required below an object that may be left out is required where the object is written.",
];

const secrets = [
  'A value called secret may be written as `{ secretRef: "env:NAME" }` or',
  '`{ secretRef: "file:/path" }`; nothing else is expanded from the environment. For completion in an',
  "editor, point it at [config.schema.json](config.schema.json).",
];

/** The page for the JSON Schema of the file. */
export function configPage(schema: JsonSchema): string {
  const sections = sectionsOf(schema).flatMap(sectionBlocks);
  return page([["# Configuration"], introduction, secrets, ...sections]);
}

function sectionBlocks(section: Section): readonly (readonly string[])[] {
  const { heading, description, kinds, rows, refused } = section;
  const cells = rows.map((row) => [
    code(row.key),
    row.title,
    row.value,
    row.default,
    row.description,
  ]);
  return [
    [`## ${heading === fileHeading ? heading : code(heading)}`],
    description === "" ? [] : [sentence(description)],
    kinds.map((kind) => `- ${linkTo(kind.heading)}: ${sentence(kind.description)}`),
    cells.length === 0 ? [] : table(header, cells),
    refused.length === 0 ? [] : ["Not built yet, and refused when written:"],
    refused.map((line) => `- ${line}`),
  ];
}

function sentence(text: string): string {
  return text.endsWith(".") ? text : `${text}.`;
}
