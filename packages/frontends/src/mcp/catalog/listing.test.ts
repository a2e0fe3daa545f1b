import type { TableListing } from "@gateway/core/port/backend.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listedMax, schemasIn, tableIn, tablesIn } from "./listing.ts";
import { placeOf, schemaUri } from "./uris.ts";

describe("a long list", () => {
  it("comes in parts that hold each entry once", () => {
    const all = Array.from({ length: 2 * listedMax + 7 }, (_, index) =>
      tableOf(`t${index}`, `s${index}`),
    );
    const names: string[] = [];
    const schemas: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const part = tablesIn(all, { offset });
      names.push(...part.items.map(({ name }) => name));
      schemas.push(...schemasIn(all, { offset }).items.map(({ schema }) => schema));
      offset = part.next;
    }
    expect(names.toSorted()).toEqual(all.map(({ name }) => name).toSorted());
    expect(schemas.toSorted()).toEqual(all.map(({ schema }) => schema).toSorted());
  });
});

describe("tableIn", () => {
  it("finds one and guesses among none", () => {
    const all = [tableOf("t", "a"), tableOf("t", "b"), tableOf("u", "b")];
    expect(tableIn(all, { table: "u" })).toMatchObject({ value: { schema: "b" } });
    expect(tableIn(all, { table: "t", schema: "a" })).toMatchObject({ value: { schema: "a" } });
    expect(tableIn(all, { table: "t" }).ok).toBe(false);
    expect(tableIn(all, { table: "T", schema: "a" }).ok).toBe(false);
  });
});

describe("placeOf", () => {
  it("reads back every name that was put in", () => {
    const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(name, name, (catalog, schema) => {
        expect(placeOf(schemaUri(catalog, schema))).toEqual({ kind: "schema", catalog, schema });
      }),
    );
  });

  it.each([
    "",
    "sql://schema/a",
    "sql://schema/a/b/c",
    "sql://table/a/b",
    "sql://schema/a/%",
    "sql://schema//b",
    "http://schema/a/b",
  ])("names nothing by %j", (uri) => expect(placeOf(uri)).toBeUndefined());
});

function tableOf(name: string, schema: string): TableListing {
  return { catalog: "c", schema, name, kind: "table", columns: [] };
}
