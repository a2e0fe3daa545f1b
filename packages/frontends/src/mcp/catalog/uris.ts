/** The names of resources: `sql://schema/{catalog}/{schema}` and `sql://table/{catalog}/{schema}/{table}`. */

export type ResourcePlace =
  | { readonly kind: "schema"; readonly catalog: string; readonly schema: string }
  | {
      readonly kind: "table";
      readonly catalog: string;
      readonly schema: string;
      readonly table: string;
    };

/** RFC 6570, level 1: a name that is put in is percent-encoded. */
export const schemaTemplate = "sql://schema/{catalog}/{schema}";
export const tableTemplate = "sql://table/{catalog}/{schema}/{table}";

export function schemaUri(catalog: string, schema: string): string {
  return `sql://schema/${encodeURIComponent(catalog)}/${encodeURIComponent(schema)}`;
}

/** What is named; undefined for a text that names nothing here. */
export function placeOf(uri: string): ResourcePlace | undefined {
  const [, kind = "", path = ""] = /^sql:\/\/(schema|table)\/([^?#]{1,4096})$/.exec(uri) ?? [];
  const names = path.split("/").map(decoded);
  if (names.some((name) => name === undefined || name === "")) return undefined;
  const [catalog = "", schema = "", table = ""] = names;
  if (kind === "schema" && names.length === 2) return { kind, catalog, schema };
  if (kind === "table" && names.length === 3) return { kind, catalog, schema, table };
  return undefined;
}

function decoded(part: string | undefined): string | undefined {
  try {
    return decodeURIComponent(part ?? "");
  } catch {
    return undefined;
  }
}
