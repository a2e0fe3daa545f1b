/** The tables that parsed statements name anywhere, parts of a WITH among them: a list to compare, not to decide by. */
import { isReference, type Fields } from "../read/reader.ts";

/** Whole names in lower case, each once, sorted. */
export function tablesOf(nodes: readonly unknown[]): readonly string[] {
  const found = new Set<string>();
  visit(nodes, found);
  return [...found].toSorted();
}

function visit(value: unknown, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const each of value) visit(each, found);
    return;
  }
  const fields = value as Fields;
  if (isReference(fields)) found.add(nameOf(fields));
  for (const part of Object.values(fields)) visit(part, found);
}

/**
 * The tables that one statement names, each once, without parts of a WITH; undefined where a name with quotes leaves
 * open which they are, and where a table has the name of a part.
 */
export function referencesOf(
  nodes: readonly unknown[],
): readonly (readonly string[])[] | undefined {
  const found = new Map<string, readonly string[]>();
  const parts = new Set<string>();
  let isPlain = true;
  const see = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const fields = value as Fields;
    if (Array.isArray(fields["ctes"])) {
      for (const { alias } of fields["ctes"] as readonly { alias?: Fields }[]) {
        parts.add(String(alias?.["name"]).toLowerCase());
      }
    }
    if (!Array.isArray(value) && isReference(fields)) {
      const path = [fields["catalog"], fields["schema"], fields["name"]]
        .map((part) => part as Fields | null | undefined)
        .filter((part) => typeof part?.["name"] === "string");
      isPlain &&= path.every((part) => part?.["quoted"] !== true);
      const names = path.map((part) => String(part?.["name"]).toLowerCase());
      found.set(names.join("."), names);
    }
    for (const part of Object.values(value)) see(part);
  };
  see(nodes);
  const tables = [...found].flatMap(([name, path]) => (parts.has(name) ? [] : [path]));
  const clash = tables.some((path) => path.length > 1 && parts.has(path.at(-1) ?? ""));
  return isPlain && !clash ? tables : undefined;
}

function nameOf({ catalog, schema, name }: Fields): string {
  return [catalog, schema, name]
    .map((part) => (part as Fields | null | undefined)?.["name"])
    .filter((part) => typeof part === "string")
    .join(".")
    .toLowerCase();
}
