import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countRows, readCells } from "./clientRows.ts";
import { base64InPlace, unescapeInPlace } from "./clientText.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);

/** Rows of the same number of cells. */
const table = fc.integer({ min: 1, max: 5 }).chain((columns) =>
  fc.array(fc.array(scalar, { minLength: columns, maxLength: columns })).map((rows) => ({
    columns,
    rows,
  })),
);

/** JSON with every character beyond the plain ones escaped, as other writers do. */
function escapedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

describe("readCells", () => {
  it("finds what JSON.parse finds, with and without escapes", () => {
    fc.assert(
      fc.property(table, fc.boolean(), ({ columns, rows }, escape) => {
        const bytes = encoder.encode(escape ? escapedJson(rows) : JSON.stringify(rows));
        const cells = readCells(bytes, { start: 0, end: bytes.length }, columns, 1);
        if (cells === undefined || cells === "nested") throw new Error("no cells");
        expect(cells.rows).toBe(rows.length);
        for (const cell of cells.escaped) {
          const length = unescapeInPlace(bytes, cells.starts[cell] ?? 0, cells.lengths[cell] ?? 0);
          cells.lengths[cell] = length;
        }
        const found = Array.from(cells.starts, (start, cell) => {
          const length = cells.lengths[cell] ?? -1;
          return length < 0 ? null : decoder.decode(bytes.subarray(start, start + length));
        });
        const expected = rows.flat().map((value) => {
          if (value === null) return null;
          return typeof value === "string" ? value.toWellFormed() : JSON.stringify(value);
        });
        expect(found).toEqual(expected);
      }),
    );
  });

  it("refuses rows that are cut, longer than their span, or of another width", () => {
    const text = '[[1,"a\\n"],[null,"b"]]';
    const read = (rows: string, columns = 2) => {
      const bytes = encoder.encode(rows);
      return readCells(bytes, { start: 0, end: bytes.length }, columns);
    };
    expect(read(text)).toMatchObject({ rows: 2 });
    for (let end = 0; end < text.length; end += 1) expect(read(text.slice(0, end))).toBeUndefined();
    expect(read(`${text} `)).toBeUndefined();
    expect(read(text, 1)).toBeUndefined();
    expect(read(text, 3)).toBeUndefined();
    const bytes = encoder.encode(`${text},"stats":[]`);
    expect(readCells(bytes, { start: 0, end: text.length + 3 }, 2)).toBeUndefined();
  });

  it("says that a cell nests", () => {
    const bytes = encoder.encode("[[1,[2]]]");
    expect(readCells(bytes, { start: 0, end: bytes.length }, 2)).toBe("nested");
  });
});

describe("countRows", () => {
  it("counts rows of any content, and refuses every cut", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.jsonValue())), fc.nat(), (rows, cut) => {
        const bytes = encoder.encode(JSON.stringify(rows));
        expect(countRows(bytes, { start: 0, end: bytes.length })).toBe(rows.length);
        const end = cut % bytes.length;
        expect(countRows(bytes.subarray(0, end), { start: 0, end })).toBe(-1);
      }),
    );
  });
});

describe("unescapeInPlace", () => {
  it("refuses an escape that is none", () => {
    for (const text of ["\\q", "\\u12", "\\uzzzz", "\\"]) {
      expect(unescapeInPlace(encoder.encode(text), 0, text.length)).toBe(-1);
    }
  });
});

describe("base64InPlace", () => {
  it("reads back every byte, and refuses other letters and lengths", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (value) => {
        const bytes = encoder.encode(Buffer.from(value).toString("base64"));
        const length = base64InPlace(bytes, 0, bytes.length);
        expect(bytes.subarray(0, length)).toEqual(value);
      }),
    );
    expect(base64InPlace(encoder.encode("ab$="), 0, 4)).toBe(-1);
    expect(base64InPlace(encoder.encode("abc"), 0, 3)).toBe(-1);
  });
});
