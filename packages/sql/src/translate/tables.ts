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

function nameOf({ catalog, schema, name }: Fields): string {
  return [catalog, schema, name]
    .map((part) => (part as Fields | null | undefined)?.["name"])
    .filter((part) => typeof part === "string")
    .join(".")
    .toLowerCase();
}
